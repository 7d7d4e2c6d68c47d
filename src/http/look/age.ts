import type { Clock, HttpResponse } from '../../context.ts';
import { momentOf } from './agree.ts';

/** When a record says that it was made, in milliseconds; undefined where it does not say. */
export function madeAt({ created_at }: Readonly<Record<string, unknown>>): number | undefined {
  const at = momentOf(created_at);
  return Number.isNaN(at) ? undefined : at;
}

/** What a record's time is held against, in milliseconds of the service's clock. */
export type Sent = {
  /** When the write left; undefined where that is not known. */
  readonly at: number | undefined;
  /** The latest time of a record that was there before. */
  readonly newestBefore: number | undefined;
  /** The same of a record that svc itself had made by then: so the service's clock for records was past it. */
  readonly newestOwn: number | undefined;
};

/**
 * The clocks of one service may be apart by so much. `fromAnswers`: those of the machines that answer from those that say
 * when a record was made. `amongRecords`: the latter from each other, where two records of one run are of two machines.
 */
export const clocksApartMs = { fromAnswers: 60_000, amongRecords: 4_000 } as const;

/** `Date` and `created_at` that are further apart are of two clocks that have nothing to do with each other. */
const farthestMs = 12 * 60 * 60 * 1000;

/**
 * Whether a record was made before the write left, although the list did not show it then: a list may come from a store.
 * Further back than half a day, or where nobody knows when that was, it counts as older only if it is older than a record
 * that was there before, too. What was made well before a record of svc's own is older in any case.
 */
export function isOlder(record: Readonly<Record<string, unknown>>, { at, newestBefore, newestOwn }: Sent): boolean {
  const made = madeAt(record);
  if (made === undefined) return false;
  if (newestOwn !== undefined && made + clocksApartMs.amongRecords < newestOwn) return true;
  const isBelow = newestBefore !== undefined && made + clocksApartMs.fromAnswers < newestBefore;
  if (at === undefined) return isBelow;
  const ageMs = at - made;
  return ageMs > clocksApartMs.fromAnswers && (ageMs < farthestMs || isBelow);
}

/** A moment of this machine. `wallMs`: how far its wall clock is ahead of its ticks, which stand still while it sleeps. */
export type Moment = { readonly ticks: number; readonly wallMs: number };

export function momentBy(clock: Clock): Moment {
  const ticks = clock.ticks();
  return { ticks, wallMs: clock.now().getTime() - ticks };
}

/** The service's clock, as an answer told it: how far it was ahead of our ticks, and our wall clock then. */
export type ServiceClock = { readonly aheadMs: number; readonly wallMs: number };

/**
 * What the service's clock says at a moment, in milliseconds. Where our wall clock has gone on alone since it was learnt
 * the machine was asleep, or somebody has set it: of the two the later time lets nothing older be taken for ours.
 */
export const timeAt = (service: ServiceClock, { ticks, wallMs }: Moment): number =>
  ticks + service.aheadMs + Math.max(0, wallMs - service.wallMs);

/**
 * The service's clock by an answer to a read that came at that moment. What comes from a store has an old `Date`, so of
 * several answers the one with the largest is right.
 */
export function serviceClock(
  known: ServiceClock | undefined,
  { status, headers }: HttpResponse,
  moment: Moment,
): ServiceClock | undefined {
  const date = status < 300 ? Date.parse(headers.date ?? '') : Number.NaN;
  if (Number.isNaN(date) || (known && date < timeAt(known, moment))) return known;
  return { aheadMs: date - moment.ticks, wallMs: moment.wallMs };
}

import type { Clock, HttpResponse } from '../../context.ts';

/** A moment of this machine. `wallMs`: how far its wall clock is ahead of its ticks, which stand still while it sleeps. */
export type Moment = { readonly ticks: number; readonly wallMs: number };

export function momentBy(clock: Clock): Moment {
  const ticks = clock.ticks();
  return { ticks, wallMs: clock.now().getTime() - ticks };
}

/** The service's clock, as an answer told it: how far it was ahead of our ticks, and our wall clock then. */
export type ServiceClock = { readonly aheadMs: number; readonly wallMs: number };

/** What the service's clock says at a moment by our ticks alone, in milliseconds: no later than it is. */
export const timeByTicks = ({ aheadMs }: ServiceClock, { ticks }: Moment): number => ticks + aheadMs;

/**
 * What it says at a moment, in milliseconds. Where our wall clock has gone on alone since it was learnt the machine was
 * asleep, or somebody has set it: of the two the later time lets nothing older be taken for ours.
 */
export const timeAt = (service: ServiceClock, moment: Moment): number =>
  timeByTicks(service, moment) + Math.max(0, moment.wallMs - service.wallMs);

/** Of an exchange. `began`: undefined of a read, whose answer may come from a store. */
type Told = Pick<HttpResponse, 'status' | 'headers'> & { readonly began: Moment | undefined };

/**
 * The service's clock by an answer that came at that moment. What comes from a store has an old `Date`, so of several
 * answers the one with the largest is right. That of a write tells that our wall clock was set, if not while it was on its way.
 */
export function serviceClock(
  known: ServiceClock | undefined,
  { status, headers, began }: Told,
  moment: Moment,
): ServiceClock | undefined {
  const date = status < 300 ? Date.parse(headers.date ?? '') : Number.NaN;
  if (Number.isNaN(date) || (!known && began)) return known;
  const isFresh = began !== undefined && Math.abs(moment.wallMs - began.wallMs) < 1000;
  if (known && !isFresh && date < timeAt(known, moment)) return known;
  return { aheadMs: Math.max(date - moment.ticks, known?.aheadMs ?? Number.NEGATIVE_INFINITY), wallMs: moment.wallMs };
}

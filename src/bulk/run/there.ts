import type { Input, Operation } from '../../api/operation.ts';
import { call, type Known } from '../../http/call/call.ts';
import { momentBy, timeAt, timeByTicks } from '../../http/exchange/service-clock.ts';
import { clocksApartMs } from '../../http/look/age.ts';
import { type Before, largestOf, readBefore } from '../../http/look/before.ts';
import { isNewestFirst } from '../../http/look/looking.ts';
import { heldIn, type Listed, type Before as Written } from '../journal/lines.ts';
import { readBack, withOurNewest } from '../journal/read-back.ts';
import { type Sending, through } from './sending.ts';

/** What is known when a row leaves. `answers`: as `latest` counts them. `dateMs`: by the `Date` of the service's answers. */
export type Moment = Pick<Before, 'elsewhere' | 'leftMs' | 'ownMs'> & {
  readonly answers: number;
  readonly dateMs: number | undefined;
};

/**
 * What is there before the row is sent: of what has a list of its own it is read once. It moves on until the row leaves:
 * with what svc has made by then, and with what it has seen.
 */
export async function knownBefore(
  sending: Sending,
  input: Input<Operation>,
  trip: { readonly left?: Moment } = {},
): Promise<Before | undefined> {
  const { operation } = sending.row;
  if (!operation.params) sending.baseline ??= readBaseline(sending, input);
  const first = await (sending.baseline ?? readAhead(sending, input));
  if (!first) return undefined;
  const moment = () => trip.left ?? momentNow(sending, first);
  return {
    ...first,
    get elsewhere() {
      return moment().elsewhere;
    },
    get leftMs() {
      return moment().leftMs;
    },
    get ownMs() {
      return moment().ownMs;
    },
  };
}

/** For a row that leaves now. `first`: what was there at first, where svc could read it. */
export function momentNow(sending: Sending, first: Before | undefined): Moment {
  const { row, latest, outer } = sending;
  const { serviceClock } = outer.learnt;
  const moment = momentBy(outer.ctx.clock);
  // What is learnt of two clocks of the service must not go by ours, which somebody may set.
  const dateMs = serviceClock && Math.floor(timeByTicks(serviceClock, moment));
  const latestMs = serviceClock && Math.floor(timeAt(serviceClock, moment));
  return {
    answers: latest.count(),
    elsewhere: first && !row.operation.params ? seenSince(sending, first) : undefined,
    dateMs,
    leftMs: latestMs === undefined ? undefined : latestMs - latest.behindMs(),
    // Where places in the list tell, no clock is asked.
    ownMs: first && !isNewestFirst(row.operation) ? latest.madeMs() : undefined,
  };
}

/** Of a list that begins with the newest the places tell, in others each id. Ids that have grown so far need not go on to. */
function seenSince({ row, latest, others }: Sending, { grows }: Before): readonly number[] {
  if (!isNewestFirst(row.operation)) return [...others];
  const ids = latest.ids();
  return grows && ids.length > 0 ? [...ids, latest.largest()] : ids;
}

/** Where no order of ids tells what was there, it is known by each id, also to the run that goes on after this one. */
async function readBaseline(sending: Sending, input: Input<Operation>): Promise<Before | undefined> {
  const read = (id: number) => readWritten(sending, id);
  const first = await withOurNewest(await readAhead(sending, input), sending.own, read);
  const isKept = isNewestFirst(sending.row.operation) ? first?.grows === false : first?.isWhole;
  if (!first || !isKept) return first;
  sending.baselineKey = await keptAs(sending, first);
  return first;
}

/** What rows call it from now on. An earlier run may have seen the same, or something else with the same largest id. */
async function keptAs({ journal }: Sending, first: Before): Promise<number> {
  const { there } = journal.past;
  const listed: Listed = { ids: [...first.ids], ...(!first.isWhole && { since: first.sinceMs ?? null }) };
  const largest = largestOf(first);
  for (let key = largest; ; key++) {
    const known = there.get(key);
    if (known && isSame(known, listed)) return key;
    if (known) continue;
    await journal.write({ there: { ...listed, ...(key !== largest && { key }) } });
    return key;
  }
}

const isSame = (one: Listed, other: Listed): boolean =>
  one.since === other.since && one.ids.length === other.ids.length && one.ids.every((id, at) => id === other.ids[at]);

/** A record as it is now; undefined where the service does not show it. */
export const readWritten = (sending: Sending, id: number | undefined) =>
  readBack(through(sending), sending.row.operation, id, sending.options);

function readAhead(sending: Sending, input: Input<Operation>): Promise<Before | undefined> {
  const { row, options } = sending;
  const reading = through(sending);
  return readBefore((asked, wanted) => call(reading, asked, wanted, options), row.operation, input);
}

/** What was there, for the line of a row. A thread has messages by the ten, and each row may have another one. */
export function asWritten({ row, baselineKey }: Sending, known: Before | undefined): Written {
  if (!known) return { before: null };
  const { operation } = row;
  const { leftMs = null, ownMs = 0, newestMs = 0, elsewhere = [] } = known;
  // Where the service does not say the time, what was there before tells it alone.
  const made = leftMs === null ? Math.max(ownMs, newestMs - clocksApartMs.fromAnswers, 0) : ownMs;
  const times = { left: leftMs, ...(made > 0 && { made }) };
  if (operation.params) return { before: largestOf(known), there: known.ids, ...times };
  // Where ids grow a line has one for all of them.
  if (baselineKey === undefined) return { before: Math.max(largestOf(known), ...elsewhere), ...times };
  const isNamed = elsewhere.length > 0 || isNewestFirst(operation);
  return { before: baselineKey, ...(isNamed && { there: elsewhere }), ...times };
}

export const beforeIn = (written: Written): Written => {
  const { there, left, made } = heldIn(written);
  return { before: written.before, ...heldIn({ there, left, made }) };
};

/** What was there, as the line of a row says; earlier versions wrote of most kinds no more than the largest id. */
export function knownAt({ row, journal, own }: Sending, { before, there, left, made }: Written): Known {
  const { operation } = row;
  if (before === null) return 'nothing';
  const times = { leftMs: left ?? undefined, ownMs: made };
  // Of messages only those of the thread are known to a look.
  if (operation.params)
    return { ids: there ?? [], upTo: there ? 0 : before, isWhole: true, elsewhere: [...own], ...times };
  // Earlier versions did not say when the row left: what they find may have been made before.
  if (left === undefined) return 'nothing';
  const listed = there || !isNewestFirst(operation) ? journal.past.there.get(before) : undefined;
  const known = listed ? { ...asListed(listed), elsewhere: there ?? [] } : { ids: [], upTo: before, isWhole: true };
  return { ...known, ...times };
}

const asListed = ({ ids, since }: Listed): Before => ({
  ids,
  upTo: 0,
  isWhole: since === undefined,
  ...(typeof since === 'number' && { sinceMs: since }),
});

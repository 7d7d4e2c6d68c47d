import type { Input, Operation } from '../../api/operation.ts';
import { call, type Known } from '../../http/call/call.ts';
import { type Before, largestOf, readBefore } from '../../http/look/before.ts';
import { isNewestFirst } from '../../http/look/looking.ts';
import type { Listed, Before as Written } from '../journal/lines.ts';
import { readBack, withOurNewest } from '../journal/read-back.ts';
import { type Sending, through } from './sending.ts';

/**
 * What is there before the row is sent: of what has a list of its own it is read once. Of one that begins with the newest
 * it moves on with what svc made last, by its place in the list: ids that have grown so far need not go on to.
 */
export async function knownBefore(sending: Sending, input: Input<Operation>): Promise<Before | undefined> {
  const { operation } = sending.row;
  if (operation.params) return readAhead(sending, input);
  sending.baseline ??= readBaseline(sending, input);
  const first = await sending.baseline;
  if (!first || !isNewestFirst(operation)) return first;
  const { largestOwn, lastOwn } = sending;
  if (lastOwn === undefined) return first;
  return { ...first, elsewhere: first.grows ? [lastOwn, largestOwn] : [lastOwn] };
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
  if (operation.params) return { before: largestOf(known), there: known.ids };
  // Where ids grow a line has one for all of them.
  if (baselineKey === undefined) return { before: Math.max(largestOf(known), ...(known.elsewhere ?? [])) };
  return { before: baselineKey, ...(isNewestFirst(operation) && { there: known.elsewhere ?? [] }) };
}

export const beforeIn = ({ before, there }: Written): Written => ({ before, ...(there && { there }) });

/** What was there, as the line of a row says; earlier versions wrote of most kinds no more than the largest id. */
export function knownAt({ row, journal, own }: Sending, { before, there }: Written): Known {
  const { operation } = row;
  if (before === null) return 'nothing';
  // Of messages only those of the thread are known to a look.
  if (operation.params) return { ids: there ?? [], upTo: there ? 0 : before, isWhole: true, elsewhere: [...own] };
  const listed = there || !isNewestFirst(operation) ? journal.past.there.get(before) : undefined;
  return listed ? { ...asListed(listed), elsewhere: there ?? [] } : { ids: [], upTo: before, isWhole: true };
}

const asListed = ({ ids, since }: Listed): Before => ({
  ids,
  upTo: 0,
  isWhole: since === undefined,
  ...(typeof since === 'number' && { sinceMs: since }),
});

import type { Input, Operation } from '../../api/operation.ts';
import type { HttpResponse } from '../../context.ts';
import type { NumberTable } from '../../text/number-table.ts';
import type { Fields } from '../../text/record.ts';
import type { Leaves, Open } from '../exchange/asking.ts';
import { madeIds } from '../exchange/made.ts';
import type { Look, Undecided } from '../exchange/settle.ts';
import { isOlder, madeAt } from './age.ts';
import { type Before, largestOf, newIn } from './before.ts';
import { lookingFor } from './looking.ts';
import type { Lookup, Read, Seen } from './lookups.ts';
import { askedTwice } from './sweeps.ts';
import { newestUntil, type PageAt, type Seeing, wholeList } from './views.ts';

export type Aids = {
  /** Ids that svc has made already with the operation: they are not taken for what another request made. */
  readonly own: Pick<NumberTable, 'get' | 'set'>;
  /** Whether the service may have given an id of `own` again, to another record. */
  readonly mayBeAnew: (id: number) => boolean;
  /** The writes of this run that one record could be taken for, this one among them. */
  readonly open: ReadonlySet<Open>;
  readonly me: Open;
  /** When the write left, by the service's clock; undefined where that is not known. */
  readonly sentAt?: () => number | undefined;
  /** Told what the list shows after an answer: all that was there by then. */
  readonly sees?: (ids: readonly number[]) => void;
};

export type Prepared = {
  readonly look: Look;
  readonly made: (answer: unknown) => void;
  /** Whether what the service shows contradicts an answer that names another record than ours. */
  readonly contradicts?: (answer: unknown) => Promise<boolean>;
  /** Undefined where it is not known what was there. */
  readonly before?: Before;
  /** Takes the ids of an answer for this write; false where one of them is another write's. */
  readonly takes?: (ids: readonly number[], answer?: HttpResponse) => boolean;
  readonly leaves: Leaves;
  /** It is over, whatever came of it. */
  readonly ended: () => void;
};

/** Prepares to look: `before` tells our record from an older one that agrees. Without it none is surely ours. */
export function prepareLook<Op extends Operation>(
  read: (maxWaitMs?: number) => Read,
  { id, makes }: Pick<Op, 'id' | 'makes'>,
  input: Input<Op>,
  { own, mayBeAnew, open, me, before, sentAt, sees }: Aids & { readonly before: Before | undefined },
): Pick<Prepared, 'look' | 'made' | 'contradicts'> {
  const looking = lookingFor<Op>({ id });
  const detailed = new Map<number, Fields>();
  const made = (answer: unknown): void => {
    for (const one of madeIds({ makes }, answer)) own.set(one, 0);
  };
  const isOwn = ({ id }: Seen): boolean => own.get(id) !== undefined && !mayBeAnew(id);
  const notOwn = async (reading: Read) => {
    const { fresh, isWhole, newestMs, shown } = await freshOf(
      looking,
      (number) => looking.page(reading, input, number),
      before,
    );
    // What has the number of an earlier run's record is never surely ours.
    const known = (seen: Fresh): Fresh => (own.get(seen.id) === undefined ? seen : { ...seen, isNew: false });
    return { others: fresh.filter((seen) => !isOwn(seen)).map(known), isWhole, newestMs, shown };
  };
  const look: Look = async (maxWaitMs) => {
    me.isLookedFor = true;
    const reading = read(maxWaitMs);
    const { others, isWhole, newestMs } = await notOwn(reading);
    const age = {
      at: before?.leftMs ?? sentAt?.(),
      newestBefore: before?.newestMs ?? newestMs,
      newestOwn: before?.ownMs,
    };
    const judged = withoutOlder(await judge(looking, { reading, input, detailed }, others), (one) => isOlder(one, age));
    // A request of this run that is looked for at the same time has taken one of them meanwhile.
    if (judged.whole.some(isOwn)) return look(maxWaitMs);
    const undecided = whyNot(judged, { open, count: looking.count?.(input) ?? 1, before, isWhole });
    if (undecided) return { ...undecided, isPartial: !isWhole || judged.isPartial };
    const findings = looking.answer(input, judged.whole.slice(0, looking.count?.(input) ?? 1));
    if ('found' in findings) made(findings.found);
    return findings;
  };
  const contradicts = async (answer: unknown): Promise<boolean> => {
    if (before === undefined) return false;
    const { others, shown } = await notOwn(read());
    sees?.([...shown]);
    const agree = others.map(({ id, record }) => ({ id, agrees: looking.compare(record, input) }));
    const ids = new Set(madeIds({ makes }, answer));
    const named = agree.filter(({ id }) => ids.has(id));
    if (named.length === ids.size && named.every(({ agrees }) => agrees === 'whole')) return false;
    return (
      named.some(({ agrees }) => agrees === 'none') ||
      agree.some(({ id, agrees }) => agrees === 'whole' && !ids.has(id))
    );
  };
  return { look, made, ...(looking.isProvenByList && { contradicts }) };
}

/** Of records that agree in everything those are not ours that were made before the write left. */
function withoutOlder(judged: Judged, isOld: (record: Seen['record']) => boolean): Judged {
  const since = judged.whole.filter(({ record }) => !isOld(record));
  if (since.length > 0) return { ...judged, whole: since };
  return { ...judged, whole: judged.whole.map((seen) => ({ ...seen, isNew: false })) };
}

type Fresh = Seen & { readonly isNew: boolean };

type Showing = Pick<Seeing, 'isWhole'> & {
  readonly fresh: readonly Fresh[];
  readonly newestMs: number | undefined;
  readonly shown: ReadonlySet<number>;
};

/** What was not there before. `isNew`: it surely came since; otherwise its page was not read before. */
async function freshOf<Op extends Operation>(
  { newestFirst }: Lookup<Op>,
  page: PageAt,
  before: Before | undefined,
): Promise<Showing> {
  const ids = new Set([...(before?.ids ?? []), ...(before?.elsewhere ?? [])]);
  const isKnown = (id: number) => before !== undefined && (id <= before.upTo || ids.has(id));
  const { seen, isWhole, total } = newestFirst ? await newestOnes(page, before && isKnown) : await wholeList(page);
  const isNew = newIn(before, newestFirst ? seen : []);
  const fresh = seen.filter(({ id }) => !isKnown(id)).map((one) => ({ ...one, isNew: isNew(one) }));
  // A list that lacks what was there may lack ours as well. Contacts and tickets, newest first, cannot be deleted, so
  // fewer of them than before are not all (service.md#records-3).
  const hasLostAll = before !== undefined && largestOf(before) > 0 && fresh.length === seen.length;
  const shown = new Set(seen.map(({ id }) => id));
  const hasLost = newestFirst ? (total ?? 0) < (before?.total ?? 0) : before?.ids.some((id) => !shown.has(id));
  // Only a list that begins with the newest shows what came right before.
  const times = newestFirst ? seen.flatMap(({ id, record }) => (ids.has(id) ? (madeAt(record) ?? []) : [])) : [];
  const newestMs = times.length > 0 ? Math.max(...times) : undefined;
  return { fresh, isWhole: isWhole && !hasLostAll && !hasLost, newestMs, shown };
}

/** Where nothing is known, the first page: a record that was made just now is there. */
async function newestOnes(page: PageAt, isKnown: ((id: number) => boolean) | undefined): Promise<Seeing> {
  if (isKnown) return newestUntil(page, isKnown);
  const { seen, isOdd } = await askedTwice(page, 1);
  return { seen, isWhole: !isOdd };
}

type Judged = {
  readonly whole: readonly Fresh[];
  readonly part: readonly Fresh[];
  /** There were too many to read each. */
  readonly isPartial: boolean;
};

type Ways<Op extends Operation> = {
  readonly reading: Read;
  readonly input: Input<Op>;
  /** Records that were read by an earlier look. */
  readonly detailed: Map<number, Fields>;
};

/** Records that agree in nothing that the list shows: so many are read, in case that they agree in what it leaves out. */
const unlikeReadAtMost = 20;

/** Compares each record with what was sent; reads it where the list leaves out what decides. */
async function judge<Op extends Operation>(
  { compare, detail }: Lookup<Op>,
  { reading, input, detailed }: Ways<Op>,
  fresh: readonly Fresh[],
): Promise<Judged> {
  const whole: Fresh[] = [];
  const part: Fresh[] = [];
  let unlike = 0;
  for (const seen of fresh) {
    const listed = compare(seen.record, input);
    const isWorth = listed === 'whole' || (listed === 'none' && detail?.mayAgree(seen.record, input));
    if (!detail || !isWorth) {
      if (listed === 'whole') whole.push(seen);
      else if (listed === 'part') part.push(seen);
      continue;
    }
    if (listed === 'none' && ++unlike > unlikeReadAtMost) continue;
    const record = detailed.get(seen.id) ?? (await detail.read(reading, seen.id));
    detailed.set(seen.id, record);
    const agrees = await detail.compare(record, input);
    if (agrees === 'whole') whole.push({ ...seen, record });
    else if (agrees === 'part') part.push(seen);
  }
  return { whole, part, isPartial: unlike > unlikeReadAtMost };
}

type Weighed = Pick<Aids, 'open'> & Pick<Seeing, 'isWhole'> & { readonly count: number; readonly before?: Before };

/** Why none of the records is surely ours; undefined where they are. */
function whyNot({ whole, part }: Judged, { open, count, before, isWhole }: Weighed): Undecided | undefined {
  const candidates = (whole.length > 0 ? whole : part).map(({ id }) => id);
  const isNew = whole.every((seen) => seen.isNew);
  if (whole.length === 0) return { candidates, because: 'in part' };
  if (!before || !isNew) return { candidates, because: 'older' };
  // Where a list leaves something out, ours may be what it leaves out, and this one somebody else's.
  if (!isWhole) return { candidates, because: 'not all' };
  // An equal request of this run that is still waited for may have made it.
  const areLost = [...open].every(({ isLookedFor }) => isLookedFor);
  if (!areLost || whole.length > count * open.size) return { candidates, because: 'several' };
  return whole.length < count ? { candidates, because: 'in part' } : undefined;
}

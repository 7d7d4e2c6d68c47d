import type { Input, Operation } from '../api/operation.ts';
import { Failure } from '../errors.ts';
import { readBody } from './answer.ts';
import { type Looking, lookings, type Read, type Seen, type View } from './lookings.ts';
import { madeIds } from './made.ts';
import type { Findings, Look } from './settle.ts';

export type Aids = {
  /** Ids that this run has made already with the operation: they are not taken for what another request made. */
  readonly own: Set<number>;
  /** Where nothing could be read before: does the record's `created_at` surely lie after our first attempt began? */
  readonly isSurelySince: (createdAt: unknown) => boolean;
};

export type Prepared = { readonly look: Look; readonly made: (answer: unknown) => void };

/** What was there before a write. A record is known by its id, or by an id that is not larger than `upTo`. */
export type Before = {
  readonly ids: ReadonlySet<number>;
  readonly upTo: number;
  /** No record is left out: whatever is not known is new. */
  readonly isWhole: boolean;
};

function lookingFor<Op extends Operation>({ id }: Pick<Op, 'id'>): Looking<Op> {
  const all: Readonly<Record<string, unknown>> = lookings;
  // The compiler does not see that the looking of this id is the one of this operation.
  return all[id] as Looking<Op>;
}

/** Reads once what is there, before the first attempt. Undefined where the service does not show it. */
export async function readBefore<Op extends Operation>(
  read: Read,
  operation: Pick<Op, 'id'>,
  input: Input<Op>,
): Promise<Before | undefined> {
  const view = await lookBefore(() => lookingFor<Op>(operation).page(read, input, 1));
  return view && { ids: new Set(view.seen.map(({ id }) => id)), upTo: 0, isWhole: view.isWhole };
}

/** New records have larger ids than all that were there: so an own id moves on what is known. */
export const isNewestFirst = (operation: Pick<Operation, 'id'>): boolean => lookingFor(operation).newestFirst === true;

/** Two writes with the same text may be taken for each other when one of them is looked for. */
export const likenessOf = <Op extends Operation>(operation: Pick<Op, 'id'>, input: Input<Op>): string =>
  lookingFor<Op>(operation).likeness(input);

/** Prepares to look: `before` tells our record from an older one that agrees, so that no clock has to be trusted. */
export function prepareLook<Op extends Operation>(
  read: (maxWaitMs?: number) => Read,
  { id, makes }: Pick<Op, 'id' | 'makes'>,
  input: Input<Op>,
  { own, isSurelySince, before }: Aids & { readonly before: Before | undefined },
): Prepared {
  const looking = lookingFor<Op>({ id });
  return { look, made: note };

  async function look(maxWaitMs?: number): Promise<Findings> {
    const reading = read(maxWaitMs);
    const fresh = (await freshOf(looking, reading, input, before)).filter((seen) => !own.has(seen.id));
    const isNew = new Set(fresh.filter((seen) => seen.isNew).map((seen) => seen.id));
    const agreeing = await looking.agreeing(reading, input, fresh);
    const ours = agreeing.filter((seen) => isNew.has(seen.id) || isSurelySince(seen.createdAt));
    if (ours.length === 0) return { candidates: agreeing.map((seen) => seen.id) };
    const findings = await looking.answer(reading, input, ours);
    if (!('found' in findings)) return findings;
    // A request of this run that is looked for at the same time has taken one of them meanwhile.
    if (ours.some((seen) => own.has(seen.id))) return look(maxWaitMs);
    note(findings.found);
    return findings;
  }

  function note(answer: unknown): void {
    for (const one of madeIds({ makes }, answer)) own.add(one);
  }
}

/** Undefined where the service does not show what is there; other failures end the write before it is sent. */
async function lookBefore(page: () => Promise<View>): Promise<View | undefined> {
  try {
    return await page();
  } catch (failure) {
    if (failure instanceof Failure && isBlind(failure)) return undefined;
    throw failure;
  }
}

/** The read is refused, or the service fails at it, or answers with other JSON: that says nothing about the write. */
function isBlind({ kind, status = 0, answer }: Failure): boolean {
  if (kind === 'forbidden' || status >= 500) return true;
  return status >= 200 && status < 300 && answer !== undefined && readBody(answer.body).form !== 'none';
}

const pagesAtMost = 50;

/** What was not there before. `isNew`: it surely came since; otherwise its page was not read before. */
async function freshOf<Op extends Operation>(
  { page, newestFirst }: Looking<Op>,
  read: Read,
  input: Input<Op>,
  before: Before | undefined,
): Promise<(Seen & { readonly isNew: boolean })[]> {
  const isKnown = (id: number) => before !== undefined && (id <= before.upTo || before.ids.has(id));
  // A service might sort by something else than it says; ids grow with time, so an id below a known one is not new.
  const newest = Math.max(0, before?.upTo ?? 0, ...(before?.ids ?? []));
  const isNew = ({ id }: Seen) => before !== undefined && (before.isWhole || (newestFirst === true && id > newest));
  const fresh: (Seen & { readonly isNew: boolean })[] = [];
  for (let number = 1; number <= pagesAtMost; number++) {
    const { seen, isWhole } = await page(read, input, number);
    for (const one of seen) {
      if (isKnown(one.id)) {
        if (newestFirst) return fresh;
      } else fresh.push({ ...one, isNew: isNew(one) });
    }
    if (isWhole || (newestFirst && !before)) return fresh;
  }
  return fresh;
}

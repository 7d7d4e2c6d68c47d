import { fitted } from '../api/fit.ts';
import type { Input, Operation } from '../api/operation.ts';
import { Failure } from '../errors.ts';
import { readBody } from './answer.ts';
import { type Looking, lookings, type Read, type Seen, type View } from './lookings.ts';
import type { Findings, Look } from './settle.ts';

export type Aids = {
  /** Ids that this run has made already with the operation: they are not taken for what another request made. */
  readonly own: Set<number>;
  /** Where nothing could be read before: does the record's `created_at` surely lie after our first attempt began? */
  readonly isSurelySince: (createdAt: unknown) => boolean;
};

export type Prepared = { readonly look: Look; readonly made: (answer: unknown) => void };

/**
 * Prepares to look: reads once what is there before the first attempt, so that no clock has to be trusted to tell our
 * record from an older one that agrees.
 */
export async function prepareLook<Op extends Operation>(
  read: (maxWaitMs?: number) => Read,
  { id, response, makes }: Pick<Op, 'id' | 'response' | 'makes'>,
  input: Input<Op>,
  { own, isSurelySince }: Aids,
): Promise<Prepared> {
  const all: Readonly<Record<string, unknown>> = lookings;
  // The compiler does not see that the looking of this id is the one of this operation.
  const looking = all[id] as Looking<Op>;
  const before = await lookBefore(() => looking.page(read(), input, 1));
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
    for (const one of valuesAt(fitted(response, answer), makes ?? [])) if (typeof one === 'number') own.add(one);
  }
}

/** The values at the end of a path of fields; where a list is on the way, those of each item. */
const valuesAt = (json: unknown, [field, ...rest]: readonly string[]): unknown[] =>
  [json]
    .flat()
    .flatMap((each) => (field === undefined ? [each] : valuesAt(new Map(Object.entries(each ?? {})).get(field), rest)));

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
  before: View | undefined,
): Promise<(Seen & { readonly isNew: boolean })[]> {
  const known = new Set(before?.seen.map(({ id }) => id));
  // A service might sort by something else than it says; ids grow with time, so an id below a known one is not new.
  const newest = Math.max(0, ...known);
  const isNew = ({ id }: Seen) => before !== undefined && (before.isWhole || (newestFirst === true && id > newest));
  const fresh: (Seen & { readonly isNew: boolean })[] = [];
  for (let number = 1; number <= pagesAtMost; number++) {
    const { seen, isWhole } = await page(read, input, number);
    for (const one of seen) {
      if (known.has(one.id)) {
        if (newestFirst) return fresh;
      } else fresh.push({ ...one, isNew: isNew(one) });
    }
    if (isWhole || (newestFirst && !before)) return fresh;
  }
  return fresh;
}

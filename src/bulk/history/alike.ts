import { rowsInWords } from '../../batch/pace.ts';
import type { RowOf } from '../../command/row.ts';
import { Failure } from '../../errors.ts';
import { likenessOf } from '../../http/look/looking.ts';
import { someOf } from '../../text/each.ts';
import { fieldsIn } from '../../text/record.ts';
import { isUnsettled, isUnsure } from '../journal/ended-table.ts';
import { likeIn, type RowStatus } from '../journal/lines.ts';
import type { Found } from '../journal/on-disk.ts';
import type { Plan, Planned } from '../rows/plan.ts';
import { plainText, shortDigest, sorted } from '../rows/row-content.ts';
import { type Drafted, fateOf, isWaiting } from './drafted.ts';
import { type Grown, linesOf } from './grown.ts';
import type { Goes, Match, Matches } from './match-table.ts';
import { origins } from './origins.ts';
import { isOtherRequest } from './other-request.ts';

/**
 * The same for all rows of which one could be taken for the other, whatever status or priority goes with them. What
 * cannot be looked for is like nothing but itself: two events of a contact are two.
 */
export function likeOf({ operation }: RowOf, { id, input, keys }: Pick<Planned, 'id' | 'input' | 'keys'>): string {
  const { contact_id: contact = null } = fieldsIn(input.body);
  // A creation has its likeness for a key.
  const looked = () => (id === undefined ? keys[0] : likenessOf(operation, input));
  const text = operation.safety === 'verify' ? looked() : sorted(input.body, plainText);
  return shortDigest([id ?? null, contact, text]);
}

type Judged = { readonly ours: readonly Found[]; readonly decided: Drafted; readonly goesOn: Goes | undefined };

/**
 * Rows that may be done already: a row like them was sent by an earlier run, which cannot tell whether it is done, and this
 * file or its flags say something else beside it. Reads the file once more where there is such an earlier row.
 */
export async function alikeRows(plan: Plan, judged: Judged, matches: Matches): Promise<Grown[]> {
  const open = openRows(judged, matches);
  const isOther = (ref: string, match: Match) =>
    isUnsettled(match.rowStatus) && isOtherRequest(match, plan.refs.get(ref));
  const alike: Grown[] = [];
  if (open.size === 0 && !someOf(matches, ([ref, match]) => isOther(ref, match))) return alike;
  for await (const batch of plan.read()) {
    for (const planned of batch) {
      const match = matches.get(planned.ref);
      const found = match ? isOther(planned.ref, match) && match : open.get(likeOf(plan.row, planned));
      // It was agreed to when the file was begun again.
      if (found && !judged.goesOn?.(planned.ref, found)) alike.push({ ...found, line: planned.line });
    }
  }
  return alike;
}

/** By what they are like: rows in doubt that are none of this file, and that no later run has done or passed over. */
function openRows(
  { ours: journals, decided }: Pick<Judged, 'ours' | 'decided'>,
  matches: Matches,
): ReadonlyMap<string, Match> {
  const open = new Map<string, Match>();
  // A draft that waits says nothing yet of what was sent before it.
  const mayBeDone = (rowStatus: RowStatus) => isUnsure(rowStatus) || ('unsure' in rowStatus && rowStatus.unsure);
  const unsure = journals.flatMap((from) =>
    [...from.past.rowStatuses.held()].flatMap(([key, rowStatus]) =>
      mayBeDone(rowStatus) && likeIn(rowStatus) ? [{ key, rowStatus, from, like: likeIn(rowStatus) ?? '' }] : [],
    ),
  );
  if (unsure.length === 0) return open;
  const taken = new Set<string>();
  for (const { key, rowStatus } of matches.values()) if (mayBeDone(rowStatus)) taken.add(key);
  // As another request it is another one.
  const isDone = (key: string, { is }: RowStatus) =>
    journals.some(({ past }) => {
      const since = past.rowStatuses.get(key);
      return since?.status === 'done' && (since.is === undefined || is === undefined || since.is === is);
    });
  // What became a draft has not left where a person rejected that, or the service refused it.
  const mayLeave = (one: Pick<Match, 'from' | 'key'>) => fateOf(decided, one) === undefined || isWaiting(decided, one);
  const isPassedOver = (like: string, run: number) =>
    journals.some((from) =>
      someOf(from.past.passedOver, ([key, one]) => one.like === like && one.run > run && mayLeave({ from, key })),
    );
  for (const { key, rowStatus, from, like } of unsure) {
    if (
      taken.has(key) ||
      isPassedOver(like, from.past.rowStatuses.runOf(key)) ||
      (isUnsettled(rowStatus) && isDone(key, rowStatus))
    )
      continue;
    // The last of them tells whether that was there when the file was begun again.
    const before = open.get(like);
    const sentBy = from.past.rowStatuses.sentBy(key);
    if (!before || before.from.past.rowStatuses.sentBy(before.key) < sentBy) open.set(like, { key, rowStatus, from });
  }
  return open;
}

const draftIn = (rowStatus: RowStatus): number | undefined =>
  rowStatus.status === 'done' ? rowStatus.drafted : undefined;

const showing = ([first, ...more]: readonly number[]): string =>
  more.length === 0 ? `svc drafts show ${first}` : 'svc drafts list --all';

/** Refused whatever `--yes` and `--again` say: `--retry-unknown` alone sends what may be done. */
export function refuseAlike(alike: readonly Grown[], { row, rows }: Pick<Plan, 'row' | 'rows'>): void {
  if (alike.length === 0) return;
  const [are, those] = alike.length === 1 ? ['is like one', 'that one was'] : ['are like ones', 'those were'];
  const drafts = new Set(alike.flatMap(({ rowStatus }) => draftIn(rowStatus) ?? []));
  const lookOnceMore =
    row.operation.safety === 'verify'
      ? 'Run the command of then over the file of then, and svc looks once more where it can.'
      : (row.operation.effect?.lookHint ?? '');
  const look = drafts.size === 0 ? lookOnceMore : `Look first: ${showing([...drafts])}.`;
  throw new Failure(
    'usage',
    `${rowsInWords(alike.length)} of ${rows.source.name} ${are} that went out before, ${origins(alike.map(({ from }) => from))}, and svc cannot tell whether ${those} done in full: ${linesOf(alike)}.`,
    {
      hint: `Nothing was sent now. ${look} To send ${alike.length === 1 ? 'this row' : 'these rows'} as well, add --retry-unknown: it may be done twice.`,
    },
  );
}

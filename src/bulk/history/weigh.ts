import { once } from '../../promise/once.ts';
import { someOf } from '../../text/each.ts';
import { isUnsettled } from '../journal/ended-table.ts';
import type { RowStatus } from '../journal/lines.ts';
import type { Found } from '../journal/on-disk.ts';
import { voidKey } from '../journal/reader.ts';
import { isRepeatable, noRequest, type Plan } from '../rows/plan.ts';
import { type RowRequests, requestsOf, rowsByRequest } from '../rows/row-requests.ts';
import { type Drafted, fateOf, insteadOf } from './drafted.ts';
import type { Judges } from './judges.ts';
import { type Match, type Matches, matchTable, type OpenMatches } from './match-table.ts';
import { isOtherRequest, isSentAsOther } from './other-request.ts';

/** What is weighed: the rows of the plan, and the file that they stand in (null: standard input). */
export type Sides = { readonly plan: Pick<Plan, 'refs' | 'content' | 'row'>; readonly file: string | null };

export const isOpen = ({ past }: Found): boolean => past.finished === undefined;

/** Whether a run that is over sent its rows from other files: the one that is read now is a copy of them. */
export const isCopied = (one: Found, file: string | null): boolean =>
  !isOpen(one) && one.past.sentFrom.size > 0 && !one.past.sentFrom.has(file);

const isFormer = ({ past }: Found): boolean => past.header.svc_bulk === 1;

const requestOf = (from: Found, key: string, rowStatus: RowStatus): string | undefined =>
  isFormer(from) ? key.replace(/~\d+$/u, '') : rowStatus.is;

/**
 * The journal that this run goes on in: of a --restart of this file that was stopped, else of the same content, whatever the
 * file was called, else of a file of that name with rows in common, else of a file of that name that is not finished: but what
 * --restart began waits for its own rows.
 */
export function ownJournal(candidates: readonly Found[], { plan, file }: Sides): Found | undefined {
  const hasRows = ({ past }: Found) => past.rowStatuses.size + past.restarted.size > 0;
  const openFirst = [...candidates.filter(isOpen), ...candidates.filter((one) => !isOpen(one))];
  const ofContent = openFirst.filter(({ past }) => past.contents.has(plan.content));
  const ofFile = openFirst.filter(({ past }) => past.files.has(file));
  const requests = once(() => requestsOf(plan.refs));
  const isAsked = (request: string | undefined): boolean => request !== undefined && requests().has(request);
  const shares = (one: Found) =>
    (one.past.restarted.size > 0 && someOf(plan.refs, ([ref]) => one.past.restarted.has(ref))) ||
    someOf(one.past.restarted.requests.values(), isAsked) ||
    someOf(one.past.rowStatuses.keys(), (key) => plan.refs.has(key)) ||
    someOf(one.past.rowStatuses, ([key, rowStatus]) => isAsked(requestOf(one, key, rowStatus)));
  const isStopped = (one: Found) => isOpen(one) && one.past.restarted.size > 0 && shares(one);
  return (
    candidates.find(isStopped) ??
    ofContent.find(hasRows) ??
    ofFile.find(shares) ??
    (file === null ? undefined : ofFile.find((one) => isOpen(one) && one.past.restarted.size === 0 && hasRows(one))) ??
    ofContent[0]
  );
}

/** Of two that speak of one row, what was seen last counts: that it is done stays true. */
const weight = { rejected: 0, meant: 0, drafting: 0, unknown: 1, sent: 2, done: 3 } as const;
/** What is said of the very request counts more than what is said of another one for the row. */
const mostWeight = 4;

/** Nothing is sent beside a draft that may still be sent, whatever else is known of its row. */
function weightOf(match: Match, drafted: Drafted, request: string): number {
  const { rowStatus } = match;
  if (rowStatus.status === 'rejected' || isSentAsOther(rowStatus, request)) return weight[rowStatus.status];
  return fateOf(drafted, match) === 'open' ? Number.POSITIVE_INFINITY : weight[rowStatus.status] + mostWeight;
}

/**
 * Every row of the plan of which a journal speaks: by its cells, else by what is sent for it, whatever file the journal is
 * of, whatever else stood in its rows, and whatever of it came from flags. Of rows that send the same so many are known as were sent.
 */
export function matchRows(
  { all, isSame }: Judges,
  { plan }: Pick<Sides, 'plan'>,
  own: Found | undefined,
  drafted: Drafted,
): OpenMatches {
  // Of equal rows some may be done: a file of those that were rejected is none of them.
  const isOfRejects = ({ past }: Found) => past.finished?.rejects === plan.content && !past.contents.has(plan.content);
  const matches = matchTable(plan.refs);
  const isOnce = isRepeatable(plan);
  const counts = (from: Found, key: string, { status, is }: RowStatus, request: string | undefined): boolean => {
    const fate = fateOf(drafted, { from, key });
    if (isOfRejects(from)) return fate === 'rejected';
    // Twice is once: of another run only what a person has yet to decide, or has decided.
    if (isOnce && from !== own) return fate !== undefined;
    // What was rejected may go again in another form, or from another file; what a person rejected goes when one says so.
    return status !== 'rejected' || fate !== undefined || (from === own && (is === undefined || is === request));
  };
  // A person has rejected that it goes once more.
  const isSince = (match: Match, than: Match) =>
    fateOf(drafted, match) === 'rejected' && insteadOf(drafted, match).length > 0 && runOf(match) > runOf(than);
  const isMore = (match: Match, than: Match, request: string) =>
    isSince(match, than) ||
    (!isSince(than, match) && weightOf(match, drafted, request) > weightOf(than, drafted, request));
  for (const from of all) {
    for (const [key, rowStatus] of from.past.rowStatuses) {
      const request = plan.refs.get(key);
      if (request === undefined || !counts(from, key, rowStatus, request)) continue;
      if (!isSame(from, key) && (request === noRequest || rowStatus.is !== request)) continue;
      const before = matches.get(key);
      const match = { key, from, rowStatus };
      if (!before || isMore(match, before, request)) matches.set(key, match);
    }
  }
  /** Known by less than what was sent for the very request: it was refused, or went as another one. */
  const isWeak = (place: number): boolean => {
    const match = matches.get(plan.refs.names.nameAt(place));
    const request = plan.refs.requestAt(place);
    if (match?.rowStatus.status === 'done') return isOtherRequest(match, request);
    if (match?.rowStatus.status !== 'rejected') return false;
    const { is } = match.rowStatus;
    return fateOf(drafted, match) === undefined || (is !== undefined && is !== request);
  };
  const isReplaced = replacedIn(matches, drafted);
  const left = once(() => rowsByRequest(plan.refs, (place) => !matches.hasAt(place)));
  const weak = once(() => rowsByRequest(plan.refs, isWeak));
  for (const from of all) {
    for (const [key, rowStatus] of from.past.rowStatuses) {
      const request = requestOf(from, key, rowStatus);
      if (request === undefined || !counts(from, key, rowStatus, request)) continue;
      const now = plan.refs.get(key);
      const hasName = now !== undefined && (now === request || isSame(from, key));
      if (hasName && !isOfAnother({ from, key, rowStatus }, matches.get(key), drafted)) continue;
      if (isDoneSince({ from, key, rowStatus }, all) || isReplaced({ from, key, rowStatus }, request)) continue;
      let ref = left().take(request);
      if (ref === undefined && !isOnce && rowStatus.status !== 'rejected') ref = weak().take(request);
      if (ref !== undefined) matches.set(ref, { key, from });
    }
  }
  return matches;
}

/** What a draft was to go in the place of is no second row, also where a person rejected that draft. */
function replacedIn(matches: Matches, drafted: Drafted): (match: Match, request: string) => boolean {
  const replaced = new Map<string, number>();
  for (const match of drafted.size > 0 ? matches.values() : [])
    for (const [settings, row] of insteadOf(drafted, match))
      replaced.set(voidKey(settings, row, match.rowStatus.is), runOf(match));
  return (match, request) =>
    (replaced.get(voidKey(match.from.past.header.settings, match.key, request)) ?? 0) > runOf(match);
}

/**
 * Whether what a run says by a name is of another one of equal rows: `known` has that name already. A file of rejected rows
 * calls the second of two by the name that the first one had.
 */
function isOfAnother(match: Match, known: Match | undefined, drafted: Drafted): boolean {
  if (known === undefined || known.from === match.from) return false;
  if (match.rowStatus.status === 'rejected') return fateOf(drafted, match) !== undefined;
  // With --retry-unknown it went as that one.
  return !isUnsettled(match.rowStatus) || known.rowStatus.status !== 'done' || runOf(known) < runOf(match);
}

/** Another run has looked for the very row since, and found it, or sent it with --retry-unknown. */
const isDoneSince = ({ from, key, rowStatus }: Match, all: readonly Found[]): boolean =>
  isUnsettled(rowStatus) &&
  all.some(({ past: { rowStatuses } }) => {
    const since = rowStatuses.get(key);
    return (
      since?.status === 'done' && since.is === rowStatus.is && rowStatuses.runOf(key) > from.past.rowStatuses.runOf(key)
    );
  });

const runOf = ({ from, key }: Match): number => from.past.rowStatuses.runOf(key);

/** Whether every row that a run had is over, wherever: then it holds nothing up, though it never came to its end itself. */
export function isOver(one: Found, refs: RowRequests | undefined, all: readonly Found[]): boolean {
  if (!isOpen(one)) return true;
  if (!refs) return false;
  const { settings } = one.past.header;
  const same = all.filter(({ past }) => past.header.settings === settings);
  const over = (ref: string) =>
    same.some(({ past }) => ['done', 'rejected', 'unknown'].includes(past.rowStatuses.get(ref)?.status ?? ''));
  return !someOf(refs, ([ref, request]) => request !== noRequest && !over(ref));
}

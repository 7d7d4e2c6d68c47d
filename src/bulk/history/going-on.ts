import { numberColumn } from '../../text/column.ts';
import { someOf } from '../../text/each.ts';
import type { Found } from '../journal/on-disk.ts';
import { noRequest, type Plan } from '../rows/plan.ts';
import { type RowRequests, rowsByRequest } from '../rows/row-requests.ts';
import type { Match, Matches } from './match-table.ts';
import { isOpen, type Sides } from './weigh.ts';

/**
 * Those of the `same` work that tell of a --restart with which a file goes on where it was stopped: the file that it was begun with,
 * by its path or, on standard input, by its content. A copy that never had a run of its own is what it is a copy of.
 */
export function goneOnWith(same: readonly Found[], all: readonly Found[], { plan: { content }, file }: Sides): Found[] {
  const hadRun = ({ past: { files, contents } }: Found) => files.has(file) && (file !== null || contents.has(content));
  const begun = same.filter(({ past }) => past.restarted.size > 0);
  if (all.some(hadRun)) return begun.filter(hadRun);
  const copied = begun.filter(({ past }) => past.contents.has(content));
  const names = new Set(copied.flatMap(({ past }) => [...past.files]));
  return begun.filter(
    (one) => copied.includes(one) || someOf(one.past.files, (name) => name !== null && names.has(name)),
  );
}

/** The run that sent a row last, under the name that it has now or had then, as far as the journals say. */
export function lastSent(all: readonly Found[], ref: string, { from, key, rowStatus: { is } }: Match): number {
  let last = from.past.rowStatuses.sentBy(key);
  for (const { past } of all)
    for (const name of [ref, key]) {
      const known = past.rowStatuses.get(name);
      // What the service has refused is not sent.
      if (known?.status === 'rejected' || known?.is === undefined || known.is !== is) continue;
      last = Math.max(last, past.rowStatuses.sentBy(name));
    }
  return last;
}

type Asked = {
  /** Of all that --restart has begun, those that this file goes on with. */
  readonly restarts: readonly Found[];
  readonly all: readonly Found[];
  readonly plan: Pick<Plan, 'refs'>;
  readonly file: string | null;
  readonly matches: Matches;
};

/** Of a row the last --restart counts that has begun it. Undefined where this run goes on with none. */
export function goingOn({ restarts, all, plan: { refs }, file, matches }: Asked) {
  if (restarts.length === 0) return undefined;
  const latestFirst = [...restarts].sort((a, b) => b.past.restarted.run - a.past.restarted.run);
  const begun = latestFirst.map((one) => ({
    one,
    nameOf: namesThen(one, refs, matches),
    since: all.filter((other) => other !== one && other.past.lastRun > one.past.restarted.run),
  }));
  // A part of the list that has come to its end leaves the rest to this very file, and nothing to copies.
  const isEnded = (one: Found) => one.past.restarted.isEnded || !(isOpen(one) || one.past.files.has(file));
  /** What rows have grown from it has begun once it has sent some of them. */
  const isBegunBy = ({ past: { restarted, rowStatuses } }: Found, row: string) =>
    restarted.has(row) && (rowStatuses.size > 0 || restarted.requests.get(row) !== noRequest);
  const lastOf = (ref: string) => {
    const by = begun.find(({ one, nameOf }) => isBegunBy(one, nameOf(ref)));
    // A later one may have begun what it has grown to.
    return begun.find(({ one }) => one === by?.one || isBegunBy(one, by?.nameOf(ref) ?? ref));
  };
  return {
    /**
     * Whether a row was begun again by --restart and has not gone since, nor has the one that it is like: what is said of
     * them was known when it was agreed to.
     */
    goes(ref: string, match: Match) {
      const last = lastOf(ref);
      if (!last || match.from === last.one) return false;
      const { one, nameOf, since } = last;
      const { restarted, rowStatuses } = one.past;
      const now = rowStatuses.get(ref);
      const isLeft = now === undefined ? !isEnded(one) : now.status === 'rejected';
      const isAgreed = restarted.asks(nameOf(ref), refs.get(ref) ?? '');
      return isLeft && isAgreed && lastSent(since, ref, match) < restarted.run;
    },
    /** The journal that says of a row what became of it since it was begun again. */
    settledIn(ref: string) {
      const last = lastOf(ref)?.one;
      return last?.past.rowStatuses.has(ref) ? last : undefined;
    },
  };
}

/** What --restart called a row: the file has other columns by now, and asks for the same. */
function namesThen(one: Found, refs: RowRequests, matches: Matches): (ref: string) => string {
  const { restarted, rowStatuses } = one.past;
  const then = restarted.requests;
  const isOther = (name: string) => !refs.has(name) && !rowStatuses.has(name);
  if (!someOf(then, ([name]) => isOther(name))) return (ref) => ref;
  const left = rowsByRequest(then, (place) => isOther(then.names.nameAt(place)));
  /** By the place of a row in the file: its place among those of then. */
  const placeThen = numberColumn();
  for (const [ref, request] of refs) {
    // Of equal rows one may be settled there by another name: what is left is for the others.
    const isKnown = then.has(ref) || rowStatuses.has(ref) || matches.get(ref)?.from === one;
    const name = isKnown ? undefined : left.take(request);
    if (name !== undefined) placeThen.set(refs.names.find(ref), then.names.find(name));
  }
  return (ref) => {
    const place = placeThen.get(refs.names.find(ref));
    return place === undefined ? ref : then.names.nameAt(place);
  };
}

/** Whether it tells of a --restart, and a later one has begun all of its rows that stand in this file. */
export function isOvertaken(
  { past: { restarted } }: Found,
  restarts: readonly Found[],
  { refs }: Pick<Plan, 'refs'>,
): boolean {
  const later = restarts.filter(({ past }) => past.restarted.run > restarted.run);
  const isLater = (ref: string) => later.some(({ past }) => past.restarted.has(ref));
  return someOf(refs, ([ref]) => isLater(ref)) && !someOf(refs, ([ref]) => restarted.has(ref) && !isLater(ref));
}

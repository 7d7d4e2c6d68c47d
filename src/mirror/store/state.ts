import type { KindName } from '../tables/kinds.ts';
import { type Account, owned, ownerOf, putRow, type Sql } from '../tables/store.ts';

/** A reading of a list that is not finished. Everything above `page` is stored. */
export type Sweep = {
  readonly number: number;
  readonly page: number;
  /** The whole list, or what is new. */
  readonly whole: boolean;
  /** `--full`: also what did not change is read again. */
  readonly forced: boolean;
  /** What came while the whole list was read is looked at once more, from its first page. */
  readonly isTail: boolean;
  /** Only what changed since then. */
  readonly since: string | null;
  /** When it began, and the latest change seen in it, by the service's clock. */
  readonly started: string | null;
  readonly latest: string | null;
  /** When its first page was asked for, of a tail that of the tail, by this machine's clock. Earlier versions kept none. */
  readonly asked?: string;
  /** How many the service counts of what is asked for. Where a later page counts fewer, records moved past the reader. */
  readonly total: number | null;
  /** Of a tail that asks for changes: how many the whole list has. */
  readonly listed?: number | null;
  /** Listed records that answer 404 when they are read. */
  readonly notFound?: readonly number[];
  /** Records whose id svc cannot keep: with these no reading is whole, and nothing is gone by it. */
  readonly dropped?: number;
  /** Listed records that cannot be read or are not found, and of which the copy has nothing. */
  readonly failed?: number;
  /** Of a second look: which records the first one did not find. */
  readonly again?: readonly number[];
  /** The page that comes next could not be trusted in the last pull either. */
  readonly isDoubted?: boolean;
  /** Of lists: those whose members are read. */
  readonly done?: readonly number[];
};

/** A record that answered 404, and that a list named: since when, by this machine's clock. `isGone`: for long enough. */
export type NotFound = { readonly id: number; readonly since: string; readonly isGone: boolean };

/** How far the copy of one kind is. */
export type KindState = {
  /** The first full reading is done, but for what is `failing` or `notFound`. */
  readonly complete: boolean;
  /**
   * Records at which the service fails, or whose answer cannot be trusted, and those that are only to be read again since
   * another kind changed what they show; those first that were asked for longest ago.
   */
  readonly failing: readonly number[];
  readonly notFound: readonly NotFound[];
  /** When both were asked for apart from a list, by this machine's clock. */
  readonly failingAskedAt: string | null;
  /** The next pull asks for what changed since then, and a little earlier. By the service's clock. */
  readonly cursor: string | null;
  /** The number of the last reading that was begun, and of the last that was finished. */
  readonly begun: number;
  readonly finished: number;
  readonly finishedAt: string | null;
  /** All that happened until then was read, but for what is `failing` or `notFound`, by this machine's clock; null where an earlier version read last. */
  readonly wholeUntil: string | null;
  readonly sweep: Sweep | null;
  /** The last reading ended at a page that cannot be trusted, or that never came. */
  readonly isDoubted: boolean;
  /** Of the first whole reading: what it could not read, and since when that is news later, by the service's clock. */
  readonly first: { readonly began: string; readonly unread: readonly number[] } | null;
  /**
   * The whole list has to be read again, for what is gone or for what was not remembered: since then, or since it was begun
   * last. By this machine's clock.
   */
  readonly wholeWantedAt: string | null;
  /** `svc watch` follows a kind whose first reading is still to come, from that time on. */
  readonly followedFrom: string | null;
  /** The whole reading was held against the service's count. Copies of earlier versions called parts whole. */
  readonly isCounted: boolean;
  /** It was complete, and then records were missing: what was made before that time is no news. */
  readonly repairsFrom: string | null;
  /** A digest of what the last whole reading missed, of a kind whose records cannot be asked for one by one. */
  readonly missed: string | null;
  /** A digest of what the last whole reading found, of a kind that is not complete and whose list may change its order. */
  readonly seen: string | null;
  /** The next page of the unresolved, which the first pull reads before all others; null: they are read. */
  readonly front: number | null;
  /** How many the service counted before the first reading. */
  readonly expected: number | null;
  /** The service refuses it: a module that is off, a scope that is missing. */
  readonly isRefused: boolean;
  /** One moment by the service's clock and by this machine's, at the end of the last reading. */
  readonly clock: { readonly service: string; readonly local: string } | null;
};

/** Nothing is missing or older than the service said it to be. */
export const isKindWhole = ({ complete, failing, notFound, isDoubted, wholeWantedAt }: KindState): boolean =>
  complete && failing.length === 0 && notFound.every(({ isGone }) => isGone) && !isDoubted && wholeWantedAt === null;

/** A change may become visible a little later than its time says. */
export const overlapMs = 120_000;

/** A reading of the kind is under way. */
export type Sweeping = KindState & { readonly sweep: Sweep };

export const isSweeping = (state: KindState): state is Sweeping => state.sweep !== null;

const newState: KindState = {
  complete: false,
  failing: [],
  notFound: [],
  failingAskedAt: null,
  cursor: null,
  begun: 0,
  finished: 0,
  finishedAt: null,
  wholeUntil: null,
  sweep: null,
  isDoubted: false,
  first: null,
  wholeWantedAt: null,
  followedFrom: null,
  isCounted: false,
  repairsFrom: null,
  missed: null,
  seen: null,
  front: 1,
  expected: null,
  isRefused: false,
  clock: null,
};

export async function readState(sql: Sql, account: Account, kind: KindName): Promise<KindState> {
  const [row] = await sql.all(`SELECT state FROM svc_kinds WHERE ${owned} AND kind = $3`, [...ownerOf(account), kind]);
  if (!row) return newState;
  // Earlier versions called a reading whole that had left out records without an id, and counted them here.
  const { short = 0, absent = 0, unshown = null, ...state } = JSON.parse(String(row.state));
  // Nor did they remember which records they had not found.
  const isForgotten = state.notFound === undefined && (absent > 0 || unshown !== null || state.sweep?.absent > 0);
  const wholeWantedAt = isForgotten ? new Date(0).toISOString() : null;
  return { ...newState, wholeWantedAt, ...state, ...(short > 0 && { isCounted: false }) };
}

export const saveState = (sql: Sql, account: Account, kind: KindName, state: KindState): Promise<void> =>
  putRow(sql, account, 'svc_kinds', { key: { kind }, values: { state: JSON.stringify(state) } });

/** A new reading, from the first page. */
export function beginSweep(
  state: KindState,
  wanted: Pick<Sweep, 'whole' | 'forced' | 'since'>,
  { started, asked }: { readonly started: string | null; readonly asked: string },
): Sweeping {
  const number = state.begun + 1;
  const sweep: Sweep = { ...wanted, number, page: 1, isTail: false, started, asked, latest: null, total: null };
  return { ...state, begun: number, sweep };
}

/** The same; of earlier versions, which kept the end of the reading only, that. */
export const asOfState = ({ wholeUntil, finishedAt }: KindState): string | null => wholeUntil ?? finishedAt;

/** It was complete, and records are missing: it is not, until it is read whole again. */
export const lacking = <S extends KindState>(state: S): S =>
  state.complete ? { ...state, complete: false, repairsFrom: minus(asOfState(state), overlapMs) } : state;

export const later = (one: string | null, other: string | null): string | null => {
  if (one === null || other === null) return one ?? other;
  return Date.parse(one) >= Date.parse(other) ? one : other;
};

export const earlier = (one: string | null, other: string | null): string | null => {
  if (one === null || other === null) return one ?? other;
  return Date.parse(one) <= Date.parse(other) ? one : other;
};

export const minus = (time: string | null, ms: number): string | null =>
  time === null ? null : new Date(Date.parse(time) - ms).toISOString();

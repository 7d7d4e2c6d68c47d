import { type ResourceName, resources } from '../../api/resources.ts';
import type { DeliveryStore } from '../deliveries/schedule.ts';
import type { OAuthState } from '../oauth/state.ts';
import { type ContactIndex, emailKey, phoneKey, reindex } from './contact-index.ts';
import { forEachKind, type Kind, keyOf, kinds, type Row, type Rows } from './records.ts';

/**
 * All that the sandbox remembers. Rows are never changed in place: `put` replaces them, and is the only place that
 * keeps the indexes right and notes what a journal must write.
 */
export type State = {
  readonly rows: { readonly [K in Kind]: Map<string | number, Row<K>> };
  /** The last id given, by kind: ids are never reused, not even of deleted records (service.md#records-1). */
  readonly lastIds: Map<string, number>;
  readonly contacts: ContactIndex;
  /** Contact ids by list, in the order of joining. */
  readonly members: Map<number, Set<number>>;
  /** How far the sandbox's clock runs ahead of the real one, in milliseconds. */
  clockAheadMs: number;
  /** What changed since it was last drained, by kind and key. */
  readonly changed: Map<string, Change>;
};

/** The rows of a moment, by kind and key. Rows are replaced, never changed: a snapshot stays as it is. */
export type Snapshot = ReadonlyMap<Kind, ReadonlyMap<string | number, object>>;

export const snapshotOf = ({ rows }: State): Snapshot =>
  new Map(kinds.map((kind) => [kind, new Map<string | number, object>([...rows[kind]])]));

export type Change =
  | { readonly kind: Kind; readonly key: string | number }
  | { readonly kind: 'last_id'; readonly key: string }
  | { readonly kind: 'clock'; readonly key: 'clock' };

/** A new state with these rows, oldest first within each kind, so that newest-first lists just run backwards. */
export function stateOf(seed: Partial<Rows>): State {
  const state: State = {
    rows: forEachKind(() => new Map()),
    lastIds: new Map(),
    contacts: { shown: new Map(), byEmail: new Map(), byPhone: new Map() },
    members: new Map(),
    clockAheadMs: 0,
    changed: new Map(),
  };
  for (const kind of kinds) {
    for (const row of oldestFirst<Row<Kind>>(seed[kind] ?? [])) put(state, kind, row);
  }
  // Messages and notes are kept inside their tickets and conversations, and ids of connections are not numbers.
  const threads = [...state.rows.tickets.values(), ...state.rows.conversations.values()];
  const others = {
    messages: threads.flatMap(({ messages }) => messages.map(({ id }) => id)),
    notes: threads.flatMap(({ notes }) => notes.map(({ id }) => id)),
    connections: [...state.rows.connections.keys()].map((id) => Number(String(id).slice('conn_'.length)) || 0),
  };
  for (const [kind, ids] of Object.entries(others)) {
    const highest = ids.reduce((a, b) => Math.max(a, b), 0);
    if (highest > 0) noteId(state, kind, highest);
  }
  return state;
}

const oldestFirst = <R extends object>(rows: readonly R[]): readonly R[] =>
  rows.toSorted((a, b) => Number(madeAt(a) > madeAt(b)) - Number(madeAt(a) < madeAt(b)));

const madeAt = (row: object): string =>
  'created_at' in row && typeof row.created_at === 'string' ? row.created_at : '';

export function nextId(state: State, kind: string): number {
  const id = (state.lastIds.get(kind) ?? 0) + 1;
  noteId(state, kind, id);
  return id;
}

export function put<K extends Kind>(state: State, kind: K, row: Row<K>): Row<K> {
  const key = keyOf(kind, row);
  const before = state.rows[kind].get(key);
  indexes[kind]?.(state, row, before);
  state.rows[kind].set(key, row);
  if (typeof key === 'number' && key > (state.lastIds.get(kind) ?? 0)) noteId(state, kind, key);
  state.changed.set(`${kind} ${key}`, { kind, key });
  return row;
}

/** The API deletes no contacts. */
export type Removable = Exclude<Kind, 'contacts'>;

export function remove(state: State, kind: Removable, key: string | number): void {
  if (kind === 'list_members') leave(state, state.rows.list_members.get(key));
  if (!state.rows[kind].delete(key)) return;
  state.changed.set(`${kind} ${key}`, { kind, key });
}

export function setClock(state: State, aheadMs: number): void {
  state.clockAheadMs = aheadMs;
  state.changed.set('clock', { kind: 'clock', key: 'clock' });
}

/** The rows of an account, oldest first. */
export function owned<K extends Kind>(state: State, kind: K, account: number): Row<K>[] {
  const rows: Row<K>[] = [];
  for (const row of state.rows[kind].values()) {
    if (isOf(account, row)) rows.push(row);
  }
  return rows;
}

const isOf = (account: number, row: object): boolean => 'account_id' in row && row.account_id === account;

/** A record that is known to be there: the path of the request was judged by it, or another record names it. */
export function rowOf<K extends Kind>(state: State, kind: K, key: number): Row<K> {
  const row = state.rows[kind].get(key);
  if (!row) throw new Error(`There is no ${key} among the ${kind}.`);
  return row;
}

/** The account's record, or undefined where it is another account's: to a token those are the same. */
export function find<K extends Kind>(state: State, kind: K, account: number, key: number): Row<K> | undefined {
  const row = state.rows[kind].get(key);
  if (!row || !isOf(account, row)) return undefined;
  // The API does not show quarantined shadow contacts.
  return 'shadow' in row && row.shadow ? undefined : row;
}

/** Who asks: an account, by an OAuth connection where there is one. */
export type Owner = { readonly account: number; readonly connection: string | undefined };

/** The record that a token may know of. Records of another connection look as if they did not exist. */
export function findOwned<K extends ResourceName>(
  state: State,
  kind: K,
  { account, connection }: Owner,
  key: number,
): Row<K> | undefined {
  const row = find(state, kind, account, key);
  if (!row || resources[kind].ownedBy === 'account') return row;
  return connection !== undefined && 'connection_id' in row && row.connection_id === connection ? row : undefined;
}

/** The clients and connections as the OAuth endpoints see them. */
export const oauthOf = (state: State): OAuthState => ({
  clients: [...state.rows.clients.values()],
  connections: {
    find: (id) => state.rows.connections.get(id),
    all: () => state.rows.connections.values(),
    put: (connection) => put(state, 'connections', connection),
    nextNumber: () => nextId(state, 'connections'),
  },
});

/** The deliveries of whatever state there is at the moment; `changed` is called when no request may be there to see it. */
export const deliveryStore = (held: { readonly state: State }, changed: () => void): DeliveryStore => ({
  all: () => held.state.rows.deliveries.values(),
  put(delivery) {
    put(held.state, 'deliveries', delivery);
    changed();
  },
  remove(id) {
    remove(held.state, 'deliveries', id);
    changed();
  },
  nextId: () => nextId(held.state, 'deliveries'),
});

/** The oldest contact with that address, in any letter case; a shadow only where there is no other. */
export const contactByEmail = (state: State, account: number, email: string): Row<'contacts'> | undefined =>
  oldest(state, state.contacts.byEmail.get(emailKey(account, email)));

export const contactByPhone = (state: State, account: number, phone: string): Row<'contacts'> | undefined =>
  oldest(state, state.contacts.byPhone.get(phoneKey(account, phone)));

function oldest(state: State, ids: readonly number[] = []): Row<'contacts'> | undefined {
  let shadow: Row<'contacts'> | undefined;
  for (const id of ids) {
    const row = state.rows.contacts.get(id);
    if (row && !row.shadow) return row;
    shadow ??= row;
  }
  return shadow;
}

function noteId(state: State, kind: string, id: number): void {
  state.lastIds.set(kind, id);
  state.changed.set(`last_id ${kind}`, { kind: 'last_id', key: kind });
}

/** What is kept beside the rows, to find some of them sooner. */
const indexes: { readonly [K in Kind]?: (state: State, row: Row<K>, before: Row<K> | undefined) => void } = {
  contacts: (state, row, before) => reindex(state.contacts, before, row),
  list_members: join,
};

function leave(state: State, member: Row<'list_members'> | undefined): void {
  if (member) state.members.get(member.contacts_list_id)?.delete(member.contact_id);
}

function join(state: State, { contacts_list_id, contact_id }: Row<'list_members'>): void {
  const members = state.members.get(contacts_list_id);
  if (members) members.add(contact_id);
  else state.members.set(contacts_list_id, new Set([contact_id]));
}

import type * as v from 'valibot';
import { resources } from '../../api/resources.ts';
import { recordSchemas } from './schemas.ts';

/** The rows of each kind, as types. A mapped type, so that what is generic over a kind keeps kind and row together. */
type RowTypes = { readonly [K in keyof typeof recordSchemas]: Readonly<v.InferOutput<(typeof recordSchemas)[K]>> };

export type Kind = keyof RowTypes;
export type Row<K extends Kind> = RowTypes[K];
/** Rows by kind, as `GET /_sandbox/state` shows them and `--seed FILE` takes them. */
export type Rows = { readonly [K in Kind]: readonly RowTypes[K][] };

/** What a row of each kind is found by. */
const keys: { readonly [K in Kind]: (row: RowTypes[K]) => string | number } = {
  accounts: (row) => row[resources.accounts.idField],
  contacts: (row) => row[resources.contacts.idField],
  lists: (row) => row[resources.lists.idField],
  list_members: (row) => `${row.contacts_list_id}:${row.contact_id}`,
  calls: (row) => row[resources.calls.idField],
  tickets: (row) => row[resources.tickets.idField],
  conversations: (row) => row[resources.conversations.idField],
  changelog: (row) => row[resources.changelog.idField],
  changelog_categories: (row) => row.id,
  feedback: (row) => row[resources.feedback.idField],
  feedback_categories: (row) => row.id,
  feedback_statuses: (row) => row.id,
  roadmap_columns: (row) => row.id,
  meetings: (row) => row[resources.meetings.idField],
  sequences: (row) => row.id,
  events: (row) => row[resources.events.idField],
  enrolments: (row) => row.id,
  conversions: (row) => row.id,
  clients: (row) => row.client_id,
  connections: (row) => row.id,
  subscriptions: (row) => row[resources.subscriptions.idField],
  deliveries: (row) => row.id,
};

export const keyOf = <K extends Kind>(kind: K, row: Row<K>): string | number => keys[kind](row);

export const isKind = (name: string): name is Kind => Object.hasOwn(recordSchemas, name);

export const kinds: readonly Kind[] = Object.keys(recordSchemas).filter(isKind);

/** Something for each kind. The one cast: the compiler does not follow a mapped type through Object.fromEntries. */
export const forEachKind = <Made extends { readonly [K in Kind]: unknown }>(
  make: <K extends Kind>(kind: K) => Made[K],
): Made => Object.fromEntries(kinds.map((kind) => [kind, make(kind)])) as Made;

import type { Column } from './view.ts';

const fields = (...names: readonly string[]) => names.map((name) => `contact.${name}`);

/** The person of a record in a table. */
export const contactColumn = {
  path: 'contact.name',
  header: 'Contact',
  see: ({ contact }: { readonly contact?: unknown }) => contact,
  fields: fields('name', 'last_name'),
};

/** Of what may be no ticket, and has no number then. */
export const numberColumn = {
  path: 'number',
  header: 'Number',
  as: 'id',
  see: ({ number, id }: { readonly number: string | null; readonly id: number }) => number ?? id,
  fields: ['number', 'id'],
} as const;

/** What is printed of each in a queue. */
export const queueFields: readonly string[] = [
  ...['kind', 'id', 'number', 'subject', 'contact', 'waiting_since', 'priority', 'channel', 'status', 'why'],
];

/** What the page of a ticket or a conversation says of whose it is, and what the table calls it. */
export const personLabels: readonly Column[] = [
  { path: 'contact', header: 'Customer', fields: fields('name', 'last_name', 'email', 'phone', 'contact_id') },
  contactColumn,
];

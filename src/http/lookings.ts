import { getChangelogEntry, listChangelog } from '../api/changelog.ts';
import { listContacts } from '../api/contacts.ts';
import { getConversation } from '../api/conversations.ts';
import type { Operations } from '../api/index.ts';
import { listContactLists } from '../api/lists.ts';
import type { Input, Operation, Output } from '../api/operation.ts';
import { type ResourceName, resources } from '../api/resources.ts';
import { getTicket, listTickets } from '../api/tickets.ts';
import { deleteWebhook, listWebhooks } from '../api/webhooks.ts';
import { fieldsIn } from '../text/record.ts';
import { address, isSameEmail, isSamePhone, isSameText, isSameUrl, likeness } from './agree.ts';
import type { Findings } from './settle.ts';

/** The parsed answer. Undefined for a write that is done, but was not answered with the record. */
export type Called<Op extends Operation> = Op['safety'] extends 'read' ? Output<Op> : Output<Op> | undefined;

/** `call`, bound to a service. */
export type Read = <const Op extends Operation>(operation: Op, input: Input<Op>) => Promise<Called<Op>>;

/** The operations that are looked up where their outcome is not known. */
type Verified = Extract<Operations[keyof Operations], { safety: 'verify' }>;

/** A record among those where ours would be. */
export type Seen = {
  readonly id: number;
  readonly createdAt?: unknown;
  readonly record: Readonly<Record<string, unknown>>;
};

/** `isWhole`: no record is left out of `seen`. */
export type View = { readonly seen: readonly Seen[]; readonly isWhole: boolean };

export type Looking<Op extends Operation> = {
  /** Where a new record would be, one page: the newest, where the service sorts so, else the first. */
  readonly page: (read: Read, input: Input<Op>, number: number) => Promise<View>;
  /** New records come first, so whatever stands below a known one is older. */
  readonly newestFirst?: boolean;
  /** The records among the new ones that agree with what was sent, newest first as far as that is known. */
  readonly agreeing: (read: Read, input: Input<Op>, fresh: readonly Seen[]) => Promise<readonly Seen[]>;
  readonly answer: (read: Read, input: Input<Op>, ours: readonly Seen[]) => Promise<Findings>;
  /** The same for all writes that one record may agree with. */
  readonly likeness: (input: Input<Op>) => string;
};

const found = (json: unknown): Findings => ({ found: json });

const rowsOf = (records: readonly Readonly<Record<string, unknown>>[], of?: ResourceName): Seen[] => {
  // Messages are no resource of their own.
  const idField = (of && resources[of].idField) ?? 'id';
  return records.map((record) => ({ id: Number(record[idField]), createdAt: record.created_at, record }));
};

const isNewestFirst = ({ answer }: Operation): boolean => answer.shape === 'list' && answer.sortedBy === 'newest';

const pageSize = 100;

/** How each is looked up. Leaving one out does not compile. */
export const lookings: { readonly [Op in Verified as Op['id']]: Looking<Op> } = {
  createContacts: {
    async page(read, _, page) {
      const { contacts, meta } = await read(listContacts, { query: { page, per_page: pageSize } });
      return { seen: rowsOf(contacts, 'contacts'), isWhole: page >= (meta?.last_page ?? page) };
    },
    newestFirst: isNewestFirst(listContacts),
    async agreeing(_, { body }, fresh) {
      const left = [...fresh];
      const ours: Seen[] = [];
      for (const row of rowsSent(body).reverse()) {
        const at = left.findIndex(({ record }) => isSameContact(record, row));
        if (at >= 0) ours.unshift(...left.splice(at, 1));
      }
      return ours;
    },
    async answer(_, { body }, ours) {
      const rows = rowsSent(body);
      // One transaction: all or none. A part means that somebody else is at work on the same rows.
      if (ours.length < rows.length) return { candidates: ours.map(({ id }) => id) };
      const contacts = ours.map(({ id, record }) => ({ contact_id: id, name: String(record.name) }));
      return found({ contacts: 'contacts' in body ? contacts : contacts[0] });
    },
    likeness: ({ body }) => likeness(...rowsSent(body).map(({ email }) => email)),
  },

  createContactList: {
    async page(read) {
      return { seen: rowsOf((await read(listContactLists, {})).data, 'lists'), isWhole: true };
    },
    async agreeing(_, { body }, fresh) {
      return fresh.filter(
        ({ record }) => isSameText(record.name, body.name) && isSameText(record.target_industry, body.target_industry),
      );
    },
    answer: async (_read, _input, [ours]) => found({ contact_list_id: ours?.id }),
    likeness: ({ body }) => likeness(body.name, body.target_industry),
  },

  createTicket: {
    async page(read, _, page) {
      const { tickets, meta } = await read(listTickets, { query: { page, per_page: pageSize } });
      return { seen: rowsOf(tickets, 'tickets'), isWhole: page >= (meta?.last_page ?? page) };
    },
    newestFirst: isNewestFirst(listTickets),
    async agreeing(read, { body }, fresh) {
      const ours: Seen[] = [];
      for (const seen of fresh) {
        const { source, subject, contact, priority } = seen.record;
        const person = fieldsIn(contact).contact_id ?? undefined;
        if (source !== 'api' || !isSameText(subject, body.subject)) continue;
        if (person !== body.contact_id || priority !== (body.priority ?? 0)) continue;
        const { ticket } = await read(getTicket, { params: { id: seen.id } });
        if (isSameText(ticket.description, body.description)) ours.push({ ...seen, record: ticket });
      }
      return ours;
    },
    answer: async (_read, _input, [ours]) => found({ ticket: ours?.record }),
    likeness: ({ body }) => likeness(body.subject, body.description),
  },

  replyToTicket: {
    async page(read, { params }) {
      const { ticket } = await read(getTicket, { params });
      const messages = (ticket.messages ?? []).map((message) => ({ ...message, channel: ticket.reply_channel }));
      return { seen: rowsOf(messages).reverse(), isWhole: true };
    },
    agreeing: async (_, { body }, fresh) =>
      fresh.filter(({ record }) => record.direction === 'out' && isSameText(record.body, body.body)),
    async answer(_read, _input, [ours]) {
      const { id, channel, body, created_at } = ours?.record ?? {};
      return found({ message: { id, channel, direction: 'out', body, created_at } });
    },
    likeness: ({ params, body }) => likeness(String(params.id), body.body),
  },

  replyToConversation: {
    async page(read, { params }) {
      const { conversation } = await read(getConversation, { params });
      const { handling_mode } = conversation;
      const messages = (conversation.messages ?? []).map((message) => ({ ...message, handling_mode }));
      return { seen: rowsOf(messages).reverse(), isWhole: true };
    },
    agreeing: async (_, { body }, fresh) =>
      fresh.filter(({ record }) => record.sender_type === 'operator' && isSameText(record.body, body.body)),
    async answer(_read, _input, [ours]) {
      const { id, sender_type, body, created_at, handling_mode } = ours?.record ?? {};
      return found({ message: { id, sender_type, body, created_at }, handling_mode });
    },
    likeness: ({ params, body }) => likeness(String(params.id), body.body),
  },

  createChangelogEntry: {
    async page(read, _, page) {
      const { entries, meta } = await read(listChangelog, { query: { page, per_page: pageSize } });
      return { seen: rowsOf(entries, 'changelog'), isWhole: page >= (meta?.last_page ?? page) };
    },
    newestFirst: isNewestFirst(listChangelog),
    agreeing: async (_, { body }, fresh) =>
      fresh.filter(({ record }) => isSameText(record.title, body.title) && isSameText(record.version, body.version)),
    answer: async (read, _, [ours]) => found(await read(getChangelogEntry, { params: { id: ours?.id ?? 0 } })),
    likeness: ({ body }) => likeness(body.title, body.version),
  },

  createWebhook: {
    async page(read) {
      return { seen: rowsOf((await read(listWebhooks, {})).webhooks, 'subscriptions'), isWhole: true };
    },
    agreeing: async (_, { body }, fresh) =>
      fresh.filter(
        ({ record }) => record.event_type === body.event_type && isSameUrl(record.target_url, body.target_url),
      ),
    async answer(read, _, ours) {
      // One of two is somebody else's, and svc cannot tell which.
      const [only, ...others] = ours;
      if (!only || others.length > 0) return { candidates: ours.map(({ id }) => id) };
      // Its signing secret was shown only in the lost answer. Without it the subscription is of no use, so it is made again.
      await read(deleteWebhook, { params: { webhook: only.id } });
      return { removed: true };
    },
    likeness: ({ body }) => likeness(body.event_type, address(body.target_url)),
  },
};

type Sent = Partial<Record<'name' | 'last_name' | 'email' | 'phone', string>>;

/** `svc api` sends any JSON: only a list of objects holds rows. */
function rowsSent(body: object): Sent[] {
  if (!('contacts' in body)) return [body];
  return Array.isArray(body.contacts) ? body.contacts.filter((row) => typeof row === 'object' && row !== null) : [];
}

const isSameContact = (contact: Readonly<Record<string, unknown>>, row: Sent): boolean =>
  isSameEmail(contact.email, row.email) &&
  isSameText(contact.name, row.name) &&
  (row.last_name === undefined || isSameText(contact.last_name, row.last_name)) &&
  (row.phone === undefined || isSamePhone(contact.phone, row.phone));

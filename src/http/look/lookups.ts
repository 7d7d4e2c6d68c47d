import { getChangelogEntry, listChangelog } from '../../api/changelog.ts';
import { listContacts } from '../../api/contacts.ts';
import { getConversation } from '../../api/conversations.ts';
import type { Operations } from '../../api/index.ts';
import { listContactLists } from '../../api/lists.ts';
import type { Input, Operation, Output } from '../../api/operation.ts';
import { type ResourceName, resources } from '../../api/resources.ts';
import { getTicket, listTickets } from '../../api/tickets.ts';
import { listWebhooks } from '../../api/webhooks.ts';
import { type Fields, isId } from '../../text/record.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { Findings } from '../exchange/settle.ts';
import {
  type Agreement,
  address,
  agreement,
  isAlikeRendered,
  isSameRendered,
  isSameText,
  isSameUrl,
  isSameValue,
  likeness,
} from './agree.ts';
import { compareContact, inOrder, rowsSent } from './agree-contact.ts';
import { type Compared, entryAsListed, entryInFull, ticketAsListed, ticketInFull } from './agree-fields.ts';
import { isUncounted, leastOn } from './page-meta.ts';

/** The parsed answer. Undefined for a write that is done, but was not answered with the record. */
export type Called<Op extends Operation> = Op['safety'] extends 'read' ? Output<Op> : Output<Op> | undefined;

/** `call`, bound to a service. */
export type Read = <const Op extends Operation>(operation: Op, input: Input<Op>) => Promise<Called<Op>>;

/** The operations that are looked up where their outcome is not known. */
type Verified = Extract<Operations[keyof Operations], { safety: 'verify' }>;

/** A record among those where ours would be. */
export type Seen = { readonly id: number; readonly record: Fields };

/**
 * One page. `isLast`: nothing comes behind it. `total`: how many there are in all, where the service says so. `isOdd`: it
 * holds fewer than that asks for, or is another page. `isUncounted`: it does not say how many there are, so it proves nothing.
 */
export type View = {
  readonly seen: readonly Seen[];
  readonly isLast: boolean;
  readonly total?: number;
  readonly isOdd?: boolean;
  readonly isUncounted?: boolean;
};

export type Lookup<Op extends Operation> = {
  /** Where a new record would be, one page. */
  readonly page: (read: Read, input: Input<Op>, number: number) => Promise<View>;
  /** The answer shows nothing but an id. The list shows whose it is, and is read once more after an answer. */
  readonly isProvenByList?: true;
  /** The document promises that new records come first. Of any other list all pages are read. */
  readonly newestFirst?: boolean;
  /** How far a record agrees with what was sent, by what the list shows. */
  readonly compare: (record: Fields, input: Input<Op>) => Agreement;
  /** For what the list leaves out: the record itself, and how far that agrees. */
  readonly detail?: {
    readonly read: (read: Read, id: number) => Promise<Fields>;
    readonly compare: (record: Fields, input: Input<Op>) => Promise<Agreement>;
    /** A record that agrees in nothing that the list shows may agree in what it leaves out. */
    readonly mayAgree: (record: Fields, input: Input<Op>) => boolean;
  };
  /** How many records one write makes. */
  readonly count?: (input: Input<Op>) => number;
  /** What the service would have answered; the records are those that agree, as many as were sent, newest first. */
  readonly answer: (input: Input<Op>, ours: readonly Seen[]) => Findings;
  /** Where that is less than the likeness: what the answer shows, so that two at once could get each other's answer. */
  readonly shown?: (input: Input<Op>) => string;
  /** The same for all writes that one record may agree with. */
  readonly likeness: (input: Input<Op>) => string;
};

const summed = ({ telling, others }: Compared): Agreement => agreement(telling, others);

const found = (json: unknown): Findings => ({ found: json });

/** A list that came whole. One without an id that svc can read may be ours. */
const listOf = (records: readonly Fields[], of?: ResourceName): View => {
  // Messages are no resource of their own.
  const idField = (of && resources[of].idField) ?? 'id';
  const seen = records.map((record) => ({ id: Number(record[idField]), record })).filter(({ id }) => isId(id));
  return { seen, isLast: true, isOdd: seen.length < records.length };
};

type Meta = { readonly current_page?: number; readonly last_page?: number; readonly total?: number };

const pageOf = ({ seen, isOdd }: View, page: number, meta: Meta = {}): View => ({
  seen,
  isLast: page >= (meta.last_page ?? page),
  total: meta.total,
  isOdd:
    isOdd ||
    isUncounted(meta, seen.length) ||
    (meta.current_page ?? page) !== page ||
    seen.length < leastOn(meta, page, pageSize),
  isUncounted: isUncounted(meta, seen.length),
});

const isNewestFirst = ({ answer }: Operation): boolean => answer.shape === 'list' && answer.sortedBy === 'newest';

const pageSize = 100;

/** How each is looked up. Leaving one out does not compile. */
export const lookups: { readonly [Op in Verified as Op['id']]: Lookup<Op> } = {
  createContacts: {
    async page(read, _, page) {
      const { contacts, meta } = await read(listContacts, { query: { page, per_page: pageSize } });
      return pageOf(listOf(contacts, 'contacts'), page, meta);
    },
    newestFirst: isNewestFirst(listContacts),
    compare(record, { body }) {
      const all = rowsSent(body).map((row) => compareContact(record, row));
      return (['whole', 'part'] as const).find((one) => all.includes(one)) ?? 'none';
    },
    count: ({ body }) => rowsSent(body).length,
    answer(input, seen) {
      const { body } = input;
      const ours = inOrder(rowsSent(body), seen);
      // One transaction: all or none. A part means that somebody else is at work on the same rows.
      if (!ours) return { candidates: seen.map(({ id }) => id), because: 'in part' };
      const contacts = ours.map(({ id, record }) => ({ contact_id: id, name: String(record.name) }));
      return found({ contacts: 'contacts' in body ? contacts : contacts[0] });
    },
    shown: ({ body }) => likeness(...rowsSent(body).map(({ name }) => name)),
    likeness: ({ body }) => likeness(...rowsSent(body).map(({ email }) => email)),
  },

  createContactList: {
    isProvenByList: true,
    async page(read) {
      return listOf((await read(listContactLists, {})).data, 'lists');
    },
    compare: (record, { body }) =>
      agreement(
        [isSameText(record.name, body.name)],
        [
          isSameText(record.target_industry, body.target_industry),
          // The list need not show these.
          record.notes === undefined || isSameText(record.notes, body.notes),
          record.metadata === undefined || isSameValue(record.metadata, body.metadata ?? {}),
        ],
      ),
    answer: (_, [ours]) => found({ contact_list_id: ours?.id }),
    likeness: ({ body }) => likeness(body.name, body.target_industry),
  },

  createTicket: {
    async page(read, _, page) {
      const { tickets, meta } = await read(listTickets, { query: { page, per_page: pageSize } });
      return pageOf(listOf(tickets, 'tickets'), page, meta);
    },
    newestFirst: isNewestFirst(listTickets),
    compare: (record, input) => summed(ticketAsListed(record, input)),
    detail: {
      read: async (read, id) => (await read(getTicket, { params: { id } })).ticket,
      compare: async (record, input) => summed(ticketInFull(record, input)),
      mayAgree: ({ source }, { body }) => source === 'api' && body.description !== undefined,
    },
    answer: (_, [ours]) => found({ ticket: ours?.record }),
    likeness: ({ body }) => likeness(body.subject, body.description),
  },

  replyToTicket: {
    async page(read, { params }) {
      const { ticket } = await read(getTicket, { params });
      const messages = (ticket.messages ?? []).map((message) => ({ ...message, channel: ticket.reply_channel }));
      return listOf(messages.reverse());
    },
    compare: ({ direction, body: stored }, { body }) =>
      agreement([direction === 'out' && isAlikeRendered(stored, body.body)], [isSameRendered(stored, body.body)]),
    answer(_, [ours]) {
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
      return listOf(messages.reverse());
    },
    compare: ({ sender_type, body: stored }, { body }) =>
      agreement(
        [sender_type === 'operator' && isAlikeRendered(stored, body.body)],
        [isSameRendered(stored, body.body)],
      ),
    answer(_, [ours]) {
      const { id, sender_type, body, created_at, handling_mode } = ours?.record ?? {};
      return found({ message: { id, sender_type, body, created_at }, handling_mode });
    },
    likeness: ({ params, body }) => likeness(String(params.id), body.body),
  },

  createChangelogEntry: {
    async page(read, _, page) {
      const { entries, meta } = await read(listChangelog, { query: { page, per_page: pageSize } });
      return pageOf(listOf(entries, 'changelog'), page, meta);
    },
    newestFirst: isNewestFirst(listChangelog),
    compare: (record, input) => summed(entryAsListed(record, input)),
    detail: {
      read: async (read, id) => (await read(getChangelogEntry, { params: { id } })).entry,
      compare: async (record, input) => summed(await entryInFull(record, input)),
      mayAgree: () => true,
    },
    answer: (_, [ours]) => found({ entry: ours?.record }),
    shown: ({ body }) => likeness(body.title),
    likeness: ({ body }) => likeness(body.title, body.version),
  },

  createWebhook: {
    async page(read) {
      return listOf((await read(listWebhooks, {})).webhooks, 'subscriptions');
    },
    compare: (record, { body }) =>
      agreement([isSameUrl(record.target_url, body.target_url)], [record.event_type === body.event_type]),
    answer(_, ours) {
      // Its signing secret was shown only in the lost answer. The same connection may be at work elsewhere, so svc
      // does not delete it by guess.
      const candidates = ours.map(({ id }) => id);
      const { event_type, target_url } = ours[0]?.record ?? {};
      const again = `svc webhooks create ${shellWord(String(event_type))} ${shellWord(String(target_url))}`;
      return {
        candidates,
        because: 'useless',
        advice: `If nobody else made it, replace it: svc webhooks delete ${candidates[0]} && ${again}`,
      };
    },
    likeness: ({ body }) => likeness(body.event_type, address(body.target_url)),
  },
};

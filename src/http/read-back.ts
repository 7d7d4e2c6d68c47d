import { getChangelogEntry, listChangelog } from '../api/changelog.ts';
import { listContacts } from '../api/contacts.ts';
import { getConversation } from '../api/conversations.ts';
import type { Operations } from '../api/index.ts';
import { listContactLists } from '../api/lists.ts';
import type { Input, Operation, Output } from '../api/operation.ts';
import { getTicket, listTickets } from '../api/tickets.ts';
import { deleteWebhook, listWebhooks } from '../api/webhooks.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from './call.ts';
import { list } from './pages.ts';
import { wireOf } from './request.ts';
import { send } from './send.ts';
import { ageOf, anyOffset, narrow, type Offset, untilTellingMs } from './server-time.ts';

/** The operations whose lost answers are looked up before they are repeated. */
type Verified = Extract<Operations[keyof Operations], { safety: 'verify' }>;

/** Tells, of a record's `created_at`, whether it was made since our first attempt began. Throws where it cannot tell. */
type IsNew = (createdAt: unknown) => Promise<boolean>;

type Look<Op extends Operation> = {
  /** Read before the first attempt, for records that carry no date. */
  readonly before?: (service: Service) => Promise<ReadonlySet<number>>;
  readonly find: (
    service: Service,
    sent: Input<Op>,
    isNew: IsNew,
    before: ReadonlySet<number>,
  ) => Promise<Output<Op> | undefined>;
};

/** How each is looked up. Leaving one out does not compile. */
const looks: { readonly [Op in Verified as Op['id']]: Look<Op> } = {
  createContacts: {
    async find(service, { body }, isNew) {
      const batch = 'contacts' in body ? body.contacts : undefined;
      const wanted = (batch ?? [body]) as readonly Partial<NewContact>[];
      const made: { contact_id: number; name: string }[] = [];
      const fresh = await newest(service, listContacts, isNew);
      for (const row of [...wanted].reverse()) {
        const at = fresh.findIndex((contact) => isSameContact(contact, row));
        const [match] = at < 0 ? [] : fresh.splice(at, 1);
        if (match) made.unshift({ contact_id: match.contact_id as number, name: String(match.name) });
      }
      if (made.length === 0) return undefined;
      // One transaction: all or none. A part means that somebody else is at work on the same rows.
      if (made.length < wanted.length) throw unclear('only some of the contacts are there');
      const [first] = made;
      return first && { contacts: batch ? made : first };
    },
  },

  createContactList: {
    before: async (service) => new Set((await call(service, listContactLists, {})).data.map((l) => l.contacts_list_id)),
    async find(service, { body }, _isNew, before) {
      const { data } = await call(service, listContactLists, {});
      const found = data.find(
        (l) => !before.has(l.contacts_list_id) && l.name === body.name && l.target_industry === body.target_industry,
      );
      return found && { contact_list_id: found.contacts_list_id };
    },
  },

  createTicket: {
    async find(service, { body }, isNew) {
      for (const item of await newest(service, listTickets, isNew)) {
        if (item.source !== 'api' || item.subject !== body.subject) continue;
        const { ticket } = await call(service, getTicket, { params: { id: Number(item.id) } });
        const sameText = (ticket.description ?? '') === (body.description ?? '');
        const samePerson = (ticket.contact?.contact_id ?? undefined) === body.contact_id;
        if (sameText && samePerson && ticket.priority === (body.priority ?? 0)) return { ticket };
      }
      return undefined;
    },
  },

  replyToTicket: {
    async find(service, { params, body }, isNew) {
      const { ticket } = await call(service, getTicket, { params });
      for (const message of [...ticket.messages].reverse()) {
        if (message.direction !== 'out' || !isSameText(message.body, body.body)) continue;
        if (!(await isNew(message.created_at))) continue;
        const { id, created_at } = message;
        return { message: { id, channel: ticket.reply_channel, direction: 'out', body: message.body, created_at } };
      }
      return undefined;
    },
  },

  replyToConversation: {
    async find(service, { params, body }, isNew) {
      const { conversation } = await call(service, getConversation, { params });
      for (const message of [...conversation.messages].reverse()) {
        if (message.sender_type !== 'operator' || !isSameText(message.body, body.body)) continue;
        if (!(await isNew(message.created_at))) continue;
        const { id, sender_type, created_at } = message;
        return {
          message: { id, sender_type, body: message.body, created_at },
          handling_mode: conversation.handling_mode,
        };
      }
      return undefined;
    },
  },

  createChangelogEntry: {
    async find(service, { body }, isNew) {
      // The order of this list is not shown, so all of it is looked at.
      for await (const item of list(service, listChangelog, {}, { all: true }).records) {
        if (item.title !== body.title || (item.version ?? null) !== (body.version ?? null)) continue;
        if (!(await isNew(item.created_at))) continue;
        return call(service, getChangelogEntry, { params: { id: Number(item.id) } });
      }
      return undefined;
    },
  },

  createWebhook: {
    async find(service, { body }, isNew) {
      const { webhooks } = await call(service, listWebhooks, {});
      for (const hook of webhooks) {
        if (hook.event_type !== body.event_type || hook.target_url !== body.target_url) continue;
        // Its signing secret is shown once and went with the answer: it is of no use, so it is made again.
        if (await isNew(hook.created_at)) await call(service, deleteWebhook, { params: { webhook: hook.id } });
      }
      return undefined;
    },
  },
};

/** What `send` does after a lost answer of a `verify` operation. Reads what must be read before the first attempt. */
export async function lookFor<Op extends Operation>(
  service: Service,
  id: Op['id'],
  input: Input<Op>,
): Promise<(startedMs: number) => Promise<unknown>> {
  const look = looks[id as keyof typeof looks] as unknown as Look<Op>;
  const before = (await look.before?.(service)) ?? new Set<number>();
  return async (startedMs) => look.find(service, input, serverAge(service, startedMs), before);
}

/** A twin that was made less than this before our attempt is taken for ours; starting svc alone takes longer. */
const sharpMs = 150;
const samplesAtMost = 4;

/** Judges by the service's own `Date`, sharpened only while a record is so young that a second matters. */
function serverAge(service: Service, startedMs: number): IsNew {
  const { clock, signal } = service.ctx;
  let offset: Offset = anyOffset;
  return async (createdAt) => {
    const age = () => ageOf(String(createdAt), startedMs, offset);
    if (offset === anyOffset) offset = narrow(offset, await sample(service));
    for (let i = 0; i < samplesAtMost && canSharpen(String(createdAt), offset) && age() === 'unclear'; i++) {
      await clock.sleep(untilTellingMs(clock.now().getTime(), offset), signal);
      offset = narrow(offset, await sample(service));
    }
    return age() !== 'older';
  };
}

/** A time in whole seconds stays unclear, however exactly the clocks are compared. */
const canSharpen = (createdAt: string, { low, high }: Offset): boolean =>
  Date.parse(createdAt) % 1000 !== 0 && high - low > sharpMs;

async function sample(service: Service) {
  const { clock } = service.ctx;
  const wire = wireOf(listContactLists, {});
  const sentMs = clock.now().getTime();
  // Any valid token may read the contact lists, so this works for every credential and scope.
  const sent = await send(service, listContactLists, wire);
  const receivedMs = clock.now().getTime();
  const dateMs = sent.how === 'answered' ? Date.parse(sent.response.headers.date ?? '') : Number.NaN;
  if (Number.isNaN(dateMs)) throw unclear('the service does not tell its time');
  return { sentMs, receivedMs, dateMs };
}

type NewContact = { name: string; last_name: string; email: string; phone: string };

const isSameContact = (contact: Readonly<Record<string, unknown>>, row: Partial<NewContact>): boolean =>
  contact.email === row.email &&
  contact.name === row.name &&
  (row.last_name === undefined || contact.last_name === row.last_name);

const isSameText = (stored: string, sent: string): boolean => stored.trim() === sent.trim();

/** Records of a newest-first list that were made since the first attempt. */
async function newest(service: Service, operation: typeof listContacts | typeof listTickets, isNew: IsNew) {
  const found: Record<string, unknown>[] = [];
  for await (const record of list(service, operation as Operation, {} as Input<Operation>, { all: true }).records) {
    if (!(await isNew(record.created_at))) break;
    found.push({ ...record });
  }
  return found;
}

const unclear = (why: string): Failure => new Failure('unknown', `It cannot be told apart: ${why}.`);

import { operationNamed, takes } from '../api/takes.ts';
import { personOf } from '../command/seed.ts';
import { byAge } from '../text/by-age.ts';
import { hexDigestOf } from '../text/digest.ts';
import { type Fields, fieldsIn, isRecord, recordsIn, textIn } from '../text/record.ts';
import type { Seen } from './draft.ts';

/** What a send is judged and drafted by. */
export type About = {
  readonly operation: string;
  /** Undefined: nobody, as of a note. */
  readonly hearers: 'customer' | 'public' | undefined;
  readonly body: unknown;
  /** Undefined where it is not there or may not be read. */
  readonly record: Fields | undefined;
};

const unseen: Seen = {
  to: null,
  recipient: null,
  channel: null,
  status: null,
  number: null,
  subject: null,
  answers: null,
  content: null,
};

/** What is seen of the thread, the entry or the contact that a send is about. */
export function seenOf(about: About): Seen {
  const { hearers, body, record } = about;
  if (hearers === 'public') return seenOfEntry(body, record);
  const contact = contactIn(about);
  if (!record && !isRecord(contact)) return unseen;
  const messages = recordsIn(record?.messages);
  const newest = messages.toSorted(byAge()).at(-1);
  return {
    ...unseen,
    ...(hearers !== undefined && {
      to: nameOf(contact),
      recipient: recipientOf(contact),
      channel: textIn(record?.reply_channel) ?? textIn(record?.channel) ?? null,
    }),
    status: textIn(record?.status) ?? null,
    number: textIn(record?.ticket_number) ?? null,
    subject: textIn(record?.subject) ?? null,
    answers: newest ? { message_id: idOf(newest), created_at: textIn(newest.created_at) ?? '' } : null,
    messages: messages.length,
  };
}

/** Who gets it by the record; by the request only where that is what the request says: elsewhere it is one more field. */
export function contactIn({ operation: id, body, record }: Pick<About, 'operation' | 'body' | 'record'>): unknown {
  if (record) return record.contact;
  const operation = operationNamed(id);
  return operation && takes(operation, 'contact') ? fieldsIn(body).contact : undefined;
}

const idOf = (record: Fields | undefined): number => (typeof record?.id === 'number' ? record.id : 0);

function seenOfEntry(body: unknown, record: Fields | undefined): Seen {
  const { status, title, content_html: content, labels, version } = record ?? {};
  return {
    ...unseen,
    to: 'the public',
    recipient: 'public',
    channel: 'changelog',
    status: textIn(status) ?? null,
    subject: textIn(fieldsIn(body).title) ?? textIn(title) ?? null,
    content: record ? hexDigestOf(JSON.stringify([title, content, labels, version])).slice(0, 16) : null,
  };
}

const fieldOf = (contact: unknown, name: string): string => textIn(fieldsIn(contact)[name]) ?? '';

function nameOf(contact: unknown): string {
  if (!isRecord(contact)) return 'an anonymous visitor';
  const of = (name: string) => fieldOf(contact, name);
  return personOf({ name: of('name'), last_name: of('last_name'), email: of('email'), phone: of('phone') }, 'somebody');
}

const recipientOf = (contact: unknown): string =>
  JSON.stringify([fieldsIn(contact).contact_id ?? null, fieldOf(contact, 'email'), fieldOf(contact, 'phone')]);

/** The id of the contact in what `recipientOf` made; undefined of nobody known. */
export function contactOf({ recipient }: Pick<Seen, 'recipient'>): number | undefined {
  const [, id] = /^\[(\d+),/u.exec(recipient ?? '') ?? [];
  return id === undefined ? undefined : Number(id);
}

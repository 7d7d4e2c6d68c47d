import * as v from 'valibot';
import { listContacts, SyncContact, syncChunkSize, syncContacts } from '../api/contacts.ts';
import type { Schema } from '../api/operation.ts';
import { fieldsOf } from '../api/shape.ts';
import type { Body, RowOf } from '../command/row.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call.ts';
import { list } from '../http/pages.ts';
import { counted } from '../text/number.ts';
import { fieldsIn } from '../text/record.ts';

/** The person of a row, as the row has them. */
export type Requester = { readonly email: string } & Readonly<Record<string, unknown>>;

const Person = v.pick(SyncContact, ['email', 'name', 'last_name', 'phone']);

/** The row with columns for its requester: `contact` (an email), `contact.name`, `contact.last_name`, `contact.phone`. */
export function withRequester(row: RowOf): RowOf {
  const schema = (row.body ?? row.operation.body) as v.ObjectSchema<v.ObjectEntries, undefined>;
  const body: Schema = v.object({ ...schema.entries, contact: v.optional(Person) });
  const places = Object.keys(fieldsOf(Person)).map((field) => [`contact_${field}`, `contact.${field}`]);
  return { ...row, body, places: { ...row.places, contact: 'contact.email', ...Object.fromEntries(places) } };
}

/** Parts the requester from the body. Ids are of contacts that are there. */
export function withoutRequester(body: Body): { readonly body: Body; readonly requester?: Requester } {
  const { contact, ...rest } = body;
  if (contact === undefined) return { body };
  const { email, ...fields } = fieldsIn(contact);
  return { body: rest, requester: { ...fields, email: keyOf(String(email)) } };
}

const keyOf = (email: string): string => email.normalize('NFC').trim().toLowerCase();

export type IdOfRequester = (requester: Requester) => number;

/**
 * Makes the contacts that are not there yet, each email once, and tells the id of each. They go through the endpoint that
 * matches by email, for which twice is once: neither a lost answer nor a second run makes one twice.
 */
export async function requestersIn(service: Service, wanted: readonly Requester[]): Promise<IdOfRequester> {
  const byEmail = new Map<string, Requester>();
  for (const { email, ...fields } of wanted) byEmail.set(email, { ...fields, ...byEmail.get(email), email });
  if (byEmail.size === 0) return () => Number.NaN;
  let found = await idsOf(service, byEmail);
  const missing = [...byEmail.values()].filter(({ email }) => !found.has(email));
  const refused = new Map<string, string>();
  for (let at = 0; at < missing.length; at += syncChunkSize) {
    const contacts = missing.slice(at, at + syncChunkSize);
    service.ctx.progress(`Making ${counted(missing.length, 'contact')}`, 'work');
    const answer = await call(service, syncContacts, { body: { contacts } }, { maxWaitMs: Number.POSITIVE_INFINITY });
    for (const { index, error } of answer?.errors ?? []) refused.set(contacts[index]?.email ?? '', error);
  }
  if (missing.length > 0) {
    found = await idsOf(service, byEmail);
    const made = missing.filter(({ email }) => found.has(email)).length;
    service.ctx.notice(`${counted(made, 'contact')} made for the rows that name them.`);
  }
  service.ctx.progress(undefined, 'work');
  return ({ email }) => {
    const [id, ...others] = found.get(email) ?? [];
    if (id !== undefined && others.length === 0) return id;
    const all = [id, ...others].join(', ');
    const why =
      id === undefined
        ? `could not be made: ${refused.get(email) ?? 'the service does not show it'}`
        : `is that of several: ${all}`;
    throw new Failure('rejected', `The contact ${email} ${why}.`);
  };
}

async function idsOf(service: Service, wanted: ReadonlyMap<string, unknown>): Promise<Map<string, number[]>> {
  const ids = new Map<string, number[]>();
  service.ctx.progress(`Looking up ${counted(wanted.size, 'contact')}`, 'work');
  for await (const { email, contact_id: id } of list(service, listContacts, {}, { all: true }).records) {
    const key = typeof email === 'string' ? keyOf(email) : '';
    if (wanted.has(key) && typeof id === 'number') ids.set(key, [...(ids.get(key) ?? []), id]);
  }
  return ids;
}

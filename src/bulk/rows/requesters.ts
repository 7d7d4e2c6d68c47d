import * as v from 'valibot';
import { listContacts, SyncContact, syncChunkSize, syncContacts } from '../../api/contacts.ts';
import type { Schema } from '../../api/operation.ts';
import { fieldsOf } from '../../api/shape.ts';
import type { Body, RowOf } from '../../command/row.ts';
import { Failure } from '../../errors.ts';
import { call, patience, type Service } from '../../http/call/call.ts';
import { largestPage, list } from '../../http/call/pages.ts';
import { counted, number } from '../../text/number.ts';
import { fieldsIn } from '../../text/record.ts';
import type { Columns } from './columns.ts';
import type { Requester, RowInput } from './row-input.ts';
import { folded } from './values.ts';

const Person = v.pick(SyncContact, ['email', 'name', 'last_name', 'phone']);

/** The row with columns for its requester: `contact` (an email), `contact.name`, `contact.last_name`, `contact.phone`. */
export function withRequester(row: RowOf): RowOf {
  const schema = (row.body ?? row.operation.body) as v.ObjectSchema<v.ObjectEntries, undefined>;
  const body: Schema = v.object({ ...schema.entries, contact: v.optional(Person) });
  const places = Object.keys(fieldsOf(Person)).map((field) => [`contact_${field}`, `contact.${field}`]);
  return { ...row, body, places: { ...row.places, contact: 'contact.email', ...Object.fromEntries(places) } };
}

/** Whether a column fills the requester, or the email by which the contact is found. */
export const namesSomebody = ({ requester }: RowOf, targets: Columns['targets']): boolean =>
  targets.some((target) => target?.field && [requester, 'contact.email'].includes(target.field.path));

/** With --create-contacts somebody has to be named: without it every ticket would be without a requester. */
export function refuseNobody(row: RowOf, { targets }: Columns, given: Body): void {
  if ((row.requester ?? '') in given || namesSomebody(row, targets)) return;
  throw new Failure('usage', '--create-contacts: no column holds the email of the requester.', {
    hint: 'Name it: --map "COLUMN=contact.email"',
  });
}

/** What a preview says where some rows name a requester and others do not. */
export function anonymousNotes({ row, columns, anonymous, sendable }: AnonymousRows): string[] {
  if (row.requester === undefined || !namesSomebody(row, columns.targets) || anonymous === 0) return [];
  return [
    `${number(anonymous)} of ${counted(sendable, 'ticket')} would have no requester: the row names nobody by email.`,
  ];
}

type AnonymousRows = {
  readonly row: RowOf;
  readonly columns: Columns;
  readonly anonymous: number;
  readonly sendable: number;
};

/** Parts the requester from the body. Ids are of contacts that are there. */
export function withoutRequester(body: Body): { readonly body: Body; readonly requester?: Requester } {
  const { contact, ...rest } = body;
  if (contact === undefined) return { body };
  const { email, ...fields } = fieldsIn(contact);
  return { body: rest, requester: { ...fields, email: folded(String(email)) } };
}

/** The contacts of the account by email, and those that rows bring along. */
export type Requesters = Awaited<ReturnType<typeof openRequesters>>;

export async function openRequesters(service: Service) {
  const refused = new Map<string, string>();
  const { byEmail: found, known } = await idsByEmail(service);
  const pages = Math.max(1, Math.ceil(known.size / largestPage));
  let count = 0;
  return {
    /** How many this run has made: they are there, whatever becomes of the rows. */
    made: () => count,
    /** How many requests a run needs for them: to read the contacts, to make those, and to read the new ones. */
    cost(wanted: readonly Requester[]) {
      const news = new Set(wanted.map(({ email }) => email)).size;
      return news === 0 ? pages : pages + Math.ceil(news / syncChunkSize) + Math.ceil((news + 1) / largestPage);
    },
    /** `new`: no contact has the email, and none was made yet. */
    idOf(email: string) {
      const [id, ...others] = found.get(email) ?? [];
      const why = refused.get(email);
      if (id === undefined)
        return why === undefined ? 'new' : { problem: `${email}: no contact could be made: ${why}` };
      return others.length === 0
        ? id
        : { problem: `${email}: several contacts have it: ${[id, ...others].join(', ')}` };
    },
    /**
     * Makes the contacts, each email once. They go through the endpoint that matches by email, for which twice is once:
     * neither a lost answer nor a second run makes one twice.
     */
    async make(wanted: readonly Requester[]) {
      const byEmail = new Map<string, Requester>();
      // Of several rows the first that gives a field counts.
      for (const one of wanted) byEmail.set(one.email, { ...one, ...byEmail.get(one.email) });
      const all = [...byEmail.values()];
      for (let at = 0; at < all.length; at += syncChunkSize) {
        const contacts = all.slice(at, at + syncChunkSize);
        service.ctx.progress(`Making ${counted(all.length, 'contact')}`, 'work');
        const answer = await call(service, syncContacts, { body: { contacts } }, patience(service));
        for (const { index, error } of answer?.errors ?? []) refused.set(contacts[index]?.email ?? '', error);
      }
      // New contacts come first: what was there is not read once more, unless one of them is not seen so.
      await addNew(service, { byEmail: found, known });
      if (all.some(({ email }) => !found.has(email) && !refused.has(email)))
        for (const [email, ids] of (await idsByEmail(service)).byEmail) found.set(email, ids);
      count = all.filter(({ email }) => found.has(email)).length;
      for (const { email } of all) if (!found.has(email) && !refused.has(email)) refused.set(email, 'it is not there');
      service.ctx.notice(`${counted(count, 'contact')} created, for rows that name them.`);
    },
  };
}

/** The contacts of the account: their ids by email, and all ids. */
type Contacts = { readonly byEmail: Map<string, readonly number[]>; readonly known: Set<number> };

async function idsByEmail(service: Service): Promise<Contacts> {
  const contacts: Contacts = { byEmail: new Map(), known: new Set() };
  await addNew(service, contacts);
  return contacts;
}

/** Reads the list, newest first, as far as it is not known. */
async function addNew(service: Service, { byEmail, known }: Contacts): Promise<void> {
  const before = new Set(known);
  service.ctx.progress('Reading the contacts', 'work');
  for await (const { email, contact_id: id } of list(service, listContacts, {}, { all: true }).records) {
    if (typeof id !== 'number') continue;
    if (before.has(id)) break;
    known.add(id);
    if (typeof email !== 'string' || email === '') continue;
    const key = folded(email);
    byEmail.set(key, [...(byEmail.get(key) ?? []), id]);
  }
  service.ctx.progress(undefined, 'work');
}

/** The contacts of the rows that can be sent and name somebody who is not there. */
export async function newRequesters(
  batches: AsyncIterable<readonly { readonly input: RowInput }[]>,
): Promise<readonly Requester[]> {
  const wanted: Requester[] = [];
  for await (const batch of batches) wanted.push(...batch.flatMap(({ input }) => input.requester ?? []));
  return wanted;
}

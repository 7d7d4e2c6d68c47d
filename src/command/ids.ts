import { getContact } from '../api/contacts.ts';
import { resources } from '../api/resources.ts';
import { listTickets } from '../api/tickets.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call/call.ts';
import { list } from '../http/call/pages.ts';
import { insteadOf } from '../promise/instead-of.ts';
import { fullName } from '../text/full-name.ts';
import { sanitize } from '../text/sanitize.ts';
import { shellWord } from '../text/shell-word.ts';
import { contactsWhere, type FoundContact, hasEmail } from './find-contacts.ts';
import type { Named } from './named.ts';
import { nameIn, numberKey, withoutSign } from './pasted.ts';

/**
 * Contacts of the copy of the account that the text finds, and words for where they are from; undefined where the service
 * has to be asked.
 */
export type FindInCopy = (
  service: Service,
  text: string,
) => Promise<{ readonly contacts: readonly unknown[]; readonly from: string } | undefined>;

/** The id of the one record with that email or number. A copy of the account is asked for emails before the service. */
export async function idOf(service: Service, record: Named, typed: string, inCopy: FindInCopy): Promise<number> {
  const name = typed.trim();
  const found = record === 'contacts' ? await contactsWith(service, name, inCopy) : await ticketsWith(service, name);
  service.ctx.progress(undefined);
  const [only, ...others] = found;
  if (!only) {
    const meant = /^#\d+$/u.test(name) ? await ticketNumbered(service, name.slice(1)) : nameIn(record, name);
    const isOther = meant !== undefined && meant.toLowerCase() !== numberKey(name);
    throw new Failure('not-found', `No ${resources[record].noun} has ${words[record]} ${name}.`, {
      hint: isOther ? meantHint(service, record, meant) : searches[record](name),
    });
  }
  if (others.length === 0) return only.id;
  throw new Failure('usage', `${found.length} ${record} have ${words[record]} ${name}; nothing was changed.`, {
    hint: sanitize(`Name one by its id: ${found.map(({ id, about }) => `${id} (${about})`).join(', ')}`),
  });
}

/** A command that needs no more than the record as it is typed. */
function meantHint({ ctx }: Service, record: Named, meant: string): string {
  const command = `${record} get`;
  return ctx.origin?.command === command
    ? `Did you mean: svc ${command} ${shellWord(meant)}`
    : `Did you mean ${meant}?`;
}

const words: Record<Named, string> = { contacts: 'the email', tickets: 'the number' };

const searches: Record<Named, (name: string) => string> = {
  contacts: (email) => `To look for a part of it: svc contacts find ${shellWord(email.split('@')[0] ?? email)}`,
  tickets: (number) => `To look for it in subjects too: svc tickets list --search ${shellWord(number)}`,
};

type Found = { readonly id: number; readonly about: string };

const foundContact = (contact: FoundContact): Found => ({
  id: contact.contact_id,
  about: fullName(contact) || 'no name',
});

async function contactsWith(service: Service, email: string, inCopy: FindInCopy): Promise<Found[]> {
  const copied = await contactsInCopy(service, email, inCopy);
  if (copied && copied.length > 0) return copied;
  const found: Found[] = [];
  for await (const contact of contactsWhere(service, hasEmail(email), email, { isInCopy: !copied })) {
    found.push(foundContact(contact));
  }
  return found;
}

/**
 * Those of the copy, none where it does not know; undefined where there is no copy to ask. The one contact that it names is read, which is one request:
 * an address that went to somebody else since must not show or change the wrong contact.
 */
async function contactsInCopy(service: Service, email: string, inCopy: FindInCopy): Promise<Found[] | undefined> {
  const { ctx } = service;
  const copied = await inCopy(service, email);
  // What the copy keeps is what the service sent.
  const contacts = ((copied?.contacts ?? []) as readonly FoundContact[]).filter(hasEmail(email));
  const [only, ...others] = contacts;
  if (only && others.length === 0 && !(await stillHas(service, only.contact_id, email))) return [];
  if (copied && !only) ctx.notice(`The copy has no contact with the email ${email}. Asking the service.`);
  if (copied && only) ctx.notice(`The ${others.length === 0 ? 'id is' : 'ids are'} ${copied.from}`);
  return copied && contacts.map(foundContact);
}

export async function stillHas(service: Service, id: number, email: string): Promise<boolean> {
  const answer = await call(service, getContact, { params: { id } }).catch(insteadOf(['not-found'], undefined));
  return answer !== undefined && hasEmail(email)(answer.contact as FoundContact);
}

/** `q` also finds T-1008 for T-100, and subjects: only the number itself counts. */
async function ticketsWith(service: Service, number: string): Promise<Found[]> {
  const { records } = list(service, listTickets, { query: { q: withoutSign(number) } }, { all: true });
  service.ctx.progress(`Looking for ticket ${number}`);
  const found: Found[] = [];
  for await (const { id, ticket_number, subject } of records) {
    const isIt = numberKey(String(ticket_number)) === numberKey(number);
    if (isIt && typeof id === 'number') found.push({ id, about: String(subject) });
  }
  return found;
}

/** Of `#1008` the number T-1008, where a ticket has it: people mean that, and svc guesses at nothing. Else it is an id. */
async function ticketNumbered(service: Service, digits: string): Promise<string> {
  for await (const { ticket_number } of list(service, listTickets, { query: { q: digits } }, { all: true }).records) {
    if (String(ticket_number).replace(/^\D+/u, '') === digits) return String(ticket_number);
  }
  return digits;
}

/** So many are searched for one by one; for more, the whole list is read once. */
const mostSearches = 10;

/** Ids of tickets by number, of those that are wanted; each is looked up once. `onRead` hears how far it is. */
export async function ticketsByNumber(
  service: Service,
  wanted: ReadonlySet<string>,
  onRead: (count: number) => void,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const found = new Map<string, number[]>([...wanted].map((number) => [numberKey(number), []]));
  const queries =
    wanted.size > mostSearches ? [{}] : [...wanted].map((number) => ({ query: { q: withoutSign(number) } }));
  const seen = new Set<number>();
  for (const query of queries) {
    for await (const { id, ticket_number } of list(service, listTickets, query, { all: true }).records) {
      if (typeof id !== 'number' || seen.has(id)) continue;
      seen.add(id);
      found.get(numberKey(String(ticket_number)))?.push(id);
      if (seen.size % 100 === 0) onRead(seen.size);
    }
  }
  return found;
}

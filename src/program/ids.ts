import { getContact } from '../api/contacts.ts';
import { listTickets } from '../api/tickets.ts';
import { contactsWhere, type FoundContact, hasEmail } from '../command/find-contacts.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call.ts';
import { list } from '../http/pages.ts';
import { shellWord } from '../text/shell-word.ts';

/** Records that people know by another name than their id. */
export type Named = 'contacts' | 'tickets';

/** The id of the one record with that email or number. A copy of the account is asked for emails before the service. */
export async function idOf(service: Service, record: Named, typed: string): Promise<number> {
  const name = typed.trim();
  const found = record === 'contacts' ? await contactsWith(service, name) : await ticketsWith(service, name);
  service.ctx.progress(undefined);
  const [only, ...others] = found;
  if (!only) {
    throw new Failure('not-found', nothing[record](name), { hint: searches[record](name) });
  }
  if (others.length === 0) return only.id;
  throw new Failure('usage', `${found.length} ${record} have ${words[record]} ${name}; nothing was changed.`, {
    hint: `Name one by its id: ${found.map(({ id, about }) => `${id} (${about})`).join(', ')}`,
  });
}

const words: Record<Named, string> = { contacts: 'the email', tickets: 'the number' };

const nothing: Record<Named, (name: string) => string> = {
  contacts: (email) => `No contact has the email ${email}.`,
  tickets: (number) => `No ticket has the number ${number}.`,
};

const searches: Record<Named, (name: string) => string> = {
  contacts: (email) => `To look for a part of it: svc contacts find ${shellWord(email.split('@')[0] ?? email)}`,
  tickets: (number) => `To look for it in subjects too: svc tickets list --search ${shellWord(number)}`,
};

type Found = { readonly id: number; readonly about: string };

async function contactsWith(service: Service, email: string): Promise<Found[]> {
  const copied = await contactsInCopy(service, email);
  if (copied.length > 0) return copied;
  const found: Found[] = [];
  for await (const contact of contactsWhere(service, hasEmail(email), email)) {
    found.push({ id: contact.contact_id, about: fullName(contact) });
  }
  return found;
}

/**
 * Those of the copy; none where the service has to be asked. The one contact that it names is read, which is one request:
 * an address that went to somebody else since must not change the wrong contact.
 */
async function contactsInCopy(service: Service, email: string): Promise<Found[]> {
  const { ctx, settings } = service;
  const { findContacts, fromContactsCopy } = await import('../mirror/find.ts');
  const copied = await fromContactsCopy(ctx, settings, ({ store, account }) => findContacts(store, account, email));
  // What the copy keeps is what the service sent.
  const contacts = ((copied?.contacts ?? []) as readonly FoundContact[]).filter(hasEmail(email));
  const [only, ...others] = contacts;
  if (only && others.length === 0 && !(await stillHas(service, only.contact_id, email))) return [];
  if (copied && !only) ctx.notice(`It has no contact with the email ${email}. Asking the service.`);
  return contacts.map((contact) => ({ id: contact.contact_id, about: fullName(contact) }));
}

async function stillHas(service: Service, id: number, email: string): Promise<boolean> {
  try {
    return hasEmail(email)((await call(service, getContact, { params: { id } })).contact as FoundContact);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not-found') return false;
    throw error;
  }
}

const fullName = ({ name, last_name }: FoundContact): string =>
  [name, last_name].filter(Boolean).join(' ') || 'no name';

/** `q` also finds T-1008 for T-100, and subjects: only the number itself counts. */
async function ticketsWith(service: Service, number: string): Promise<Found[]> {
  const { records } = list(service, listTickets, { query: { q: number } }, { all: true });
  service.ctx.progress(`Looking for ticket ${number}`);
  const found: Found[] = [];
  for await (const { id, ticket_number, subject } of records) {
    const isIt = String(ticket_number).toLowerCase() === number.toLowerCase();
    if (isIt && typeof id === 'number') found.push({ id, about: String(subject) });
  }
  return found;
}

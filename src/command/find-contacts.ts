import { listContacts } from '../api/contacts.ts';
import type { Output } from '../api/operation.ts';
import type { Service } from '../http/call.ts';
import { list } from '../http/pages.ts';

type Page = Output<typeof listContacts>;
export type FoundContact = Page['contacts'][number];

/** The service has no search over contacts, so every page is read. `fits` judges one; progress says how far it is. */
export async function* contactsWhere(
  service: Service,
  fits: (contact: FoundContact) => boolean,
  what: string,
): AsyncGenerator<FoundContact> {
  const { progress } = service.ctx;
  progress(`Looking for ${what}`);
  const listing = list(service, listContacts, {}, { all: true });
  let read = 0;
  for await (const record of listing.records) {
    if (++read % 100 === 0) progress(`Looking for ${what}: ${read} of ${listing.seen().total ?? '?'} contacts`);
    // The records are judged by the table where the page is read.
    const contact = record as FoundContact;
    if (fits(contact)) yield contact;
  }
  progress(undefined);
}

/** Those that came after the one with that id. The service lists the newest first, so that takes one request as a rule. */
export async function* newerContacts(
  service: Service,
  newest: number,
  fits: (contact: FoundContact) => boolean,
): AsyncGenerator<FoundContact> {
  for await (const record of list(service, listContacts, {}, { all: true, isLeftEarly: true }).records) {
    const contact = record as FoundContact;
    if (contact.contact_id <= newest) return;
    if (fits(contact)) yield contact;
  }
}

/** As the service itself compares addresses: without regard to case. */
export const hasEmail =
  (email: string) =>
  (contact: FoundContact): boolean =>
    folded(contact.email) === folded(email);

/** Part of the email, the name, the phone (its digits) or the company. */
export function mentions(text: string): (contact: FoundContact) => boolean {
  const wanted = folded(text);
  const digits = /^[+\d\s().-]+$/u.test(text) ? text.replaceAll(/\D/gu, '') : '';
  return ({ email, name, last_name, phone, company }) =>
    [email, `${folded(name)} ${folded(last_name)}`, company, phone].some((value) => folded(value).includes(wanted)) ||
    (digits.length > 2 && folded(phone).replaceAll(/\D/gu, '').includes(digits));
}

const folded = (value: unknown): string =>
  typeof value === 'string' ? value.trim().normalize('NFC').toLowerCase() : '';

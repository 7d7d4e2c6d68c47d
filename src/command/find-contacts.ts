import { listContacts } from '../api/contacts.ts';
import type { Output } from '../api/operation.ts';
import type { Service } from '../http/call/call.ts';
import { largestPage, list } from '../http/call/pages.ts';
import { requestsPerMinute } from '../http/exchange/limiter.ts';
import { number } from '../text/number.ts';

export type FoundContact = Output<typeof listContacts>['contacts'][number];

/**
 * The service has no search over contacts, so every page is read. `fits` judges one; progress says how far it is.
 * `isInCopy`: a copy of the account would answer the same question.
 */
export async function* contactsWhere(
  service: Service,
  fits: (contact: FoundContact) => boolean,
  what: string,
  { isInCopy = false }: { readonly isInCopy?: boolean } = {},
): AsyncGenerator<FoundContact> {
  const { progress } = service.ctx;
  const why = `Looking for ${what}`;
  progress(why, 'work');
  const listing = list(service, listContacts, {}, { all: true, why });
  let read = 0;
  for await (const record of listing.records) {
    if (++read === 1 && isInCopy) adviseCopy(service, listing.seen().total);
    // The records are judged by the table where the page is read.
    const contact = record as FoundContact;
    if (fits(contact)) yield contact;
  }
}

/** Said before the first wait for the limit. With --live the service is asked on purpose. */
function adviseCopy({ ctx, settings }: Service, total = 0): void {
  const pages = Math.ceil(total / largestPage);
  if (pages <= requestsPerMinute || settings.live) return;
  const minutes = number(Math.floor((pages - 1) / requestsPerMinute));
  ctx.notice(
    `Reading ${number(total)} contacts in ${number(pages)} requests takes about ${minutes} min. A copy answers at once: svc mirror pull --only contacts`,
  );
}

/** Those that came after the `newest` known ones. The service lists the newest first, so that takes one request as a rule. */
export async function* newerContacts(
  service: Service,
  newest: ReadonlySet<number>,
  fits: (contact: FoundContact) => boolean,
): AsyncGenerator<FoundContact> {
  for await (const record of list(service, listContacts, {}, { all: true, isLeftEarly: true }).records) {
    const contact = record as FoundContact;
    if (newest.has(contact.contact_id)) return;
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
    hasDigits(folded(phone).replaceAll(/\D/gu, ''), digits);
}

/** `01714000055` without its zero, as it ends behind the code of any country; undefined for what is no national number. */
export const nationalEnd = (digits: string): string | undefined => /^0([1-9]\d{5,})$/u.exec(digits)?.[1];

/** Of a phone's digits and those that are looked for. */
export function hasDigits(phone: string, digits: string): boolean {
  const end = nationalEnd(digits);
  return digits.length > 2 && (phone.includes(digits) || (end !== undefined && phone.endsWith(end)));
}

const folded = (value: unknown): string =>
  typeof value === 'string' ? value.trim().normalize('NFC').toLowerCase() : '';

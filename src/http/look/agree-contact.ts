import type { NewContactRow } from '../../api/contacts.ts';
import type { Part } from '../../api/operation.ts';
import type { Fields } from '../../text/record.ts';
import { type Agreement, agreement, isSameEmail, isSamePhone, isSameText, isSameUrl, isSameValue } from './agree.ts';

export type Row = Part<typeof NewContactRow>;

/** `svc api` sends any JSON: only a list of objects holds rows. */
export function rowsSent(body: object): Row[] {
  if (!('contacts' in body)) return [body];
  return Array.isArray(body.contacts) ? body.contacts.filter((row) => typeof row === 'object' && row !== null) : [];
}

/** Which fields a row of a batch needs is not described (service.md#contacts-4), so what it leaves out of those the service may have filled in. */
export function compareContact(contact: Fields, row: Row): Agreement {
  const isSameName = isSameText(contact.name, row.name);
  const isSameLastName = row.last_name === undefined || isSameText(contact.last_name, row.last_name);
  const isNamed = row.name !== undefined && row.last_name !== undefined && isSameName && isSameLastName;
  const isEmail = isSameEmail(contact.email, row.email);
  const isPhone = row.phone === undefined || isSamePhone(contact.phone, row.phone);
  return agreement([row.email !== undefined && isEmail, row.phone !== undefined && isPhone, isNamed].filter(Boolean), [
    isSameName,
    isSameLastName,
    isEmail,
    isPhone,
    isSameText(contact.company, row.company),
    isSameUrl(contact.website, row.website),
    isSameText(contact.country, row.country),
    isSameValue(contact.metadata, row.metadata ?? {}),
  ]);
}

/** A record for each row, in the order of the rows; undefined where one has none. The newest record comes first. */
export function inOrder<Seen extends { readonly record: Fields }>(
  rows: readonly Row[],
  seen: readonly Seen[],
): Seen[] | undefined {
  const left = [...seen];
  const ours: Seen[] = [];
  for (const row of [...rows].reverse()) {
    const at = left.findIndex(({ record }) => compareContact(record, row) === 'whole');
    if (at < 0) return undefined;
    ours.unshift(...left.splice(at, 1));
  }
  return ours;
}

import { listContacts } from '../api/contacts.ts';
import type { Service } from '../http/call.ts';
import { list } from '../http/pages.ts';
import type { Resolve } from './inputs.ts';

export const emailKey = (email: string): string => email.normalize('NFC').trim().toLowerCase();

/** Ids of contacts by email, of those that are wanted. The one place that knows where they come from. */
export async function contactsByEmail(
  service: Service,
  wanted: ReadonlySet<string>,
  onRead: (count: number) => void,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const found = new Map<string, number[]>();
  let count = 0;
  for await (const record of list(service, listContacts, {}, { all: true }).records) {
    if (++count % 100 === 0) onRead(count);
    if (typeof record.email !== 'string' || typeof record.contact_id !== 'number') continue;
    const key = emailKey(record.email);
    if (wanted.has(key)) found.set(key, [...(found.get(key) ?? []), record.contact_id]);
  }
  return found;
}

/** No contact and several contacts are errors of the row. */
export const byEmail =
  (found: ReadonlyMap<string, readonly number[]>): Resolve =>
  (cell) => {
    const [id, ...others] = found.get(emailKey(cell)) ?? [];
    if (id === undefined) return { problem: `${cell} is no contact's` };
    return others.length === 0 ? id : { problem: `${cell} is that of several contacts: ${[id, ...others].join(', ')}` };
  };

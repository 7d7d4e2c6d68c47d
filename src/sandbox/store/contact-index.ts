import type { Row } from './records.ts';

/** What finds contacts sooner than a look at each. */
export type ContactIndex = {
  /** Ids that the API shows, oldest first, by account. */
  readonly shown: Map<number, number[]>;
  /** Ids by account and address or phone, oldest first. */
  readonly byEmail: Map<string, number[]>;
  readonly byPhone: Map<string, number[]>;
};

export const emailKey = (account: number, email: string): string => `${account} ${email.trim().toLowerCase()}`;

export const phoneKey = (account: number, phone: string): string => `${account} ${phone}`;

/** Notes a contact that was put, in place of how it was before. */
export function reindex(index: ContactIndex, before: Row<'contacts'> | undefined, after: Row<'contacts'>): void {
  const { contact_id, account_id } = after;
  if (!after.shadow && (before?.shadow ?? true)) insert(index.shown, account_id, contact_id);
  const found = (by: typeof emailKey, value = '') => (value === '' ? undefined : by(account_id, value));
  move(index.byEmail, found(emailKey, before?.email), found(emailKey, after.email), contact_id);
  move(index.byPhone, found(phoneKey, before?.phone), found(phoneKey, after.phone), contact_id);
}

function move(index: Map<string, number[]>, from: string | undefined, to: string | undefined, id: number): void {
  if (from === to) return;
  if (from !== undefined) {
    const left = (index.get(from) ?? []).filter((other) => other !== id);
    if (left.length > 0) index.set(from, left);
    else index.delete(from);
  }
  if (to !== undefined) insert(index, to, id);
}

function insert<Key>(index: Map<Key, number[]>, key: Key, id: number): void {
  const ids = index.get(key);
  if (ids) ids.push(id);
  else index.set(key, [id]);
}

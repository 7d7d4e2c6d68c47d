import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { knownAccount } from './account.ts';
import type { Fields } from './cells.ts';
import { openStoreIfThere } from './place.ts';
import { owned, ownerOf } from './records.ts';
import { readState } from './state.ts';
import type { Account, Sql, Store } from './store.ts';
import { digits, emailKey, findText } from './words-index.ts';

/** The contacts of the copy, whose account is the one of this login. */
export type ContactsCopy = { readonly store: Store; readonly account: Account };

/**
 * For commands that ask the copy before the service: undefined where there is no copy of this account, or not yet one of
 * all its contacts. Nothing is sent. Whoever gets one closes the store.
 */
export async function openContactsCopy(ctx: Context, settings: Settings): Promise<ContactsCopy | undefined> {
  const store = await openStoreIfThere(ctx);
  if (!store) return undefined;
  const account = await knownAccount(ctx, settings, store).catch(() => undefined);
  const state = account && (await store.read((sql) => readState(sql, account, 'contacts')));
  if (account && state?.complete) return { store, account };
  await store.close();
  return undefined;
}

/** What is found, as the service sent it, and when the copy last saw any contact. */
export type Found = { readonly contacts: readonly Fields[]; readonly asOf: string | undefined };

/** Contacts whose email, name, phone or company holds the text; an address that is somebody's finds them alone. */
export function findContacts(store: Store, account: Account, text: string): Promise<Found> {
  const wanted = emailKey(text);
  const number = /^[+\d\s().-]+$/u.test(text) ? digits(text) : '';
  return store.read(async (sql) => {
    const exact = await contactsWhere(sql, account, 'email_key = $3', wanted);
    if (exact.length > 0) return { contacts: exact, asOf: await asOf(sql, account) };
    const holds = sql.engine === 'sqlite' ? 'instr(find_text, $3) > 0' : 'strpos(find_text, $3) > 0';
    const found = await contactsWhere(sql, account, holds, wanted);
    const by = number.length > 2 && number !== wanted ? await contactsWhere(sql, account, holds, number) : [];
    const byPhone = by.filter((contact) => (findText(contact).split('\n')[4] ?? '').includes(number));
    const contacts = [...new Map([...found, ...byPhone].map((contact) => [contact.contact_id, contact])).values()];
    contacts.sort((a, b) => Number(b.contact_id) - Number(a.contact_id));
    return { contacts, asOf: await asOf(sql, account) };
  });
}

/** The ids of the contacts with that address, in any letter case; each address is a key of the answer. */
export function contactIdsByEmail(
  store: Store,
  account: Account,
  emails: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  return store.read(async (sql) => {
    const ids = new Map<string, readonly number[]>();
    for (const email of emails) {
      const rows = await sql.all(
        `SELECT contact_id FROM contacts WHERE ${owned} AND email_key = $3 AND gone_at IS NULL ORDER BY contact_id`,
        [...ownerOf(account), emailKey(email)],
      );
      ids.set(
        email,
        rows.map(({ contact_id: id }) => Number(id)),
      );
    }
    return ids;
  });
}

async function contactsWhere(sql: Sql, account: Account, condition: string, value: string): Promise<Fields[]> {
  const rows = await sql.all(
    `SELECT data FROM contacts WHERE ${owned} AND ${condition} AND gone_at IS NULL ORDER BY contact_id DESC`,
    [...ownerOf(account), value],
  );
  return rows.map(({ data }) => JSON.parse(String(data)));
}

async function asOf(sql: Sql, account: Account): Promise<string | undefined> {
  const [row] = await sql.all(`SELECT state FROM svc_kinds WHERE ${owned} AND kind = 'contacts'`, ownerOf(account));
  return row ? (JSON.parse(String(row.state)).finishedAt ?? undefined) : undefined;
}

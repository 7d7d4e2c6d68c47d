import { hasDigits, nationalEnd } from '../../command/find-contacts.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure, isInterruption } from '../../errors.ts';
import { byAge } from '../../text/by-age.ts';
import type { Fields } from '../../text/record.ts';
import { type Copy, openCopyIfKnown } from '../store/open-copy.ts';
import { closingOnFailure } from '../store/place.ts';
import { asOfState, readState } from '../store/state.ts';
import { dataOf } from '../tables/cells.ts';
import { digits, emailKey, findText } from '../tables/contact-words.ts';
import { type Account, countRows, owned, ownerOf, type Sql, type Store } from '../tables/store.ts';
import { ageOf } from './age.ts';

/** Who hears how old the copy is, and of what is asked in its place. `toService`: how they can ask the service. */
export type Telling = {
  readonly tell: (words: string) => void;
  readonly toService: string;
  /** What is from the copy: not always the records themselves. */
  readonly said?: string;
};

/**
 * What the copy answers, and says how old it is; undefined where the service has to be asked: with --live, where there is
 * no copy of this account or not yet one of all its contacts, and where it cannot be read. Nothing is sent.
 */
export async function fromContactsCopy<T extends { readonly asOf: string | undefined }>(
  ctx: Context,
  settings: Settings,
  work: (copy: Copy) => Promise<T>,
  { tell = ctx.notice, toService = '--live', said = 'From the local copy' }: Partial<Telling> = {},
): Promise<T | undefined> {
  if (settings.live) return undefined;
  try {
    const copy = await openContactsCopy(ctx, settings);
    if (!copy) return undefined;
    try {
      const answer = await work(copy);
      const age = answer.asOf === undefined ? '' : `, ${ageOf(answer.asOf, ctx.clock.now())} old`;
      tell(`${said}${age}. To ask the service: ${toService}`);
      return answer;
    } finally {
      await copy.store.close();
    }
  } catch (error) {
    // A copy that is damaged, newer or out of reach keeps nobody from the service.
    if (!(error instanceof Failure) || isInterruption(error)) throw error;
    ctx.notice(`${error.message} Asking the service.`);
    return undefined;
  }
}

/** The service answers sooner than a copy that somebody keeps to himself. */
const patienceMs = 10_000;

export async function openContactsCopy(ctx: Context, settings: Settings): Promise<Copy | undefined> {
  const maxWaitMs = Math.min(settings.maxWaitMs ?? patienceMs, patienceMs);
  const copy = await openCopyIfKnown(ctx, { ...settings, maxWaitMs });
  if (!copy) return undefined;
  const { store, account } = copy;
  const { complete } = await closingOnFailure(store, () => store.read((sql) => readState(sql, account, 'contacts')));
  if (complete) return copy;
  await store.close();
  return undefined;
}

/** For many addresses at once: the ids of each, by the address as given, and how many contacts there are; undefined as above. */
export const idsFromContactsCopy = (ctx: Context, settings: Settings, emails: readonly string[]) =>
  fromContactsCopy(ctx, settings, ({ store, account }) =>
    store.read(async (sql) => {
      const ids = new Map<string, readonly number[]>();
      for (const email of emails) {
        const found = await contactsWhere(sql, account, 'email_key = $3', emailKey(email));
        ids.set(
          email,
          found.map(({ contact_id: id }) => Number(id)),
        );
      }
      // Not by `livingCount`, which comes with the tables of every kind.
      const total = await countRows(sql, `contacts WHERE ${owned} AND gone_at IS NULL`, ownerOf(account));
      return { ids, total, asOf: await asOf(sql, account) };
    }),
  );

/**
 * Contacts whose email, name, phone or company holds the text, as the service sent them, and when the copy last saw any
 * contact. An address that is somebody's finds them alone.
 */
export function findContacts(store: Store, account: Account, text: string) {
  const wanted = emailKey(text);
  const number = /^[+\d\s().-]+$/u.test(text) ? digits(text) : '';
  return store.read(async (sql) => {
    const exact = await contactsWhere(sql, account, 'email_key = $3', wanted);
    if (exact.length > 0) return { contacts: exact, asOf: await asOf(sql, account) };
    const holds = sql.engine === 'sqlite' ? 'instr(find_text, $3) > 0' : 'strpos(find_text, $3) > 0';
    const found = await contactsWhere(sql, account, holds, wanted);
    const by =
      number.length > 2 && (number !== wanted || nationalEnd(number) !== undefined)
        ? await contactsWhere(sql, account, holds, nationalEnd(number) ?? number)
        : [];
    const byPhone = by.filter((contact) => hasDigits(findText(contact).split('\n')[4] ?? '', number));
    const contacts = [...new Map([...found, ...byPhone].map((contact) => [contact.contact_id, contact])).values()];
    return { contacts: newestFirst(contacts), asOf: await asOf(sql, account) };
  });
}

/** Of one moment there may be several, and a list may show any of them first. */
const newestAtMost = 100;

/** The ids of the newest contacts that the copy has seen, gone or not. */
export const newestContacts = (store: Store, account: Account): Promise<ReadonlySet<number>> =>
  store.read(async (sql) => {
    const rows = await sql.all(
      `SELECT contact_id AS id FROM contacts WHERE ${owned} ORDER BY created_at DESC NULLS LAST, contact_id DESC LIMIT $3`,
      [...ownerOf(account), newestAtMost],
    );
    return new Set(rows.map(({ id }) => Number(id)));
  });

/**
 * The newest first. Sorted here: asked to sort, SQLite goes through all contacts in the order of their ids, instead of to
 * the few that the index of the condition knows.
 */
async function contactsWhere(sql: Sql, account: Account, condition: string, value: string): Promise<Fields[]> {
  const rows = await sql.all(`SELECT data FROM contacts WHERE ${owned} AND ${condition} AND gone_at IS NULL`, [
    ...ownerOf(account),
    value,
  ]);
  return newestFirst(rows.map(dataOf));
}

const older = byAge('contact_id');

export const newestFirst = (contacts: Fields[]): Fields[] => contacts.sort((a, b) => older(b, a));

const asOf = async (sql: Sql, account: Account): Promise<string | undefined> =>
  asOfState(await readState(sql, account, 'contacts')) ?? undefined;

import { Failure } from '../errors.ts';
import { dataOf } from '../mirror/tables/cells.ts';
import { digits, emailKey } from '../mirror/tables/contact-words.ts';
import { type Account, owned, ownerOf, type Row, type Sql } from '../mirror/tables/store.ts';
import { fullName } from '../text/full-name.ts';
import { type Fields, fieldsIn } from '../text/record.ts';
import { sanitize } from '../text/sanitize.ts';
import { shellWord } from '../text/shell-word.ts';

/**
 * The id of the one person with that id, email or phone: among the contacts, and among those that tickets and conversations
 * name and the list of contacts does not show.
 *
 * @throws Failure `not-found`; `usage` where several have it, which names them
 */
export async function personIn(sql: Sql, account: Account, typed: string): Promise<number> {
  const text = typed.trim();
  const found = new Map<number, string>();
  for (const person of await candidates(sql, account, text)) {
    const id = person.contact_id;
    const name = fullName(person) || 'no name';
    if (typeof id === 'number' && !found.has(id)) found.set(id, name);
  }
  const [only, ...others] = found.keys();
  if (only === undefined) {
    throw new Failure('not-found', `The copy has no contact with the id, email or phone ${text}.`, {
      hint: [
        // A number as short is an id and no phone: there is no part of it to be found.
        ...(/^\d{1,5}$/u.test(text)
          ? []
          : [`To look for a part of it: svc contacts find ${shellWord(text.split('@')[0] || text)}`]),
        'To bring the copy up to date: svc mirror pull',
      ].join('\n'),
    });
  }
  if (others.length === 0) return only;
  const who = [...found].map(([id, name]) => `${id} (${name})`).join(', ');
  throw new Failure('usage', `${found.size} contacts have the email or phone ${text}.`, {
    hint: sanitize(`Name one by its id: ${who}`),
  });
}

async function candidates(sql: Sql, account: Account, text: string): Promise<Fields[]> {
  const people = await peopleOf(sql, account, text);
  if (text.includes('@')) return people.filter(({ email }) => emailKey(email) === emailKey(text));
  const id = /^\d{1,16}$/u.test(text) ? Number(text) : undefined;
  const byId = people.filter(({ contact_id }) => contact_id === id);
  if (byId.length > 0) return byId;
  const wanted = plainNumber(text);
  return wanted.length < 6 ? [] : people.filter(({ phone }) => plainNumber(String(phone ?? '')) === wanted);
}

/** With its country code; a number without one is taken for a North American one, as the service takes it. */
function plainNumber(text: string): string {
  const number = digits(text);
  if (text.trim().startsWith('+')) return number;
  if (number.startsWith('00')) return number.slice(2);
  return number.length === 10 ? `1${number}` : number;
}

/** Those that hold the text somewhere; the caller looks at the field. The index of the condition finds them. */
async function peopleOf(sql: Sql, account: Account, text: string): Promise<Fields[]> {
  const holds = (column: string) =>
    sql.engine === 'sqlite' ? `instr(${column}, $3) > 0` : `strpos(${column}, $3) > 0`;
  const wanted = text.includes('@') ? emailKey(text) : digits(text);
  const owner = ownerOf(account);
  const contacts = await sql.all(
    `SELECT data FROM contacts WHERE ${owned} AND (${holds('find_text')} OR CAST(contact_id AS text) = $3)`,
    [...owner, wanted.replace(/^00/u, '')],
  );
  const named: Row[] = [];
  for (const table of ['tickets', 'conversations']) {
    named.push(
      ...(await sql.all(`SELECT DISTINCT contact FROM ${table} WHERE ${owned} AND contact IS NOT NULL`, owner)),
    );
  }
  return [...contacts.map(dataOf), ...named.map(({ contact }) => fieldsIn(JSON.parse(String(contact))))];
}

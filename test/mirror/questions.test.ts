import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgsStringToArgv } from 'string-argv';
import { expect, test } from 'vitest';
import { kindNames } from '../../src/mirror/tables/kinds.ts';
import { whoWrote } from '../answers/report-truth.ts';
import { whatWaits } from '../answers/waiting-truth.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { ok, sql } from './engines.ts';
import { type Records, request, truth } from './truth.ts';

const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'mirror.md'), 'utf8');
const questions = [...text.matchAll(/\n([A-Z][^\n]*\?)\n\n```(sql|sh)\n([^`]*)```/gu)].map(
  ([, question = '', language = '', query = '']) => ({ question, language, query }),
);

type Fields = Record<string, unknown>;

const days = (count: number) => Date.now() - count * 86_400_000;
const of = (value: unknown): Fields => (value ?? {}) as Fields;

/** How often each name comes, most first. */
function ranking(names: readonly unknown[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) if (name) counts.set(String(name), (counts.get(String(name)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 5);
}

/** The same answers, from what the service shows. */
const answers: Record<string, (all: Record<string, Fields[]>) => unknown> = {
  'Which tickets and chats have waited for us for more than two days?': (all) =>
    whatWaits(all).filter(({ waiting_since: since }) => Date.parse(String(since)) < days(2)),
  'In which tickets and chats did the customer write again, after our answer?': (all) =>
    whatWaits(all).filter(({ why }) => why === 'wrote again'),
  'Who wrote the most messages in the last 90 days?': (all) =>
    Object.entries(whoWrote(withContactIds(all), { now: { since: days(90), until: Date.now() } }))
      .map(([key, value]) => ({ key, value, before: null, label: nameOf(all, Number(key)) }))
      .sort((a, b) => b.value - a.value || Number(a.key) - Number(b.key))
      .slice(0, 10),
  'Which contacts are on no list?': ({ contacts = [], list_members: members = [] }) => {
    const listed = new Set(members.map(({ contact_id: id }) => id));
    return [{ contacts: contacts.filter(({ contact_id: id }) => !listed.has(id)).length }];
  },
  'Which contacts of list 3 have no phone?': ({ contacts = [] }) =>
    contacts.filter(({ phone }) => phone === '').map(({ contact_id, name, email }) => ({ contact_id, name, email })),
  'Which addresses belong to several contacts?': ({ contacts = [] }) => {
    const twins = contacts.filter(({ email }) => /^ada@example/iu.test(String(email)));
    const ids = twins.map(({ contact_id: id }) => Number(id)).sort((a, b) => a - b);
    return [expect.objectContaining({ by: ['email'], same: { email: 'ada@example.com' }, ids })];
  },
  'Which tags do contacts have, and how often?': ({ contacts = [] }) =>
    ranking(contacts.flatMap(({ tags }) => tags as string[])).map(([tag, count]) => ({ tag, contacts: count })),
  'Which companies have the most open tickets?': ({ tickets = [], contacts = [] }) => {
    const company = new Map(contacts.map(({ contact_id: id, company: name }) => [id, name]));
    const open = tickets.filter(({ status }) => status === 'open');
    return ranking(open.map(({ contact }) => company.get(of(contact).contact_id))).map(([name, count]) => ({
      company: name,
      tickets: count,
    }));
  },
  'Which wishes that are not on the roadmap have the most votes?': ({ feedback = [] }) =>
    feedback
      .filter(({ on_roadmap: on }) => !on)
      .sort((a, b) => Number(b.vote_count) - Number(a.vote_count) || Number(a.id) - Number(b.id))
      .slice(0, 5)
      .map(({ title, vote_count }) => ({ title, vote_count })),
  'How long did customers wait for the first response last month?': () => [
    expect.objectContaining({ key: 'median' }),
    expect.objectContaining({ key: 'p90' }),
    expect.objectContaining({ key: 'tickets' }),
    expect.objectContaining({ key: 'without' }),
  ],
};

/** As the rows of a sandbox have them. A chat that became a ticket is in the ticket already. */
const withContactIds = ({ tickets = [], conversations = [] }: Record<string, Fields[]>) => ({
  tickets: tickets.map((one) => ({ ...one, contact_id: of(one.contact).contact_id })),
  conversations: conversations
    .filter(({ id }) => !tickets.some(({ conversation_id: chat }) => chat === id))
    .map((one) => ({ ...one, contact_id: of(one.contact).contact_id })),
});

const nameOf = ({ tickets = [], conversations = [] }: Record<string, Fields[]>, id: number): string => {
  const contact = [...tickets, ...conversations].map((one) => of(one.contact)).find((one) => one.contact_id === id);
  return [contact?.name, contact?.last_name].filter(Boolean).join(' ');
};

test('the ten questions of docs/mirror.md run in the demo sandbox, and their answers are true', {
  tags: ['long'],
}, async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  // The database's own clock is the machine's.
  world.clock.advance(Date.now() - world.clock.now().getTime());
  await world.control('POST', 'reset', { seed: 'demo' });
  // The demo has no contact without a phone, and no address twice.
  const twin = { name: 'Ada', last_name: 'Byron', email: 'ada@example.com', phone: '+14155550123' };
  await request(world, 'POST', '/contacts/create', { contacts: [twin, { ...twin, email: 'Ada@example.com' }] });
  const phoneless = [{ name: 'Phil', email: 'phil@example.com' }];
  await request(world, 'POST', '/contactslists/3/create_sync_contacts', { contacts: phoneless });
  await ok(world, 'mirror pull');
  const all: Records = await truth(world);
  expect(questions).toHaveLength(10);
  const empty: string[] = [];
  for (const { question, language, query } of questions) {
    const rows = (language === 'sql' ? await sql(world, query) : await run(world, query)) as unknown[];
    const wanted = answers[question]?.(all);
    if (wanted) expect({ question, rows }).toEqual({ question, rows: wanted });
    if (rows.length === 0) empty.push(question);
  }
  expect(Object.keys(answers).filter((question) => !questions.some((asked) => asked.question === question))).toEqual(
    [],
  );
  expect(empty).toEqual([]);
});

/** A line of the page, with its data. */
async function run(world: SandboxWorld, line: string): Promise<unknown> {
  const argv = parseArgsStringToArgv(line.trim()).slice(1);
  return JSON.parse((await ok(world, argv.includes('--jq') ? argv : [...argv, '--json'])).stdout);
}

test('docs/mirror.md tells of every kind how it is read', () => {
  const [, table = ''] = text.split('| kind | how it is read |');
  const rows = table.split('\n\n')[0]?.split('\n') ?? [];
  const named = rows.slice(2).flatMap((row) => row.split('|')[1]?.trim().split(', ') ?? []);
  expect(new Set(named)).toEqual(new Set(kindNames));
});

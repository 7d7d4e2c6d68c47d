import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgsStringToArgv } from 'string-argv';
import { expect, test } from 'vitest';
import { type Recipe, recipes } from '../../src/derive/recipes.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type Ran, svc } from '../svc.ts';

// biome-ignore lint/suspicious/noExplicitAny: records of every kind
type Any = any;

type Outcome = { readonly before: Any; readonly after: Any; readonly ran: readonly Ran[]; readonly folder: string };

/** The reader's own files, which the recipes name. */
const files: Readonly<Record<string, string>> = {
  'contacts.csv': 'Email,First Name,Tags\nnew1@example.com,New,vip\nnew2@example.com,Newer,\nnonsense,Bad,\n',
  'tickets.csv': 'id\n3\n6\n',
  'CHANGELOG.md': '# Changelog\n\n## 9.9.0 (2026-11-01)\n\n- The export is twice as fast.\n\n## 9.8.0\n\n- Older.\n',
};

/** Types the lines of a recipe into a sandbox, in a folder with the files that it names. */
async function follow(recipe: Recipe, world: SandboxWorld = sandboxWorld({ seed: 'demo' })): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-recipe-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const before = await world.control('GET', 'state');
  const ran: Ran[] = [];
  for (const line of recipe.lines) {
    const [program, ...argv] = parseArgsStringToArgv(line);
    expect(program).toBe('svc');
    const here = process.cwd();
    process.chdir(folder);
    try {
      ran.push(await svc(world, argv));
    } finally {
      process.chdir(here);
    }
  }
  return { before, after: await world.control('GET', 'state'), ran, folder };
}

/** What changed in the account, by kind. */
const changed = ({ before, after }: Outcome): string[] =>
  Object.keys(after).filter((kind) => JSON.stringify(before[kind]) !== JSON.stringify(after[kind]));

const codes = ({ ran }: Outcome): number[] => ran.map(({ exitCode }) => exitCode);
const last = (records: Any[]): Any => records.at(-1);

/** What the account holds after each recipe. */
const judges: { readonly [Name in keyof typeof recipes]: (outcome: Outcome) => void } = {
  find(outcome) {
    expect(codes(outcome)).toEqual([0, 0, 0]);
    expect(changed(outcome)).toEqual([]);
    const [contacts, tickets, ticket] = outcome.ran.map(({ stdout }) => JSON.parse(stdout));
    expect(Object.keys(contacts[0])).toEqual(['contact_id', 'name', 'email']);
    expect(tickets.length).toBeGreaterThan(0);
    expect(ticket.ticket_number).toBe('T-1008');
  },
  answer(outcome) {
    expect(codes(outcome)).toEqual([0, 0, 0]);
    const ticket = outcome.after.tickets.find((one: Any) => one.ticket_number === 'T-1008');
    expect(ticket.status).toBe('resolved');
    expect(last(ticket.notes).body).toContain('ran out of memory');
    expect(JSON.stringify(outcome.after)).toContain('The export works again.');
  },
  draft(outcome) {
    expect(codes(outcome)).toEqual([0, 0]);
    expect(changed(outcome)).toEqual([]);
    expect(JSON.parse(outcome.ran[1]?.stdout ?? '')).toMatchObject([{ id: 1, state: 'waiting' }]);
  },
  importContacts(outcome) {
    expect(codes(outcome)).toEqual([8, 8]);
    const made = outcome.after.contacts.length - outcome.before.contacts.length;
    expect(made).toBe(2);
    expect(JSON.parse(outcome.ran[1]?.stdout ?? '')).toMatchObject({ rows: 3, created: 2, rejected: 1 });
    expect(readFileSync(join(outcome.folder, 'rejects.csv'), 'utf8')).toContain('nonsense');
  },
  list(outcome) {
    expect(codes(outcome)).toEqual([0, 0, 0]);
    const members = (state: Any) =>
      state.list_members
        .filter((one: Any) => (one.contacts_list_id ?? one.list_id) === 1)
        .map((one: Any) => one.contact_id);
    expect(members(outcome.after)).toEqual(expect.arrayContaining([...members(outcome.before), 7, 8]));
  },
  update(outcome) {
    expect(codes(outcome)).toEqual([0]);
    const find = (state: Any) => state.contacts.find((one: Any) => one.contact_id === 7);
    expect(find(outcome.after).company).toBe('Example Ltd');
    expect(find(outcome.after).metadata).toEqual({ ...find(outcome.before).metadata, plan: 'pro' });
  },
  ticket(outcome) {
    expect(codes(outcome)).toEqual([0]);
    expect(outcome.after.tickets).toHaveLength(outcome.before.tickets.length + 1);
    expect(last(outcome.after.tickets)).toMatchObject({ subject: 'Export fails', priority: 3, contact_id: 7 });
  },
  changelog(outcome) {
    expect(codes(outcome)).toEqual([0, 0]);
    const made = outcome.after.changelog.filter((one: Any) => one.version === '9.9.0');
    expect(made).toMatchObject([{ status: 'published', content_html: expect.stringContaining('twice as fast') }]);
  },
  chats(outcome) {
    expect(codes(outcome)).toEqual([0, 0]);
    expect(changed(outcome)).toEqual([]);
  },
  event(outcome) {
    expect(codes(outcome)).toEqual([0]);
    expect(last(outcome.after.events)).toMatchObject({
      trigger: 'order_create',
      kpi: { value_minor: 1999, currency: 'EUR' },
    });
  },
  ask(outcome) {
    expect(codes(outcome)).toEqual([0, 0, 0]);
    expect(changed(outcome)).toEqual([]);
    const [, counts, hits] = outcome.ran.map(({ stdout }) => stdout);
    expect(JSON.parse(counts ?? '').map((row: Any) => row.status)).toContain('open');
    expect(JSON.parse(hits ?? '').length).toBeGreaterThan(0);
  },
  many(outcome) {
    expect(codes(outcome)).toEqual([0, 0]);
    for (const id of [3, 6]) {
      expect(outcome.after.tickets.find((one: Any) => one.id === id).status).toBe('closed');
    }
    expect(JSON.parse(outcome.ran[1]?.stdout ?? '')).toMatchObject({ rows: 2, done: 2 });
  },
  backup(outcome) {
    expect(codes(outcome)).toEqual([0]);
    const lines = readFileSync(join(outcome.folder, 'all-contacts.csv'), 'utf8').trim().split('\n');
    expect(lines.length).toBeGreaterThan(250);
    expect(changed(outcome)).toEqual([]);
  },
};

test.each(Object.keys(judges) as (keyof typeof judges)[])(
  'the recipe "%s" does in the account what it says',
  async (name) => {
    judges[name](await follow(recipes[name]));
  },
);

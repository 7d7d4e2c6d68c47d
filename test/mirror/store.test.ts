// @module-tag long
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { real } from '../real-component.ts';
import { hasWorked } from '../smoke/processes.ts';
import { draws, inTurn } from '../thorough.ts';
import { ended, type Machine, machine, otherNode } from './copy-process.ts';

let on: Machine;
beforeAll(async () => {
  on = await machine();
});
afterAll(() => on.end());

/** As a process of its own in one of `parts` cases, and else in this one; in `.ci/run` always. */
const asProcess = (turn: number, parts: number) => inTurn([on.run], turn, parts)[0] ?? on.ask;

const copyIn = (folder: string) => join(folder, 'state', 'mirror.db');

const library = () => createRequire(import.meta.url)('node-sqlite3-wasm') as typeof import('node-sqlite3-wasm');

/** By a program that is not svc. */
function withDatabase(path: string, ...statements: string[]): unknown[] {
  const database = new (library().Database)(path);
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  for (const text of statements.slice(0, -1)) database.exec(text);
  const rows = database.all(statements.at(-1) ?? 'SELECT 1');
  database.close();
  return rows;
}

const old = new Date('2026-01-02T03:04:05Z');
const seen = (path: string) => ({ bytes: readFileSync(path).toString('latin1'), at: statSync(path).mtimeMs });

describe('a file that svc did not make', () => {
  const others: Record<string, (path: string) => void> = {
    "another program's database": (path) => void withDatabase(path, 'CREATE TABLE notes (text)', 'SELECT 1'),
    'one with a mark of its own': (path) =>
      void withDatabase(path, 'CREATE TABLE notes (text)', 'PRAGMA application_id = 7', 'SELECT 1'),
    'one with a write-ahead log': (path) => {
      withDatabase(path, 'CREATE TABLE notes (text)', 'SELECT 1');
      const bytes = readFileSync(path);
      bytes[18] = 2;
      bytes[19] = 2;
      writeFileSync(path, bytes);
    },
    'one with a table of the name of one of ours': (path) =>
      void withDatabase(path, 'CREATE TABLE contacts (name)', 'CREATE TABLE svc_schema (version)', 'SELECT 1'),
    'the first bytes of a database': (path) => writeFileSync(path, 'SQLite format 3\0'),
    'a text': (path) => writeFileSync(path, 'Dear diary\n'.repeat(1000)),
  };
  test.each(Object.entries(others))('%s: exit 2, and nothing in it or beside it changes', async (_, make) => {
    const folder = on.folder();
    const path = join(folder, 'other.db');
    make(path);
    utimesSync(path, old, old);
    const [before, names] = [seen(path), readdirSync(folder)];
    for (const argv of [
      ['mirror', 'pull'],
      ['mirror', 'status'],
      ['mirror', 'sql', 'SELECT 1'],
      ['mirror', 'forget', '--yes'],
      ['watch', '--interval', '60'],
    ]) {
      const ran = await on.ask(folder, [...argv, '--db', path]);
      expect([argv, ran.code, ran.stderr]).toEqual([argv, 2, expect.stringContaining('leaves it as it is')]);
    }
    expect(seen(path)).toEqual(before);
    expect(readdirSync(folder).filter((name) => !/^(?:config|state)$/u.test(name))).toEqual(names);
  });

  test('a folder, a link that leads nowhere, a pipe and a device: exit 2 within a second or two', async () => {
    const folder = on.folder();
    symlinkSync(join(folder, 'nowhere'), join(folder, 'link'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    for (const [turn, path] of [
      join(folder, 'pipe'),
      folder,
      join(folder, 'link'),
      '/dev/null',
      '/dev/zero',
    ].entries()) {
      for (const argv of [
        ['mirror', 'pull'],
        ['mirror', 'forget', '--yes'],
      ]) {
        const ran = await asProcess(turn, 4)(folder, [...argv, '--db', path]);
        if (path.endsWith('link') && argv.includes('forget')) continue;
        expect([path, ran.code, ran.stderr]).toEqual([path, 2, expect.stringContaining('leaves it as it is')]);
      }
    }
    expect(existsSync(join(folder, 'nowhere'))).toBe(false);
  });

  test('tables that an older svc put into it go, and the rest stays', async () => {
    const folder = on.folder();
    await on.ask(folder, ['mirror', 'pull', '--only', 'lists']);
    const path = copyIn(folder);
    withDatabase(
      path,
      'CREATE TABLE notes (text)',
      "INSERT INTO notes VALUES ('keep me')",
      'PRAGMA journal_mode = DELETE',
      'PRAGMA application_id = 0',
      'SELECT 1',
    );
    const ran = await on.ask(folder, ['mirror', 'forget', '--yes']);
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('what svc did not make stays')]);
    expect(withDatabase(path, "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")).toEqual([
      { name: 'notes' },
    ]);
    expect(withDatabase(path, 'SELECT text FROM notes')).toEqual([{ text: 'keep me' }]);
  });
});

test('an empty file, and one behind a link, become copies; the link stays', async () => {
  const folder = on.folder();
  writeFileSync(join(folder, 'empty.db'), '');
  symlinkSync(join(folder, 'empty.db'), join(folder, 'link.db'));
  const flags = ['--db', join(folder, 'link.db')];
  expect((await on.ask(folder, ['mirror', 'pull', '--only', 'lists', ...flags])).code).toBe(0);
  expect((await on.ask(folder, ['mirror', 'sql', 'SELECT count(*) FROM lists', ...flags])).stdout).toBe('3\n');
  expect((await on.ask(folder, ['mirror', 'forget', '--yes', ...flags])).code).toBe(0);
  expect(existsSync(join(folder, 'empty.db'))).toBe(false);
});

test('a copy that an older svc made, without the mark, stays a copy and gets it', async () => {
  const folder = on.folder();
  await on.ask(folder, ['mirror', 'pull', '--only', 'lists']);
  withDatabase(copyIn(folder), 'PRAGMA journal_mode = DELETE', 'PRAGMA application_id = 0', 'SELECT 1');
  expect((await on.ask(folder, ['mirror', 'sql', 'SELECT count(*) FROM lists'])).stdout).toBe('3\n');
  expect((await on.ask(folder, ['mirror', 'pull', '--only', 'lists'])).code).toBe(0);
  expect(readFileSync(copyIn(folder)).toString('latin1', 68, 72)).toBe('svcm');
});

describe('accounts', () => {
  const globex = { SVC_API_KEY: 'key_globex' };
  const countContacts = ['mirror', 'sql', 'SELECT count(*) FROM main.contacts'];

  test('each has a file of its own in the state folder, and forgetting one leaves the other', async () => {
    const folder = on.folder();
    await on.ask(folder, ['mirror', 'pull', '--only', 'contacts']);
    await on.ask(folder, ['mirror', 'pull', '--only', 'contacts'], globex);
    const first = (await on.ask(folder, countContacts)).stdout;
    const second = (await on.ask(folder, countContacts, globex)).stdout;
    expect(first).toBe('264\n');
    expect(second).not.toBe(first);
    expect((await on.ask(folder, ['mirror', 'forget', '--yes'])).code).toBe(0);
    expect((await on.ask(folder, countContacts, globex)).stdout).toBe(second);
    expect((await on.ask(folder, countContacts)).code).toBe(1);
    await on.ask(folder, ['mirror', 'pull', '--only', 'contacts']);
    expect((await on.ask(folder, countContacts)).stdout).toBe(first);
  });

  test("a second account's --db is exit 2, and no row of it gets into the file", async () => {
    const folder = on.folder();
    const flags = ['--db', join(folder, 'one.db')];
    await on.ask(folder, ['mirror', 'pull', '--only', 'contacts', ...flags]);
    for (const argv of [
      ['mirror', 'pull'],
      ['mirror', 'status'],
      ['mirror', 'forget', '--yes'],
      ['mirror', 'sql', 'SELECT 1'],
    ]) {
      const ran = await on.ask(folder, [...argv, ...flags], globex);
      expect([argv, ran.code, ran.stderr]).toEqual([argv, 2, expect.stringContaining('the copy of another account')]);
    }
    expect(withDatabase(join(folder, 'one.db'), 'SELECT count(*) AS n FROM svc_accounts')).toEqual([{ n: 1 }]);
  });
});

test('a file of an older svc with several accounts: each still answers, no query is asked, and a forgotten one leaves nothing', async () => {
  const folder = await on.pulled();
  const path = copyIn(folder);
  const [{ email = '' } = {}] = withDatabase(path, "SELECT email FROM contacts WHERE email <> '' LIMIT 1") as {
    email: string;
  }[];
  withDatabase(
    path,
    "INSERT INTO svc_accounts (service, account_id, name) VALUES ('https://service.test', '9', 'Initech')",
    'SELECT 1',
  );
  expect(readFileSync(path).includes(email)).toBe(true);
  expect((await on.ask(folder, ['mirror', 'status'])).code).toBe(0);
  const refused = await on.ask(folder, ['mirror', 'sql', 'SELECT 1']);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('holds several accounts')]);
  const forgotten = await on.ask(folder, ['mirror', 'forget', '--yes']);
  expect([forgotten.code, forgotten.stderr]).toEqual([0, expect.stringContaining('those of other accounts stay')]);
  const left = readFileSync(path).toString('latin1');
  const [user = ''] = email.split('@');
  expect([left.includes(email), left.includes(user)]).toEqual([false, false]);
  expect(withDatabase(path, 'SELECT account_id FROM svc_accounts')).toEqual([{ account_id: '9' }]);
});

const endless = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n WHERE x < 0';

describe('mirror sql', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await on.pulled();
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s ends a query without end, and the copy can be asked again',
    async (signal) => {
      const running = on.start(folder, ['mirror', 'sql', endless]);
      const over = ended(running);
      await hasWorked(running);
      running.kill(signal);
      const { code, stdout } = await over;
      // Killed by the signal itself, as a program without a handler is, or exit 128 and its number.
      expect([null, signal === 'SIGINT' ? 130 : 143]).toContain(code);
      expect(running.signalCode ?? signal).toBe(signal);
      expect(stdout).toBe('');
      expect((await on.ask(folder, ['mirror', 'sql', 'SELECT 1'])).stdout).toBe('1\n');
    },
  );

  test('whose reader stops reading holds up neither a pull nor another query', async () => {
    const rows = draws(5000, 20_000);
    const many = `SELECT a.data, b.data AS other FROM contacts a, contacts b LIMIT ${rows}`;
    const paged = on.start(folder, ['mirror', 'sql', many]);
    await once(paged.stdout as NonNullable<typeof paged.stdout>, 'readable');
    const began = performance.now();
    const [asked, pulled] = await Promise.all([
      on.run(folder, ['mirror', 'sql', 'SELECT count(*) FROM contacts']),
      on.run(folder, ['mirror', 'pull', '--rescan', '1']),
    ]);
    expect([asked.stdout, pulled.code]).toEqual(['264\n', 0]);
    expect(performance.now() - began).toBeLessThan(60_000);
    const { stdout, code } = await ended(paged);
    expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, rows]);
  });

  test('whose reader has left ends, and leaves nothing behind', async () => {
    const many = 'SELECT a.data FROM contacts a, contacts b';
    const names = () => readdirSync(join(folder, 'state')).filter((name) => /-wal|-shm|\.lock$/u.test(name));
    const left = on.start(folder, ['mirror', 'sql', many]);
    left.stdout?.once('data', () => left.stdout?.destroy());
    const [code] = await once(left, 'exit');
    expect([0, 1]).toContain(code);
    expect((await on.ask(folder, ['mirror', 'pull', '--rescan', '0'])).code).toBe(0);
    expect(names()).toEqual([]);
  });

  test('a mistake in a query is told as that, and not as a damaged copy', async () => {
    const ran = await on.ask(folder, ['mirror', 'sql', "SELECT json('{')"]);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('malformed JSON')]);
    expect(ran.stderr).not.toMatch(/damaged|forget/u);
  });
});

describe('a place that cannot be used', () => {
  test.each(['/dev/null/copy.db', '/proc/self/mem/x.db', '/sys/copy.db'].map((path, turn) => ({ path, turn })))(
    '$path: an error at once, and the process ends',
    async ({ path, turn }) => {
      const folder = on.folder();
      for (const [at, argv] of [
        ['watch', '--interval', '60'],
        ['mirror', 'pull'],
        ['mirror', 'status'],
        ['mirror', 'forget', '--yes'],
      ].entries()) {
        const ran = await asProcess(turn + at, 5)(folder, [...argv, '--db', path]);
        expect([argv, [1, 2].includes(ran.code ?? 0)]).toEqual([argv, true]);
      }
    },
  );
});

real('sqlite3')(
  'another program that reads all the time while svc pulls damages nothing, and no row is missing',
  async () => {
    const folder = on.folder();
    await on.ask(folder, ['mirror', 'pull', '--only', 'lists']);
    const path = copyIn(folder);
    const reading = spawn('bash', [
      '-c',
      `while :; do sqlite3 "$0" 'SELECT count(*), sum(length(data)) FROM contacts; SELECT count(*) FROM ticket_messages' >/dev/null 2>&1; done`,
      path,
    ]);
    try {
      for (let round = 0; round < draws(2, 4); round++) {
        const ran = await on.ask(folder, ['mirror', 'pull', '--full']);
        expect([ran.code, ran.code === 0 ? '' : ran.stderr]).toEqual([0, '']);
      }
    } finally {
      reading.kill('SIGKILL');
      await once(reading, 'exit');
    }
    const check = await on.ask(folder, ['mirror', 'sql', 'SELECT integrity_check FROM pragma_integrity_check']);
    expect(check.stdout).toBe('ok\n');
    const rows = await on.ask(folder, [
      'mirror',
      'sql',
      'SELECT (SELECT count(*) FROM contacts), (SELECT count(*) FROM tickets), (SELECT count(*) FROM ticket_messages)',
    ]);
    expect(rows.stdout).toBe('264\t44\t77\n');
  },
);

test('the mark is not trusted alone: a copy whose rest is gone is damaged, and can be deleted', async () => {
  const folder = on.folder();
  await on.ask(folder, ['mirror', 'pull', '--only', 'lists']);
  const bytes = readFileSync(copyIn(folder));
  bytes.fill(7, 100);
  writeFileSync(copyIn(folder), bytes);
  truncateSync(copyIn(folder), 8192 * 3);
  expect((await on.ask(folder, ['mirror', 'sql', 'SELECT 1'])).stderr).toContain('is damaged');
  expect((await on.ask(folder, ['mirror', 'forget'])).code).toBe(2);
  expect((await on.ask(folder, ['mirror', 'forget', '--yes'])).code).toBe(0);
  expect((await on.ask(folder, ['mirror', 'pull', '--only', 'lists'])).code).toBe(0);
});

// Only where two Nodes are given (SVC_TEST_NODE, in CI): the one of the tests and the tested one.
if (otherNode !== undefined) {
  describe('the two engines on one file', () => {
    const counts =
      'SELECT (SELECT count(*) FROM contacts), (SELECT count(*) FROM tickets), (SELECT count(*) FROM ticket_messages)';
    const check = 'SELECT integrity_check FROM pragma_integrity_check';

    test('read what the other wrote, in turns', async () => {
      const folder = on.folder();
      for (const program of [undefined, otherNode, undefined, otherNode]) {
        const pulled = await on.run(folder, ['mirror', 'pull', '--full'], {}, program);
        expect([pulled.code, pulled.code === 0 ? '' : pulled.stderr]).toEqual([0, '']);
        for (const reader of [otherNode, undefined]) {
          expect((await on.run(folder, ['mirror', 'sql', counts], {}, reader)).stdout).toBe('264\t44\t77\n');
          expect((await on.run(folder, ['mirror', 'search', 'export'], {}, reader)).code).toBe(0);
          expect((await on.run(folder, ['mirror', 'sql', check], {}, reader)).stdout).toBe('ok\n');
        }
      }
    });

    test.each(['the one', 'the other'])('at once, and %s killed in the middle: nothing is lost', async (which) => {
      const folder = on.folder();
      const [dying, living] = which === 'the one' ? [undefined, otherNode] : [otherNode, undefined];
      await on.run(folder, ['mirror', 'pull']);
      const killed = on.start(folder, ['mirror', 'pull', '--full'], {}, dying);
      const over = once(killed, 'exit');
      const both = on.run(folder, ['mirror', 'pull', '--full'], {}, living);
      await hasWorked(killed, 0.2);
      killed.kill('SIGKILL');
      await over;
      const { code, stderr } = await both;
      expect([code, code === 0 || stderr.includes('under a newer Node') ? '' : stderr]).toEqual([code, '']);
      for (const reader of [living, dying]) {
        expect((await on.run(folder, ['mirror', 'pull'], {}, reader)).code).toBe(0);
        expect((await on.run(folder, ['mirror', 'sql', check], {}, reader)).stdout).toBe('ok\n');
        expect((await on.run(folder, ['mirror', 'sql', counts], {}, reader)).stdout).toBe('264\t44\t77\n');
      }
    });
  });
}

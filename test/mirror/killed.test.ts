import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../src/sandbox/app.ts';
import { serve } from '../../src/sandbox/server.ts';
import { type Built, buildSvc } from '../built.ts';
import { draws, inTurn } from '../thorough.ts';
import { type Ask, asking, hasOwnSqlite, node, pulledFolders } from './copy-process.ts';

// The built tool as a real process against a real sandbox.

let built: Built;
let sandbox: Sandbox;
let server: { readonly port: number; close(): Promise<void> };
let ask: Ask;
let pulledFolder: () => Promise<string>;

beforeAll(async () => {
  built = await buildSvc();
  sandbox = createSandbox({ seed: 'demo', rateLimit: 'off' });
  server = await serve(sandbox, 0);
  ask = await asking(`http://127.0.0.1:${server.port}`, run);
  pulledFolder = pulledFolders(ask, newFolder);
});
afterAll(async () => {
  await server.close();
  await built.remove();
});

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

function start(folder: string, argv: readonly string[], env: Record<string, string> = {}, before: string[] = []) {
  // A file may grow to that many blocks.
  const { BLOCKS, ...others } = env;
  const limit = BLOCKS === undefined ? [] : ['bash', '-c', `trap '' XFSZ; ulimit -f ${BLOCKS}; exec "$@"`, 'bash'];
  const [program = node, ...args] = [...limit, node, ...before, built.script, ...argv];
  return spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      SVC_BASE_URL: `http://127.0.0.1:${server.port}`,
      SVC_API_KEY: 'key_acme',
      SVC_CONFIG_DIR: join(folder, 'config'),
      SVC_STATE_DIR: join(folder, 'state'),
      ...others,
    },
  });
}

async function run(folder: string, argv: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const before = env.KILL_AT === undefined ? [] : ['--require', join(import.meta.dirname, 'kill-at-write.cjs')];
  const child = start(folder, argv, env, before);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, stdout, stderr };
}

const newFolder = () => mkdtempSync(join(built.folder, 'killed-'));

/** What `counts` looks at. */
const counted = ['--only', 'contacts,tickets,changelog'];

const counts = async (folder: string) =>
  JSON.parse(
    (
      await ask(folder, [
        ...['mirror', 'sql', '--json'],
        'SELECT (SELECT count(*) FROM contacts) AS contacts, (SELECT count(*) FROM tickets) AS tickets, ' +
          '(SELECT count(*) FROM ticket_messages) AS messages, (SELECT count(*) FROM changelog) AS changelog',
      ])
    ).stdout,
  );

describe('a pull that is killed while the database is written', () => {
  const whole = async (folder: string) => {
    const next = await ask(folder, ['mirror', 'pull', '--json', ...counted]);
    expect({ code: next.code, stderr: next.code === 0 ? '' : next.stderr }).toEqual({ code: 0, stderr: '' });
    expect(await counts(folder)).toEqual([{ contacts: 264, tickets: 44, messages: 77, changelog: 32 }]);
    const check = await ask(folder, ['mirror', 'sql', 'SELECT integrity_check FROM pragma_integrity_check']);
    expect(check.stdout).toBe('ok\n');
  };

  // Node's own SQLite writes where no script can stand in its way: it is killed while its log grows.
  const ofNode = hasOwnSqlite ? test : undefined;
  ofNode?.each([1, 100_000, 400_000])('once its log has %i bytes, the next pull makes it whole', async (bytes) => {
    const folder = newFolder();
    const child = start(folder, ['mirror', 'pull']);
    const log = join(folder, 'state', 'mirror.db-wal');
    let isOver = false;
    child.once('exit', () => {
      isOver = true;
    });
    while (!isOver && !(existsSync(log) && statSync(log).size >= bytes)) await new Promise(setImmediate);
    child.kill('SIGKILL');
    if (!isOver) await once(child, 'exit');
    await whole(folder);
  });

  // The other engine is killed in the middle of one write. All of them where SVC_TEST_RUNS asks for more.
  const ofLibrary = hasOwnSqlite ? undefined : test;
  ofLibrary?.each(process.env.SVC_TEST_RUNS ? [3, 11, 30, 47, 80, 131] : inTurn([3, 30, 131], 0, 2))(
    'at write %i, the next pull makes it whole',
    { tags: ['long'] },
    async (at) => {
      const folder = newFolder();
      const killed = await run(folder, ['mirror', 'pull', ...counted], { KILL_AT: String(at) });
      expect(killed.code).toBe(null);
      await whole(folder);
    },
  );

  ofLibrary?.(
    'a backup that is put in the place of the torn file stays as it is: the journal is put aside',
    { tags: ['long'] },
    async () => {
      const folder = await pulledFolder();
      const file = join(folder, 'state', 'mirror.db');
      copyFileSync(file, `${file}.good`);
      const [good, before] = [readFileSync(file), await counts(folder)];
      // From here on the backup is an earlier state.
      await ask(folder, ['mirror', 'pull', '--only', 'lists']);
      expect(readFileSync(file).equals(good)).toBe(false);
      const killed = await run(folder, ['mirror', 'pull', '--full'], { KILL_AT: '1', KILL_IN: 'database' });
      expect(killed.code).toBe(null);
      const journal = readFileSync(`${file}.undo`);
      copyFileSync(`${file}.good`, file);
      expect(await counts(folder)).toEqual(before);
      expect(readFileSync(file).equals(good)).toBe(true);
      expect(readFileSync(`${file}.undo.aside`).equals(journal)).toBe(true);
      // And told, by whoever comes first.
      copyFileSync(`${file}.undo.aside`, `${file}.undo`);
      const told = await ask(folder, ['mirror', 'status']);
      expect([told.code, told.stderr]).toEqual([0, expect.stringContaining('mirror.db.undo.aside')]);
    },
  );

  ofLibrary?.(
    'what a killed transaction had written is undone, also for a query that only reads',
    { tags: ['long'] },
    async () => {
      const folder = await pulledFolder();
      const before = await counts(folder);
      // In the middle of a transaction that has begun to write into the database itself.
      const killed = await run(folder, ['mirror', 'pull', '--full'], { KILL_AT: '1', KILL_IN: 'database' });
      expect(killed.code).toBe(null);
      expect(statSync(join(folder, 'state', 'mirror.db.undo')).size).toBeGreaterThan(0);
      expect(await counts(folder)).toEqual(before);
      const check = await ask(folder, ['mirror', 'sql', 'SELECT integrity_check FROM pragma_integrity_check']);
      expect(check.stdout).toBe('ok\n');
    },
  );

  test('the copy and its journal can be read by their owner alone', async () => {
    const folder = newFolder();
    await ask(folder, ['mirror', 'pull', '--only', 'lists']);
    for (const name of ['mirror.db', 'mirror.db.undo', 'mirror.db-wal']) {
      const path = join(folder, 'state', name);
      if (existsSync(path)) expect(statSync(path).mode & 0o777).toBe(0o600);
    }
    expect(existsSync(join(folder, 'state', 'mirror.db.lock'))).toBe(false);
  });
});

test('of two pulls at once one waits for the other, and both end well', { tags: ['long'] }, async () => {
  const folder = newFolder();
  const pull = () => run(folder, ['mirror', 'pull', ...counted]);
  const both = await Promise.all([pull(), pull()]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(await counts(folder)).toEqual([{ contacts: 264, tickets: 44, messages: 77, changelog: 32 }]);
});

/** A request of somebody else. */
async function request(method: string, url: string, body: unknown): Promise<void> {
  const headers = { host: 'service.test', authorization: 'Bearer key_acme', 'content-type': 'application/json' };
  await sandbox.handle({ method, url, headers, body: JSON.stringify(body) });
}

test('a watch that is killed again and again tells every change at least once, and in order for each record', {
  tags: ['long'],
}, async () => {
  const folder = await pulledFolder();
  const argv = ['watch', 'tickets', '--name', 'crm', '--json'];
  const told: { record_id: number; after: { subject: string } }[] = [];
  const take = (lines: readonly string[]) => told.push(...lines.map((line) => JSON.parse(line)));
  const watchUntil = async (isEnough: () => boolean) => {
    const child = start(folder, [...argv, '--interval', '1']);
    let rest = '';
    for await (const piece of child.stdout) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      take(lines);
      // What it wrote before it died is still to be read.
      if (isEnough()) child.kill('SIGKILL');
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  const has = (subject: string) => told.some(({ after }) => after.subject === subject);
  const look = async () => {
    const { code, stdout, stderr } = await ask(folder, [...argv, '--once']);
    expect(code, stderr).toBe(0);
    take(stdout.split('\n').filter(Boolean));
  };
  // The first run notes where it begins.
  await look();

  const wanted: string[] = [];
  for (let round = 1; round <= draws(3, 4); round++) {
    for (const id of [3, 4, 5]) {
      const subject = `${id} in round ${round}`;
      wanted.push(subject);
      await request('PATCH', `/tickets/${id}`, { subject });
    }
    // Killed in the middle of what it tells.
    const before = told.length;
    await watchUntil(() => told.length >= before + (round % 3));
  }
  // The last kill may have come after everything was told and marked: then nothing more is told.
  if (!wanted.slice(-3).every(has)) await look();
  expect(wanted.filter((subject) => !has(subject))).toEqual([]);
  for (const id of [3, 4, 5]) {
    const rounds = told
      .filter(({ record_id }) => record_id === id)
      .map(({ after }) => Number(after.subject.split(' ').at(-1)));
    const firstTimes = [...new Set(rounds)];
    expect(firstTimes).toEqual([...firstTimes].sort());
  }
});

test.skipIf(process.platform !== 'linux')('where a file may not grow any more, that is what is said', async () => {
  const folder = newFolder();
  const { code, stderr } = await run(folder, ['mirror', 'pull', ...counted], { BLOCKS: '16' });
  expect(stderr).toMatch(/mirror\.db cannot be used: .*a file may not grow any more \(ulimit -f\)\./u);
  expect(code).toBe(1);
  expect(await run(folder, ['mirror', 'pull', ...counted])).toMatchObject({ code: 0 });
});

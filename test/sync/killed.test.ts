import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../src/sandbox/app.ts';
import { serve } from '../../src/sandbox/server.ts';
import { type Built, buildSvc } from '../built.ts';
import { type Ask, asking } from '../mirror/copy-process.ts';
import { inTurn } from '../thorough.ts';

// The built tool as a real process against a real sandbox; what kills it is in kill-at-write.cjs.

let built: Built;
let sandbox: Sandbox;
let server: { readonly port: number; close(): Promise<void> };
let ask: Ask;

/** Says `sync` when a chunk has come in, before it is looked at. */
const arrivals = new EventEmitter();
let arrived = 0;
/** What chunks wait for before the service looks at them. */
let held: Promise<void> | undefined;

beforeAll(async () => {
  built = await buildSvc();
  sandbox = createSandbox({ seed: 'empty', rateLimit: 'off' });
  const handle: Sandbox['handle'] = async (request) => {
    const isChunk = request.url.endsWith('/contacts/sync');
    if (isChunk) arrived++;
    arrivals.emit('sync');
    if (isChunk) await held;
    return sandbox.handle(request);
  };
  server = await serve({ ...sandbox, handle }, 0);
  ask = await asking(`http://127.0.0.1:${server.port}`, (folder) => sync(folder));
});
afterAll(async () => {
  await server.close();
  await built.remove();
});

/** 690 rows in four chunks, one of them bad, with an address that comes again in a later chunk. */
const rows = Array.from({ length: 690 }, (_, i) =>
  i === 17 ? 'bad,Bad,x' : `person${i % 411 === 5 ? 5 : i}@example.com,Name ${i},tag${i % 3}`,
);
const text = `email,name,tags\n${rows.join('\n')}\n`;

const control = async (method: string, name: string, body?: unknown) => {
  const headers = { host: '127.0.0.1', 'content-type': 'application/json' };
  const sent = body === undefined ? undefined : JSON.stringify(body);
  return JSON.parse((await sandbox.handle({ method, url: `/_sandbox/${name}`, headers, body: sent })).body);
};

type Stored = { email: string; name: string; tags: string[] };

/** What the service holds, without what depends on when it came. */
const stored = async () =>
  ((await control('GET', 'state')).contacts as Stored[])
    .map(({ email, name, tags }) => `${email} ${name} ${[...tags].sort()}`)
    .sort();

/** Starts svc on the folder's file; `through` are words that run Node instead of us. */
function start(
  folder: string,
  flags: readonly string[] = [],
  env: Record<string, string> = {},
  through: string[] = [],
) {
  const hook = join(import.meta.dirname, 'kill-at-write.cjs');
  const svc = [built.script, 'contacts', 'sync', join(folder, 'contacts.csv'), '--json', ...flags];
  const [program = '', ...args] = [...through, process.execPath, '--require', hook, ...svc];
  const child = spawn(program, args, {
    env: {
      PATH: process.env.PATH,
      SVC_BASE_URL: `http://127.0.0.1:${server.port}`,
      SVC_API_KEY: 'key_acme',
      SVC_CONFIG_DIR: join(folder, 'config'),
      SVC_STATE_DIR: join(folder, 'state'),
      ...env,
    },
  });
  const out = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    out.stderr += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...out }));
  return { child, ended, said: () => out.stderr };
}

const sync = (folder: string, env: Record<string, string> = {}) => start(folder, [], env).ended;

/** The next run, which nothing kills. */
const syncAgain = (folder: string) => ask(folder, ['contacts', 'sync', join(folder, 'contacts.csv'), '--json']);

const freshFolder = async () => {
  const folder = await mkdtemp(join(built.folder, 'sync-'));
  await writeFile(join(folder, 'contacts.csv'), text);
  return folder;
};

let undisturbed: readonly string[];

test('an undisturbed run, as the measure of the others', async () => {
  const ran = await sync(await freshFolder());
  expect(ran).toMatchObject({ code: 8 });
  expect(JSON.parse(ran.stdout)).toMatchObject({ rows: 690, rejected: 1, unsent: 0, chunks: 4 });
  undisturbed = await stored();
  expect(undisturbed).toHaveLength(688);
});

// The lines: run, then sent and done of four chunks, then finished.
describe.each([
  ['half-way through', 'half', 0],
  ['right after', 'after', 1],
] as const)('killed %s', (_, how, turn) => {
  test.each(
    inTurn(
      Array.from({ length: 10 }, (_, i) => i + 1),
      turn,
      2,
    ),
  )('journal line %i: the same command ends as if nothing had happened', { tags: ['long'] }, async (at) => {
    await control('POST', 'reset', { seed: 'empty' });
    const folder = await freshFolder();
    const killed = await sync(folder, { KILL_AT: String(at), KILL_HOW: how });
    expect(killed).toMatchObject({ code: null, signal: 'SIGKILL' });

    const ran = await syncAgain(folder);
    expect(ran).toMatchObject({ code: 8 });
    const { rows, created, updated, rejected, unsent, chunks, errors } = JSON.parse(ran.stdout);
    expect({ rows, rejected, unsent, chunks }).toEqual({ rows: 690, rejected: 1, unsent: 0, chunks: 4 });
    expect(created + updated).toBe(689);
    expect(errors).toMatchObject([{ line: 19 }]);
    expect(await stored()).toEqual(undisturbed);
  });
});

test('a disk that is full stops the run with what is done, and the next one goes on', { tags: ['long'] }, async () => {
  await control('POST', 'reset', { seed: 'empty' });
  const folder = await freshFolder();
  // A file may grow to one block: enough for the journal's first lines.
  const limit = ['bash', '-c', `trap '' XFSZ; ulimit -f 1; exec "$@"`, 'bash'];
  const { code, stderr } = await start(folder, ['--concurrency', '1'], {}, limit).ended;
  expect(stderr).toMatch(
    /(?:The journal of this sync cannot be written|The write cannot be recorded, so it was not sent): .* \d+ of 689 rows are done\./u,
  );
  expect(stderr).toContain('Run the same command again: it continues where this run stopped.');
  expect(code).toBe(1);
  const ran = await sync(folder);
  expect(ran).toMatchObject({ code: 8, stderr: expect.stringContaining('Resuming the run of') });
  expect(await stored()).toEqual(undisturbed);
});

test('Ctrl-C lets what is in flight be answered, says how to go on, and exits with 130', {
  tags: ['long'],
}, async () => {
  await control('POST', 'reset', { seed: 'empty' });
  let answer = () => {};
  held = new Promise((resolve) => {
    answer = resolve;
  });
  const folder = await freshFolder();
  arrived = 0;
  const { child, ended, said } = start(folder, ['--concurrency', '2']);
  while (arrived < 2) await once(arrivals, 'sync');
  child.kill('SIGINT');
  while (!said().includes('Stopping once 2 requests in flight are answered.')) await once(child.stderr, 'data');
  answer();
  const { code, stdout, stderr } = await ended;
  expect(code).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ rows: 690, created: 400, rejected: 1, unsent: 289, chunks: 2 });
  expect(stderr).toContain('Interrupted: 400 of 689 rows are done.');
  expect(stderr).toContain('Run the same command again');

  const ran = await sync(folder);
  expect(ran.stderr).toContain('400 of 689 rows are done.');
  expect(JSON.parse(ran.stdout)).toMatchObject({ rows: 690, unsent: 0, resumed_rows: 400, chunks: 4, requests: 4 });
  expect(await stored()).toEqual(undisturbed);
});

test('Ctrl-C a second time stops at once, and nothing is lost either', { tags: ['long'] }, async () => {
  await control('POST', 'reset', { seed: 'empty' });
  await control('POST', 'faults', [{ path: '/platform/contacts/sync', action: 'delay', ms: 20_000, times: 1 }]);
  const folder = await freshFolder();
  arrived = 0;
  const { child, ended } = start(folder, ['--concurrency', '1']);
  while (arrived < 1) await once(arrivals, 'sync');
  child.kill('SIGINT');
  // Not before the first one was noticed: two signals of one moment are one.
  const again = setInterval(() => child.kill('SIGINT'), 100);
  expect(await ended).toMatchObject({ code: 130 });
  clearInterval(again);
  await sync(folder);
  expect(await stored()).toEqual(undisturbed);
});

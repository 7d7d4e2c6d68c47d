// A draft that may have been sent stays `unknown` until an attempt of its own is answered well: no refusal of a later
// one, and no change of the thread, lets it wait again, for the next plain approval would send it twice.
import { beforeAll, describe, expect, test } from 'vitest';
import { refusals, refusing } from '../refusing.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { inTurn } from '../thorough.ts';
import { ownPostgres, type PostgresServer, withPostgres } from '../webhooks/own-postgres.ts';
import { atDesk } from './drafting.ts';

let server: PostgresServer | undefined;
let count = 0;

beforeAll(async () => {
  server = await ownPostgres();
});

const newDatabase = (): Record<string, string> => {
  const name = `unsure_${++count}`;
  server?.sql('postgres', `CREATE DATABASE ${name} STRATEGY FILE_COPY`);
  return { SVC_DRAFTS_DB: server?.url(name) ?? '' };
};

const places = [
  { name: 'a folder', test, env: () => ({}), met: Object.entries(refusals) },
  // The same code decides there.
  { name: 'Postgres', test: withPostgres, env: newDatabase, met: inTurn(Object.entries(refusals), 0, 3) },
];

/** A reply of which nobody knows whether it was sent: it is on its way. */
async function inDoubt(env: Record<string, string>, line = 'tickets reply 8 --body Fixed') {
  const sandbox = sandboxWorld({ rateLimit: 'off', seed: few });
  const service = refusing(sandbox, /\/(?:tickets|conversations)\//u);
  const world = { ...service.world, env: { ...service.world.env, ...env } };
  const desk = atDesk(world);
  const approve = async (...flags: readonly string[]) => {
    const { digest } = await desk.shown(1);
    const fast = ['--settle', '1', '--max-wait', '3'];
    return desk.run(['drafts', 'approve', '1', '--digest', digest, '--json', '--yes', ...fast, ...flags]);
  };
  await desk.draft(line);
  service.meets(service.late);
  expect((await approve()).exitCode).toBe(9);
  const { error } = await desk.shown(1);
  expect(error).toContain('may or may not have been');
  return { ...desk, ...service, sandbox, approve, error };
}

describe.each(places)('a draft in $name', ({ test, env, met }) => {
  for (const [what, refusal] of met) {
    test(`that may have been sent stays unknown where the next attempt meets ${what}`, async () => {
      const { approve, shown, run, meets, letGo, times, error } = await inDoubt(env());
      meets(() => refusal);
      const refused = await approve('--retry-unknown');
      expect(refused.exitCode).toBe(9);
      expect(JSON.parse(refused.stderr.trim().split('\n').at(-1) ?? '').error.message).toContain(
        'It was not sent again',
      );
      expect(await shown(1)).toMatchObject({ state: 'unknown', error });
      await letGo();
      meets(() => undefined);
      expect((await approve()).exitCode).toBe(9);
      expect((await run('drafts edit 1 --body Other')).exitCode).toBe(1);
      expect((await approve('--retry-unknown')).exitCode).toBe(0);
      expect(await shown(1)).toMatchObject({ state: 'sent', error: null, sent_id: expect.any(Number) });
      expect(times()).toEqual([1]);
    });
  }
});

test('a draft that may have been sent stays unknown where the thread is another one, and is sent once more when it was read', async () => {
  const { approve, shown, meets, times, sandbox } = await inDoubt({}, 'conversations reply 3 --body Fixed');
  meets(() => undefined);
  await sandbox.control('POST', 'act', { kind: 'customer_message', account_id: 1, conversation_id: 3, body: 'And?' });
  const changed = await approve('--retry-unknown');
  expect(changed.exitCode).toBe(11);
  expect(changed.stderr).toContain('Draft 1 was not sent again.');
  expect(changed.stderr).toContain('once more with --retry-unknown');
  expect(await shown(1)).toMatchObject({ state: 'unknown' });
  expect((await approve()).exitCode).toBe(9);
  expect(times()).toEqual([]);
  expect((await approve('--retry-unknown')).exitCode).toBe(0);
  expect(times()).toEqual([1]);
});

test('it is kept back too where the thread becomes another one while a rate limit is waited out', async () => {
  const { approve, shown, meets, times, sandbox, error } = await inDoubt({}, 'conversations reply 3 --body Fixed');
  const headers = { 'content-type': 'application/json', 'retry-after': '1', 'x-ratelimit-limit': '60' };
  const written = { kind: 'customer_message', account_id: 1, conversation_id: 3, body: 'And?' };
  let isFirst = true;
  meets(() => {
    if (!isFirst) return undefined;
    isFirst = false;
    return sandbox.control('POST', 'act', written).then(() => ({ status: 429, headers, body: '{"error":"Too many"}' }));
  });
  expect((await approve('--retry-unknown')).exitCode).toBe(11);
  expect(await shown(1)).toMatchObject({ state: 'unknown', error });
  expect(times()).toEqual([]);
});

test('Ctrl-C before it is sent once more leaves it unknown', async () => {
  const { run, shown, meets, times } = await inDoubt({});
  const stop = new AbortController();
  meets(() => {
    stop.abort('SIGINT');
    return { lost: 'before-sending', reason: 'aborted', detail: 'It was stopped.' };
  });
  const { digest } = await shown(1);
  const line = ['drafts', 'approve', '1', '--digest', digest, '--settle', '1', '--retry-unknown', '--yes'];
  expect((await run(line, { signal: stop.signal })).exitCode).toBe(130);
  expect(await shown(1)).toMatchObject({ state: 'unknown' });
  expect(times()).toEqual([]);
});

test('what follows a reply in doubt never goes before it', async () => {
  const { approve, shown, meets, letGo, times } = await inDoubt({}, 'tickets reply 8 --body Fixed --status resolved');
  meets(() => refusals['HTTP 403']);
  expect((await approve('--retry-unknown')).exitCode).toBe(9);
  await letGo();
  // Found, it is done; what follows was never sent, and what refuses that leaves it waiting.
  expect((await approve('--retry-unknown')).exitCode).toBe(5);
  expect(await shown(1)).toMatchObject({ state: 'waiting', steps: [{ state: 'done' }, { state: 'waiting' }] });
  meets(() => undefined);
  expect((await approve()).exitCode).toBe(0);
  expect(times()).toEqual([1, 1]);
});

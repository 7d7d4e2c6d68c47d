// A send that was confirmed waits a while: Return sends it now, Ctrl-C keeps its text.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { interruption } from '../../src/errors.ts';
import type { Service } from '../../src/http/call/call.ts';
import type { Held } from '../../src/sends/claim.ts';
import { deliver } from '../../src/sends/deliver.ts';
import type { Draft } from '../../src/sends/draft.ts';
import { svc, virtualClock } from '../svc.ts';
import { desk, writesOf } from './drafting.ts';

const reply = 'tickets reply 8 --body Hello';

test('it leaves once the time is over, in a pipe too', async () => {
  const { world, ok } = desk();
  const began = world.clock.ticks();
  await ok(`${reply} --hold 10`);
  expect(world.clock.ticks() - began).toBeGreaterThanOrEqual(10_000);
  expect(writesOf(world)).toHaveLength(1);
});

test('the setting holds every send, the rows of a file once, and what reaches nobody never', async () => {
  const { world, ok } = desk();
  await ok('config set hold 10');
  const began = world.clock.ticks();
  await ok('tickets reply --from - --yes', { stdin: 'id,body\n8,One\n9,Two\n10,Three\n' });
  expect(world.clock.ticks() - began).toBeLessThan(20_000);
  expect(writesOf(world)).toHaveLength(3);
  const later = world.clock.ticks();
  await ok('tickets close 8');
  expect(world.clock.ticks() - later).toBeLessThan(10_000);
});

test('what svc was stopped for does not count: who stopped it may still say no', async () => {
  const { world } = desk();
  const { clock } = world;
  const began = clock.ticks();
  let isStopped = false;
  const sleep: typeof clock.sleep = async (ms, signal) => {
    await clock.sleep(ms, signal);
    if (ms !== 1000 || isStopped) return;
    isStopped = true;
    await clock.sleep(60_000);
  };
  const ran = await svc({ ...world, clock: { ...clock, sleep } }, [...reply.split(' '), '--hold', '10']);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  expect(clock.ticks() - began).toBeGreaterThanOrEqual(70_000);
});

test('Return sends it now', async () => {
  const { world, ok } = desk();
  const began = world.clock.ticks();
  await ok(`${reply} --hold 1000`, { columns: 80, answers: [''] });
  expect(world.clock.ticks() - began).toBeLessThan(10_000);
  expect(writesOf(world)).toHaveLength(1);
});

test('Ctrl-C sends nothing, keeps the text as a draft, and names it: exit 130', async () => {
  const { world, run, shown } = desk();
  const stop = new AbortController();
  const progress = (text: string | undefined) => {
    if (text?.startsWith('Sending in 7')) stop.abort('SIGINT');
  };
  const ran = await run(`${reply} --hold 10`, { signal: stop.signal, progress });
  expect(ran).toMatchObject({ exitCode: 130, stderr: expect.stringContaining('draft 1') });
  expect(writesOf(world)).toEqual([]);
  expect(await shown(1)).toMatchObject({ state: 'waiting', body: 'Hello' });
});

test.each([
  ['conversations resolve 1 7 8', 'conversations resolve 7 8'],
  ['changelog publish 31 32', 'changelog publish 32'],
])('Ctrl-C in the hold of several ids keeps the first as a draft, and names the rest: %s', async (line, rest) => {
  const { world, run, shown } = desk();
  const stop = new AbortController();
  const progress = (text: string | undefined) => {
    if (text?.startsWith('Sending in 7')) stop.abort('SIGINT');
  };
  const ran = await run(`${line} --hold 10 --yes`, { signal: stop.signal, progress });
  expect(ran.exitCode).toBe(130);
  expect(ran.stderr.split('\n').slice(-4)).toEqual([
    'Error: Interrupted. Nothing was sent; the text is kept as draft 1.',
    expect.stringMatching(/^To send it once it is read: svc drafts approve 1 --digest [\da-f]+$/u),
    `To do the rest: svc ${rest}`,
    '',
  ]);
  expect(writesOf(world)).toEqual([]);
  expect(await shown(1)).toMatchObject({ state: 'waiting' });
  expect(await run(`${rest} --yes`)).toMatchObject({ exitCode: 0 });
});

test('Ctrl-C in the hold of several drafts names those that wait', async () => {
  const { world, ok, run, shown } = desk();
  const digests: string[] = [];
  for (const [at, ticket] of [8, 9, 5].entries()) {
    await ok(`tickets reply ${ticket} --body Hello --draft`);
    digests.push('--digest', (await shown(at + 1)).digest);
  }
  await ok('config set hold 10');
  const stop = new AbortController();
  const progress = (text: string | undefined) => {
    if (text?.startsWith('Sending in 7')) stop.abort('SIGINT');
  };
  const ran = await run(`drafts approve 1 2 3 ${digests.join(' ')}`, { signal: stop.signal, progress });
  expect(ran).toMatchObject({
    exitCode: 130,
    stderr: expect.stringContaining('To do the rest: svc drafts approve 1 2 3'),
  });
  expect(writesOf(world)).toEqual([]);
});

test('Ctrl-C at the countdown of a terminal does the same', async () => {
  const { world, run, shown } = desk();
  const ask = () => {
    throw interruption({ reason: 'SIGINT' });
  };
  const ran = await run(`${reply} --hold 10`, { columns: 80, countdown: ask });
  expect(ran).toMatchObject({ exitCode: 130, stderr: expect.stringContaining('draft 1') });
  expect(writesOf(world)).toEqual([]);
  expect(await shown(1)).toMatchObject({ state: 'waiting', body: 'Hello' });
});

test.each([
  ['Ctrl-C at the countdown', 'allow', '--hold 10'],
  ['Ctrl-C at a question', 'ask', ''],
])('of a file %s sends no row and makes no draft; the same command sends each once', async (_, mode, flags) => {
  const { world, run, ok, json } = desk();
  await ok(`config set sends ${mode}`);
  const stdin = 'id,body\n8,One\n9,Two\n10,Three\n11,Four\n12,Five\n';
  writeFileSync(join(world.folder, 'rows.csv'), stdin);
  const line = `tickets reply --from ${join(world.folder, 'rows.csv')} --yes`;
  const stop = () => {
    throw interruption({ reason: 'SIGINT' });
  };
  const ran = await run(`${line} ${flags}`.trim(), { columns: 80, countdown: stop, chooses: stop });
  expect(`${ran.stderr}\nexit ${ran.exitCode}`).toMatch(/exit 130$/u);
  expect(writesOf(world)).toEqual([]);
  expect(await json('drafts list --all')).toEqual([]);
  await ok('config set sends allow', { columns: 80, answers: [true] });
  await ok(line);
  expect(writesOf(world)).toHaveLength(5);
});

test('what is set while it waits holds: the mode, and the policy', async () => {
  const { world, run, ok } = desk();
  const during = (write: () => void) => (text: string | undefined) => {
    if (text?.startsWith('Sending in 7')) write();
  };
  const config = join(world.folder, 'config');
  mkdirSync(config, { recursive: true });
  const drafted = await run(`${reply} --hold 10`, {
    progress: during(() => writeFileSync(join(config, 'config.json'), '{"profiles":{"default":{"sends":"draft"}}}')),
  });
  expect(drafted).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('waiting') });
  await ok('config set sends allow', { columns: 80, answers: [true] });
  const refused = await run(`${reply} --hold 10`, {
    progress: during(() => writeFileSync(join(config, 'policy.yaml'), 'sends: { max_per_hour: 0 }\n')),
  });
  expect(refused.exitCode).toBe(5);
  expect(writesOf(world)).toEqual([]);
});

test('where mode ask is set while it waits a person is asked', async () => {
  const { world, run } = desk();
  const config = join(world.folder, 'config');
  mkdirSync(config, { recursive: true });
  const countdown = () => {
    writeFileSync(join(config, 'config.json'), '{"profiles":{"default":{"sends":"ask"}}}');
    return '';
  };
  const ran = await run(`${reply} --hold 10`, { columns: 80, countdown, answers: [false] });
  expect(ran.exitCode, ran.stderr).toBe(1);
  expect(writesOf(world)).toEqual([]);
});

test('an approved draft that is held back goes on waiting', async () => {
  const { world, draft, run, shown } = desk();
  const { digest } = await draft(reply);
  const stop = new AbortController();
  const progress = (text: string | undefined) => {
    if (text?.startsWith('Sending in 7')) stop.abort('SIGINT');
  };
  const ran = await run(`drafts approve 1 --digest ${digest}`, { signal: stop.signal, progress, env: {} });
  expect(ran.exitCode).toBe(0);
  const held = await draft('tickets reply 9 --body Hello');
  await run('config set hold 10');
  expect((await run(`drafts approve 2 --digest ${held.digest}`, { signal: stop.signal, progress })).exitCode).toBe(130);
  expect(await shown(2)).toMatchObject({ state: 'waiting' });
  expect(writesOf(world)).toHaveLength(1);
});

test.each([
  ['ENOSPC: no space left on device', 'ENOSPC: no space left on device'],
  ['Draft 1 in the database is damaged. Nothing was sent.', 'Draft 1 in the database is damaged.'],
])('a draft that was sent and cannot be ended in its log is not called unsent: %s', async (why, told) => {
  const { draft } = desk();
  const made = await draft('tickets reply 8 --body Hello');
  const all = { ...made, steps: [] } as unknown as Draft;
  const stop = vi.fn();
  const failed = () => Promise.reject(new Error(why));
  const held: Held = { draft: () => all, change: failed, settle: failed, end: failed, stop };
  const service = { ctx: { clock: virtualClock() } } as unknown as Service;
  const { failure } = await deliver({ service, held, by: 'ann' });
  expect(failure?.message).toBe(`Draft 1 was sent, and that could not be written down: ${told}`);
  expect(stop).toHaveBeenCalledOnce();
});

import { readFileSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';
import { allowed } from '../real-machine.ts';
import { until } from '../smoke/processes.ts';
import { type Machine, openMachine, type Started } from './machine.ts';

const container = ['--pid', '--fork', '--mount-proc', '--kill-child'] as const;
const inContainers = allowed('A PID namespace', 'unshare', ...container, 'true');

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

let machine: Machine;
beforeEach(async () => {
  machine = await openMachine(built.folder);
});
afterEach(() => machine.close());

const here = (...argv: string[]) => machine.start(process.execPath, built.script, ...argv);
const contained = (...argv: string[]) =>
  machine.start('unshare', ...container, process.execPath, built.script, ...argv);

const tokenRequested = () => until(() => machine.asked > 0);
const held = join('locks', 'profile%2Fdefault%2Foauth');

/** Stops the process, and is over once it stands still. */
async function stopped(pid = 0): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await until(() => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') T '));
}

/** The process inside the namespace: the only child of `unshare`. */
const inside = async ({ child }: Started): Promise<number> =>
  Number((await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim());

inContainers(
  'six containers that share a config folder: one refresh, and all of them succeed, three times',
  { tags: ['long'] },
  async () => {
    for (let round = 1; round <= 3; round++) {
      await machine.expiredLogin();
      machine.beforeAnswer = () => sleep(300);
      const before = machine.asked;
      const all = await Promise.all(Array.from({ length: 6 }, () => contained('account', 'get').ended));
      expect(all.map(({ code }) => code)).toEqual(Array(6).fill(0));
      expect(machine.asked - before).toBe(1);
    }
  },
);

inContainers(
  'a stopped holder in another container is waited for, and named, and its refresh is not repeated',
  { tags: ['long'] },
  async () => {
    await machine.expiredLogin();
    const answer = machine.holdAnswers();
    const holder = contained('account', 'get');
    await tokenRequested();
    const pid = await inside(holder);
    await stopped(pid);
    answer();
    const gaveUp = await contained('account', 'get', '--max-wait', '2').ended;
    expect(gaveUp.code).toBe(1);
    expect(gaveUp.stderr).toMatch(
      /^Waiting for the login default\/oauth: process 1 in another container .* has it\.$/mu,
    );
    expect(gaveUp.stderr).toMatch(/has had the login default\/oauth for more than 2 s/u);
    expect(gaveUp.stderr).toContain(`rm '${join(machine.config, held)}`);

    const waiting = contained('account', 'get');
    await until(() => waiting.stderr().includes('Waiting for the login'));
    process.kill(await inside(waiting), 'SIGINT');
    expect((await waiting.ended).code).toBe(130);

    const patient = contained('account', 'get');
    await until(() => patient.stderr().includes('Waiting for the login'));
    process.kill(pid, 'SIGCONT');
    expect((await holder.ended).code).toBe(0);
    expect((await patient.ended).code).toBe(0);
    expect(machine.asked).toBe(1);
  },
);

inContainers(
  'a holder that was killed in another container is waited for; once its file is removed, svc goes on',
  { tags: ['long'] },
  async () => {
    await machine.expiredLogin();
    const answer = machine.holdAnswers();
    const holder = contained('account', 'get');
    await tokenRequested();
    process.kill(await inside(holder), 'SIGKILL');
    await holder.ended;
    const { code, stderr } = await here('account', 'get', '--max-wait', '1.5').ended;
    expect(code).toBe(1);
    const file = /rm '([^']+)'/u.exec(stderr)?.[1] ?? '';
    await rm(file);
    answer();
    // The service had acted, and the answer died with the process: no tool can have that pair.
    const after = await here('account', 'get', '--max-wait', '1.5').ended;
    expect(after.code).toBe(4);
    expect(after.stderr).toContain('svc login');
  },
);

test('a stopped holder of this machine is named as stopped; Ctrl-C ends the wait at once', {
  tags: ['long'],
}, async () => {
  await machine.expiredLogin();
  const answer = machine.holdAnswers();
  const holder = here('account', 'get');
  await tokenRequested();
  await stopped(holder.child.pid);
  answer();
  const waiting = here('account', 'get');
  await until(() => waiting.stderr().includes('Waiting'));
  expect(waiting.stderr()).toMatch(new RegExp(`process ${holder.child.pid} on .*, which is stopped, has it`, 'u'));
  waiting.child.kill('SIGTERM');
  expect((await waiting.ended).code).toBe(143);
  holder.child.kill('SIGCONT');
  expect((await holder.ended).code).toBe(0);
  expect(machine.asked).toBe(1);
});

test('Ctrl-C while the refresh is under way is acknowledged, and the new pair is saved', {
  tags: ['long'],
}, async () => {
  await machine.expiredLogin();
  const answer = machine.holdAnswers();
  const run = here('account', 'get');
  await tokenRequested();
  run.child.kill('SIGINT');
  await until(() => run.stderr().includes('Stopping once the refreshed login is saved'));
  answer();
  expect((await run.ended).code).toBe(130);
  expect((await here('account', 'get').ended).code).toBe(0);
  expect(machine.asked).toBe(1);
});

test('an entry that version 0.1.0 left, of a process that is gone, is cleared at once', {
  tags: ['long'],
}, async () => {
  await machine.expiredLogin();
  const { hostname } = await import('node:os');
  const gone = machine.start('true');
  await gone.ended;
  await writeFile(
    join(machine.config, held, `${hostname().replaceAll(/[^\w-]/gu, '-')}.${gone.child.pid}.12345.abc`),
    '',
  );
  expect((await here('account', 'get', '--max-wait', '1').ended).code).toBe(0);
  expect(await readdir(join(machine.config, held))).toEqual([]);
});

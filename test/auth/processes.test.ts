import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';
import { until } from '../smoke/processes.ts';
import { draws } from '../thorough.ts';
import { type Machine, openMachine } from './machine.ts';

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

const svc = (...argv: string[]) => machine.start(process.execPath, built.script, ...argv);

test('many processes that start with an expired token: one refresh, and all of them succeed', async () => {
  await machine.expiredLogin();
  const all = await Promise.all(
    Array.from({ length: draws(6, 30) }, () => svc('account', 'get', '--max-wait', '3600').ended),
  );
  expect(all.filter(({ code }) => code !== 0)).toEqual([]);
  expect(machine.asked).toBe(1);
});

test('a slow refresh is waited for, not taken over', { tags: ['long'] }, async () => {
  await machine.expiredLogin();
  const answer = machine.holdAnswers();
  const first = svc('account', 'get');
  await until(() => machine.asked > 0);
  const others = [svc('account', 'get'), svc('account', 'get')];
  await until(() => others.every((other) => other.stderr().includes('Waiting for the login')));
  answer();
  const all = await Promise.all([first, ...others].map(({ ended }) => ended));
  expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(machine.asked).toBe(1);
});

test('SIGKILL at any point of a refresh leaves a login that works, or one that says to log in again', {
  tags: ['long'],
}, async () => {
  let lost = 0;
  for (let ms = 40; ms <= 260; ms += 20) {
    await machine.expiredLogin();
    const { child, ended } = svc('account', 'get');
    await sleep(ms);
    child.kill('SIGKILL');
    await ended;
    // The lock of the dead is taken over at once: nobody waits for a process that is gone.
    const { code, stderr } = await svc('account', 'get').ended;
    expect([0, 4]).toContain(code);
    if (code === 4) {
      lost++;
      expect(stderr).toMatch(/has ended.*invalid_grant.*Log in again with: svc login/su);
    }
    JSON.parse(await readFile(join(machine.config, 'credentials.json'), 'utf8'));
  }
  // Only the short time between the service's answer and our disk can lose one.
  expect(lost).toBeLessThan(6);
});

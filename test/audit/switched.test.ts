// The record of writes says itself when it was switched off and on.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openAudit } from '../../src/audit/audit.ts';
import { entriesIn, filesOf } from '../../src/audit/read.ts';
import { gapsOf } from '../../src/audit/switch.ts';
import { verify } from '../../src/audit/verify.ts';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { aboutIn } from './about.ts';

const newWorld = () => sandboxWorld({ seed: few, rateLimit: 'off' });
const stateOf = ({ folder }: SandboxWorld) => join(folder, 'state');
const rootOf = (world: SandboxWorld, name = 'service.test-environment') => join(stateOf(world), 'audit', name);
const config = async (world: SandboxWorld, ...argv: string[]) => {
  const ran = await svc(world, ['config', ...argv]);
  expect(ran.exitCode).toBe(0);
  return ran;
};
const note = (world: SandboxWorld, body: string) => svc(world, ['tickets', 'note', 'T-1008', '--body', body]);
const timeOf = ({ clock }: SandboxWorld) => clock.now().toISOString();
const later = ({ clock }: SandboxWorld) => clock.advance(60_000);

test('a record that was switched off and on lists both, and verify names the gap', async () => {
  const world = newWorld();
  await note(world, 'One');
  later(world);
  const from = timeOf(world);
  await config(world, 'set', 'audit', 'off');
  await note(world, 'Unseen');
  const off = await svc(world, ['audit', 'verify']);
  expect([off.exitCode, off.stdout]).toEqual([
    0,
    `2 writes in 4 lines, as svc wrote them. It is switched off since ${from}: nothing that is written is in it.\n`,
  ]);
  later(world);
  const to = timeOf(world);
  await config(world, 'unset', 'audit');
  await note(world, 'Two');
  const verified = await svc(world, ['audit', 'verify']);
  expect([verified.exitCode, verified.stdout]).toEqual([
    0,
    `4 writes in 8 lines, as svc wrote them. It was switched off from ${from} to ${to}: what was written then is not in it.\n`,
  ]);
  const record = JSON.parse((await svc(world, ['audit', 'verify', '--json'])).stdout);
  expect(record).toMatchObject({ valid: true, fault: null, lines: 8, writes: 4, gaps: [{ from, to }] });
  const rows = (await svc(world, ['audit', 'list'])).stdout.trimEnd().split('\n');
  expect(rows).toHaveLength(record.writes);
  expect(rows.map((row) => row.split('\t').slice(2, 5))).toEqual([
    ['done', 'tickets note', 'ticket T-1008'],
    ['done', 'config unset audit', 'record of writes on'],
    ['done', 'config set audit off', 'record of writes off'],
    ['done', 'tickets note', 'ticket T-1008'],
  ]);
});

test('its lines are of the form that an older svc reads, two of each', async () => {
  const world = newWorld();
  await note(world, 'One');
  await config(world, 'set', 'audit', 'off');
  const [file = ''] = filesOf(rootOf(world));
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(2);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { seq: 2, line: 3, outcome: 'sent', face: 'cli', path: '', record: null, operation: null, recording: 'off' },
    { seq: 2, line: 4, outcome: 'done', face: 'cli', path: '', record: null, operation: null, recording: 'off' },
  ]);
  expect(lines.every((line) => /^\{"seq":2,"newest":2,"line":[34],/u.test(line))).toBe(true);
});

test('the record of every account says so, and one that was not there yet begins with it', async () => {
  const world = newWorld();
  const audit = openAudit({ clock: world.clock, files: { state: stateOf(world) } }, 'other', 'on');
  await (await audit.begin(aboutIn('tickets note'), '')).ended({ outcome: 'done', status: 200 });
  await config(world, 'set', 'audit', 'off');
  for (const name of ['other', 'service.test-environment']) {
    const [newest] = (await entriesIn(rootOf(world, name))).reverse();
    expect(newest).toMatchObject({ command: 'config set audit off', outcome: 'done', recording: 'off' });
    expect((await verify(rootOf(world, name))).gaps).toEqual([{ from: expect.any(String), to: null }]);
  }
});

test('between on and full nothing is switched, and off twice is one gap', async () => {
  const world = newWorld();
  await note(world, 'One');
  for (const mode of ['full', 'on', '']) await config(world, 'set', 'audit', mode);
  expect(await entriesIn(rootOf(world))).toHaveLength(1);
  for (const mode of ['off', 'off', 'full']) await config(world, 'set', 'audit', mode);
  expect((await entriesIn(rootOf(world))).map(({ command }) => command)).toEqual([
    'tickets note',
    'config set audit off',
    'config set audit full',
  ]);
  expect((await verify(rootOf(world))).gaps).toHaveLength(1);
});

test('a record that cannot be written is switched off all the same, and that it does not say so is told', async () => {
  const world = newWorld();
  mkdirSync(stateOf(world), { recursive: true });
  writeFileSync(join(stateOf(world), 'audit'), 'no folder');
  const { stderr } = await config(world, 'set', 'audit', 'off');
  expect(stderr).toContain('audit is off now.');
  expect(stderr).toMatch(/The record in .+audit does not say so: ./u);
  expect((await note(world, 'Unseen')).exitCode).toBe(0);
  rmSync(join(stateOf(world), 'audit'));
  expect(existsSync(rootOf(world))).toBe(false);
});

test('doctor says that no record is kept, and that nothing is wrong with it', async () => {
  const world = newWorld();
  const of = async () => {
    const { checks } = JSON.parse((await svc(world, ['doctor', '--json'])).stdout);
    return checks.filter(({ name }: { name: string }) => name === 'audit');
  };
  expect(await of()).toEqual([]);
  await config(world, 'set', 'audit', 'off');
  const message = 'No record of writes is kept. To keep one: svc config set audit on';
  expect(await of()).toEqual([{ name: 'audit', ok: true, message, fix: null }]);
});

test('what was never switched is no gap, and one that was not switched on for sure stays open', () => {
  const { see, gaps } = gapsOf();
  const line = { ...aboutIn('x'), newest: 0, line: 0, status: null, prev: null } as const;
  see({ ...line, seq: 1, time: 'a', outcome: 'sent', recording: 'off' });
  see({ ...line, seq: 1, time: 'b', outcome: 'refused', recording: 'off' });
  expect(gaps()).toEqual([]);
  see({ ...line, seq: 2, time: 'c', outcome: 'sent', recording: 'off' });
  see({ ...line, seq: 2, time: 'd', outcome: 'done', recording: 'off' });
  see({ ...line, seq: 3, time: 'e', outcome: 'sent', recording: 'on' });
  expect(gaps()).toEqual([{ from: 'c', to: null }]);
  see({ ...line, seq: 3, time: 'f', outcome: 'done', recording: 'on' });
  expect(gaps()).toEqual([{ from: 'c', to: 'f' }]);
});

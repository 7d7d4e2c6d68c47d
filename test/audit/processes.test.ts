// Real processes that record writes at once, killed and stopped at any moment.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rolldown } from 'rolldown';
import { beforeAll, expect, test } from 'vitest';
import { entriesIn } from '../../src/audit/read.ts';
import { verify } from '../../src/audit/verify.ts';
import { endAfterEach } from '../endings.ts';
import { draws } from '../thorough.ts';

const endings = endAfterEach();
let script: string;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-appender-'));
  const bundle = await rolldown({ input: 'test/audit/appender.ts', platform: 'node' });
  await bundle.write({ dir: folder, format: 'es', entryFileNames: '[name].mjs' });
  script = join(folder, 'appender.mjs');
});

type Appender = { readonly child: ChildProcess; readonly seqs: number[]; readonly ended: Promise<unknown> };

function appender(state: string, name: string, count: number): Appender {
  const child = spawn(process.execPath, [script, state, name, String(count)], { stdio: ['ignore', 'pipe', 'inherit'] });
  endings.push(() => child.kill('SIGKILL'));
  const seqs: number[] = [];
  let rest = '';
  child.stdout?.on('data', (bytes) => {
    const lines = `${rest}${bytes}`.split('\n');
    rest = lines.pop() ?? '';
    seqs.push(...lines.map(Number));
  });
  return { child, seqs, ended: once(child, 'close') };
}

/** What each process was told is there, is there, once, and the chain holds. */
async function expectWhole(state: string, appenders: readonly (readonly [string, Appender])[]): Promise<void> {
  const root = join(state, 'audit', 'acme');
  const { fault, lines } = await verify(root);
  expect(fault).toBeUndefined();
  const entries = await entriesIn(root);
  const commandOf = new Map(entries.map(({ seq, command }) => [seq, command]));
  expect([...commandOf.keys()]).toEqual(entries.map((_, index) => index + 1));
  expect(lines).toBeGreaterThan(entries.length);
  for (const [name, { seqs }] of appenders) {
    expect(new Set(seqs.map((seq) => commandOf.get(seq)))).toEqual(new Set(seqs.length > 0 ? [name] : []));
    expect(new Set(seqs).size).toBe(seqs.length);
  }
}

test('processes that append at once, each killed at a moment of chance, leave a whole chain with all that they were told is in it', {
  tags: ['long'],
}, async () => {
  const state = mkdtempSync(join(tmpdir(), 'svc-audit-'));
  const all: [string, Appender][] = [];
  for (let round = 0; round < draws(2, 3); round++) {
    const running = Array.from({ length: 4 }, (_, index): [string, Appender] => {
      const name = `round ${round} process ${index}`;
      return [name, appender(state, name, 1_000_000)];
    });
    all.push(...running);
    // Each is at work before the first of them ends.
    for (const [, { child, seqs }] of running) while (seqs.length === 0) await once(child.stdout ?? child, 'data');
    for (const [, { child, ended }] of running) {
      await sleep(Math.random() * 60);
      child.kill('SIGKILL');
      await ended;
    }
  }
  const last = appender(state, 'the last', 50);
  await last.ended;
  expect(last.seqs).toHaveLength(150);
  await expectWhole(state, [...all, ['the last', last]]);
});

// Only Linux tells that a process is stopped.
test.runIf(process.platform === 'linux')(
  'a process that is stopped in the middle of its writes holds nobody up, and nothing is lost when it goes on',
  async () => {
    const state = mkdtempSync(join(tmpdir(), 'svc-audit-'));
    const stopped = appender(state, 'stopped', 120);
    while (stopped.seqs.length < 20) await once(stopped.child.stdout ?? stopped.child, 'data');
    stopped.child.kill('SIGSTOP');
    const other = appender(state, 'other', 20);
    await other.ended;
    expect(other.seqs).toHaveLength(60);
    stopped.child.kill('SIGCONT');
    await stopped.ended;
    expect(stopped.seqs).toHaveLength(360);
    await expectWhole(state, [
      ['stopped', stopped],
      ['other', other],
    ]);
  },
);

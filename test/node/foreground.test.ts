import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { edit } from '../../src/node/editor.ts';
import { page } from '../../src/node/pager.ts';
import { until } from '../smoke/processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-foreground-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let started = 0;

/** A program that stays until it is ended. */
function program() {
  const file = join(folder, `pid-${started++}`);
  const isThere = () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n');
  const pid = () => Number(readFileSync(file, 'utf8'));
  const lives = () => existsSync(`/proc/${pid()}`);
  writeFileSync(`${file}.sh`, `#!/bin/sh\necho $$ > ${file}\nexec sleep 60\n`, { mode: 0o755 });
  return { line: `${file}.sh --any`, comes: () => until(isThere), pid, lives };
}

test.each([
  ['a pager', (command: string, signal: AbortSignal) => page(command, 'text', { env: process.env, signal })],
  [
    'an editor',
    (command: string, signal: AbortSignal) =>
      edit('text', '.txt', { env: { EDITOR: command }, files: { state: tmpdir() }, signal }),
  ],
])('SIGTERM ends %s with svc; Ctrl-C is its own', async (_, open) => {
  const patient = program();
  const interrupt = new AbortController();
  const left = open(patient.line, interrupt.signal);
  await patient.comes();
  interrupt.abort('SIGINT');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(patient.lives()).toBe(true);
  process.kill(patient.pid());
  await Promise.allSettled([left]);

  const ended = program();
  const control = new AbortController();
  const shown = open(ended.line, control.signal);
  await ended.comes();
  control.abort('SIGTERM');
  await expect(shown).rejects.toMatchObject({ kind: 'terminated' });
  await until(() => !ended.lives());
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDraft } from '../../src/disk/draft-file.ts';
import { real } from '../real-component.ts';

real('mkfifo')('a pipe that nobody reads is waited for until a signal', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'svc-pipe-')), 'pipe');
  execFileSync('mkfifo', [path]);
  const signal = AbortSignal.abort('SIGTERM');
  await expect(openDraft(path, undefined, signal)).rejects.toMatchObject({ kind: 'terminated' });
});

test('an empty name is refused, and nothing is written', async () => {
  const before = readdirSync('.');
  await expect(openDraft('')).rejects.toMatchObject({ kind: 'usage' });
  expect(readdirSync('.')).toEqual(before);
});

test('a device is written to, though nothing can be flushed there', async () => {
  const draft = await openDraft('/dev/null');
  draft.stream.write('rows');
  await expect(draft.keep()).resolves.toBeUndefined();
});

test('what stands beside the file under the name that a draft might have is not written to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-draft-'));
  const victim = join(folder, 'victim');
  writeFileSync(victim, 'mine');
  symlinkSync(victim, join(folder, `.out.csv.${process.pid}.part`));
  const draft = await openDraft(join(folder, 'out.csv'));
  const [name = ''] = readdirSync(folder).filter((one) => one.startsWith('.out.csv.') && !one.endsWith('.part'));
  expect(name).toMatch(/^\.out\.csv\.\d+\.[a-z\d]+$/u);
  draft.stream.write('rows');
  await draft.keep();
  // Only then it was flushed.
  expect(draft.stream.closed).toBe(true);
  expect([readFileSync(join(folder, 'out.csv'), 'utf8'), readFileSync(victim, 'utf8')]).toEqual(['rows', 'mine']);
});

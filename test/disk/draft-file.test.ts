import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
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

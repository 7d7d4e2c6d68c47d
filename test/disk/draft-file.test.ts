import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDraft } from '../../src/disk/draft/draft-file.ts';
import { realPath } from '../../src/disk/file/same-file.ts';
import { real } from '../real-component.ts';

const waiting = { signal: new AbortController().signal, notice: () => {} };

real('mkfifo')('a pipe that nobody reads is waited for until a signal', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'svc-pipe-')), 'pipe');
  execFileSync('mkfifo', [path]);
  const signal = AbortSignal.abort('SIGTERM');
  await expect(openDraft(path, { ...waiting, signal })).rejects.toMatchObject({ kind: 'terminated' });
});

test('an empty name is refused, and nothing is written', async () => {
  const before = readdirSync('.');
  await expect(openDraft('', waiting)).rejects.toMatchObject({ kind: 'usage' });
  expect(readdirSync('.')).toEqual(before);
});

test('a device is written to, though nothing can be flushed there', async () => {
  const draft = await openDraft('/dev/null', waiting);
  draft.stream.write('rows');
  await expect(draft.keep()).resolves.toBeUndefined();
});

test('what stands beside the file under the name that a draft might have is not written to', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-draft-'));
  const victim = join(folder, 'victim');
  writeFileSync(victim, 'mine');
  symlinkSync(victim, join(folder, `.out.csv.${process.pid}.part`));
  const draft = await openDraft(join(folder, 'out.csv'), waiting);
  const [name = ''] = readdirSync(folder).filter((one) => one.startsWith('.out.csv.') && !one.endsWith('.part'));
  expect(name).toMatch(/^\.out\.csv\.\d+\.[a-z\d]+$/u);
  draft.stream.write('rows');
  await draft.keep();
  // Only then it was flushed.
  expect(draft.stream.closed).toBe(true);
  expect([readFileSync(join(folder, 'out.csv'), 'utf8'), readFileSync(victim, 'utf8')]).toEqual(['rows', 'mine']);
});

test('a link whose file is not there yet stays, and leads to what was written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-draft-'));
  const link = join(folder, 'out.csv');
  symlinkSync('real.csv', link);
  const draft = await openDraft(link, waiting);
  draft.stream.write('rows');
  await draft.keep();
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(folder, 'real.csv'), 'utf8')).toBe('rows');
});

test('a link out of a folder that is a link itself leads where it does for the shell', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-draft-'));
  for (const name of ['a', 'b', 'c']) mkdirSync(join(folder, name));
  symlinkSync('../b', join(folder, 'a', 'l'));
  symlinkSync('../c/f', join(folder, 'b', 'x'));
  const path = join(folder, 'a', 'l', 'x');
  expect(await realPath(path)).toBe(join(await realPath(folder), 'c', 'f'));
  const draft = await openDraft(path, waiting);
  draft.stream.write('rows');
  await draft.keep();
  expect(readFileSync(join(folder, 'c', 'f'), 'utf8')).toBe('rows');
});

test('a file that is replaced stays as open as it was, whatever the umask', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'svc-draft-')), 'out.csv');
  for (const mode of [0o666, 0o640]) {
    writeFileSync(path, 'old');
    chmodSync(path, mode);
    const draft = await openDraft(path, waiting);
    draft.stream.write('new');
    await draft.keep();
    expect(statSync(path).mode & 0o777).toBe(mode);
  }
});

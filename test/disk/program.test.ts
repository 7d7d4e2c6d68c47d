// Whether a program is surely not there: only then is a command refused that would run it.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isMissing, placesOnWindows } from '../../src/disk/place/program.ts';

/** A folder with the program `notify`, one with it in `bin/`, and one with neither. */
function folders() {
  const [here, below, none] = [1, 2, 3].map(() => mkdtempSync(join(tmpdir(), 'svc-program-'))) as [
    string,
    string,
    string,
  ];
  mkdirSync(join(below, 'bin'));
  for (const folder of [here, join(below, 'bin')])
    writeFileSync(join(folder, 'notify'), '#!/bin/sh\n', { mode: 0o755 });
  return { here, below, none };
}

const isPosix = process.platform !== 'win32';

test.runIf(isPosix)('a name is looked for in PATH, of which an empty part is the folder itself', async () => {
  const { here, below, none } = folders();
  const found: (readonly [folder: string, searched: string | undefined])[] = [
    [none, `${none}:${here}`],
    [here, `:${none}`],
    [here, `${none}:`],
    [below, 'bin'],
    [none, undefined],
    [none, ''],
  ];
  for (const [folder, searched] of found) expect(await isMissing('notify', { folder, searched })).toBe(false);
  for (const searched of [none, `:${none}`]) expect(await isMissing('notify', { folder: none, searched })).toBe(true);
});

test.runIf(isPosix)('a path is looked for in the folder, and a file that may not be run is none', async () => {
  const { here, below, none } = folders();
  writeFileSync(join(none, 'other'), '', { mode: 0o644 });
  expect(await isMissing('./notify', { folder: here, searched: none })).toBe(false);
  expect(await isMissing('bin/notify', { folder: below, searched: none })).toBe(false);
  expect(await isMissing('./notify', { folder: none, searched: here })).toBe(true);
  if (process.getuid?.() !== 0) expect(await isMissing('./other', { folder: none, searched: here })).toBe(true);
});

test('on Windows nobody knows, since ./notify may be notify.exe', async () => {
  const platform = Object.getOwnPropertyDescriptor(process, 'platform') as PropertyDescriptor;
  onTestFinished(() => void Object.defineProperty(process, 'platform', platform));
  Object.defineProperty(process, 'platform', { ...platform, value: 'win32' });
  const { none } = folders();
  for (const program of ['./notify', 'notify']) {
    expect(await isMissing(program, { folder: none, searched: none })).toBe(false);
  }
});

describe('on Windows', () => {
  const env = { PATHEXT: '.EXE;.CMD', SystemRoot: 'C:\\Windows' };

  test('a bare name is looked for in PATH alone, never in the folder one stands in', () => {
    const PATH = '.;;tools;C:tools;\\tools;"C:\\Program Files\\less";D:/bin;\\\\host\\share';
    expect(placesOnWindows('less', { ...env, PATH })).toEqual([
      'C:\\Program Files\\less\\less.EXE',
      'C:\\Program Files\\less\\less.CMD',
      'D:\\bin\\less.EXE',
      'D:\\bin\\less.CMD',
      '\\\\host\\share\\less.EXE',
      '\\\\host\\share\\less.CMD',
      'C:\\Windows\\System32\\less.EXE',
      'C:\\Windows\\System32\\less.CMD',
    ]);
    expect(placesOnWindows('ngrok.exe', { ...env, PATH: 'C:\\a' })[0]).toBe('C:\\a\\ngrok.exe');
  });

  test.each(['.\\less', 'bin/less', 'C:\\bin\\less.exe', 'C:less'])('%s is a path and stays one', (path) => {
    expect(placesOnWindows(path, { ...env, PATH: 'C:\\a' })).toEqual([]);
  });

  test('every start of a program by its name goes that way', () => {
    const source = join(import.meta.dirname, '..', '..', 'src');
    // They start svc itself, by its whole path, or a shell, which is told not to look there.
    const others = /^(?:auth\/store-keyring|mirror\/query\/apart|commands\/each\/run|node\/editor)\.ts$/u;
    const starting = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => file.endsWith('.ts') && !others.test(file))
      .map((file) => ({ file, text: readFileSync(join(source, file), 'utf8') }))
      .filter(({ text }) => /\b(?:execa|spawn)\(/u.test(text));
    expect(starting.length).toBeGreaterThan(4);
    expect(starting.filter(({ text }) => !text.includes('await located(')).map(({ file }) => file)).toEqual([]);
  });
});

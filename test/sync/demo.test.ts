// @module-tag long
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { spawn as spawnTerminal } from '@lydell/node-pty';
import { afterAll, beforeAll, expect, test } from 'vitest';
// @ts-expect-error: a script for people, without types
import { makeContacts } from '../../examples/make-contacts.js';
import { type Built, buildSvc } from '../built.ts';

const examples = join(import.meta.dirname, '..', '..', 'examples');

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
  await cp(examples, join(dirname(dirname(built.script)), 'examples'), { recursive: true });
});
afterAll(() => built.remove());

async function run(args: readonly string[], cwd = built.folder) {
  const child = spawn(process.execPath, [built.script, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: built.folder, TMPDIR: built.folder },
  });
  const out = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    out.stderr += text;
  });
  const [code] = await once(child, 'close');
  return { code, ...out };
}

test('the example is what its script makes: 1,000 rows of what real exports hold', async () => {
  const text = await readFile(join(examples, 'contacts.csv'), 'utf8');
  expect(text).toBe(makeContacts());
  const { code, stdout } = await run(['contacts', 'sync', join(examples, 'contacts.csv'), '--dry-run', '--json']);
  expect(code).toBe(8);
  expect(JSON.parse(stdout)).toMatchObject({ rows: 1000, chunks: 5 });
});

test('the demo works from any folder, and each command that it shows can be typed', async () => {
  const { code, stdout } = await run(['sandbox', 'demo']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^rows\t1000$/mu);
  const commands = stdout.split('\n').flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : []));
  expect(commands).toEqual([
    expect.stringMatching(/^svc contacts sync \S*contacts\.csv --rejects \S+$/u),
    'svc contacts list --limit 5',
    expect.stringMatching(/^svc contacts sync \S*contacts\.csv --quiet --jq /u),
  ]);
  const typed = await run(['sandbox', 'exec', '--', 'sh', '-c', commands.join('\n')]);
  expect(typed).toMatchObject({ code: 8, stdout: expect.stringContaining('0 created, 974 updated') });
  expect(stdout).toContain('outside of one go to your own account');
  const rejects = /^The rejected rows, with what is wrong with each: (.+)$/mu.exec(stdout)?.[1] ?? '';
  expect(await readFile(rejects, 'utf8')).toContain('svc_line,svc_error');
});

test.skipIf(process.platform === 'win32')(
  'on a narrow terminal what the demo says is broken between words',
  async () => {
    const pty = spawnTerminal(process.execPath, [built.script, 'sandbox', 'demo'], {
      cols: 60,
      rows: 500,
      env: { PATH: process.env.PATH ?? '', HOME: built.folder, TMPDIR: built.folder, NO_COLOR: '1', TERM: 'xterm' },
    });
    let screen = '';
    pty.onData((text) => {
      screen += text;
    });
    await new Promise((ended) => pty.onExit(ended));
    // A slow machine shows a spinner too, and takes each of its lines off again by an escape sequence.
    const isErased = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]\P{Cc}*/gu;
    const withoutSpinner = stripVTControlCharacters(screen.replaceAll(isErased, ''));
    const lines = withoutSpinner.split(/\r?\n|\r/u);
    expect(lines).toContain('To type these commands yourself: svc sandbox exec -- sh');
    // A command to copy is a line, and so is what has no room to be broken, such as a path.
    const isCommand = /^(?:\$| *svc) /u;
    const broken = lines.filter((line) => line.length > 60 && !isCommand.test(line) && line.trim().includes(' '));
    expect(broken).toEqual([]);
    expect(screen.replaceAll(/\s+/gu, ' ')).toContain('… and 16 more, all in ');
  },
);

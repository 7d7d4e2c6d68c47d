import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAsk, matching } from '../../src/node/ask.ts';

/** A terminal of two pipes: what the person sees, and the keys they press once they see something. */
function terminal(env: Record<string, string> = {}, signal?: AbortSignal, input = new PassThrough()) {
  const output = new PassThrough();
  let seen = '';
  const waiting: { text: string; resolve: () => void }[] = [];
  output.on('data', (chunk) => {
    seen += chunk;
    for (const { text, resolve } of [...waiting]) if (seen.includes(text)) resolve();
  });
  const sees = (text: string) =>
    new Promise<void>((resolve) => (seen.includes(text) ? resolve() : waiting.push({ text, resolve })));
  const press = (keys: string) => input.write(keys);
  return {
    ask: createAsk({ input, output, env, signal, files: { state: tmpdir() }, color: false }),
    sees,
    press,
    seen: () => seen,
  };
}

describe('a question', () => {
  test('to confirm is answered no by Enter alone', async () => {
    const { ask, sees, press } = terminal();
    const answer = ask.confirm('Delete list 3?');
    await sees('Delete list 3?');
    press('\r');
    expect(await answer).toBe(false);
  });

  test('to confirm is answered yes by y', async () => {
    const { ask, sees, press } = terminal();
    const answer = ask.confirm('Delete?');
    await sees('Delete?');
    press('y\r');
    expect(await answer).toBe(true);
  });

  test('for a secret shows none of it', async () => {
    const { ask, sees, press, seen } = terminal();
    const answer = ask.secret('API key');
    await sees('API key');
    press('key_acme\r');
    expect(await answer).toBe('key_acme');
    expect(seen()).not.toContain('key_acme');
  });

  test('with choices narrows them as one types', async () => {
    const { ask, sees, press } = terminal();
    const choices = ['tickets:read', 'tickets:write', 'contacts:read'].map((value) => ({ value }));
    const answer = ask.choose('Scope', choices);
    await sees('contacts:read');
    press('write');
    await sees('❯ tickets:write');
    press('\r');
    expect(await answer).toBe('tickets:write');
  });

  test('with choices says that typing narrows them, and breaks no word of the one that is chosen', async () => {
    const { ask, sees, press, seen } = terminal();
    const name = '9  T-1009  Imports of more than two thousand rows refuse our files  open';
    const answer = ask.choose('Id or number of the ticket (ID)', [{ value: '9', name }]);
    await sees('T-1009');
    expect(seen()).toContain('type narrow the list');
    press('\r');
    expect(await answer).toBe('9');
    const said = seen().slice(seen().lastIndexOf('✔'));
    expect(said).toContain('✔ Id or number of the ticket (ID) 9  T-1009  Imports of more than two');
    const lines = said.split('\n').map((line) => line.replaceAll(/\p{Cc}\[[\d;?]*\w/gu, '').trimEnd());
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    expect(lines[0]).toMatch(/…$/u);
  });

  // A paste, or a slow line: what is typed and Return in one piece.
  test.each([
    ['write\r', 'tickets:write'],
    ['c\r', 'contacts:read'],
    ['\x1b[B\r', 'tickets:write'],
    ['7\r', '7'],
    ['T-1005\r', 'T-1005'],
    ['größe\r', 'größe'],
  ])('with choices takes the one that is shown for %j, not one that was shown before', async (keys, chosen) => {
    const { ask, sees, press, seen } = terminal();
    const choices = ['tickets:read', 'tickets:write', 'contacts:read'].map((value) => ({ value }));
    const answer = ask.choose('Scope', [...choices, { value: '', name: 'Another' }]);
    await sees('contacts:read');
    press(keys);
    expect(await answer).toBe(chosen);
    expect(seen().split('Scope').at(-1)).toContain(chosen);
  });

  test('what was typed ahead of a question with choices answers no other one', async () => {
    const keys = new PassThrough();
    const { ask, sees, press } = terminal({}, undefined, keys);
    const answer = ask.choose('Scope', [{ value: 'read' }, { value: 'write' }]);
    await sees('write');
    press('write\ry\r');
    expect(await answer).toBe('write');
    const later = terminal({}, undefined, keys);
    const next = later.ask.confirm('Delete?');
    await later.sees('Delete?');
    press('\r');
    expect(await next).toBe(false);
  });

  test('that is left with Ctrl-C ends in interrupted', async () => {
    const { ask, sees, press } = terminal();
    const answer = ask.text('Name');
    await sees('Name');
    press('\x03');
    await expect(answer).rejects.toMatchObject({ kind: 'interrupted', exitCode: 130 });
  });

  test('is ended by SIGTERM', async () => {
    const stop = new AbortController();
    const { ask, sees } = terminal({}, stop.signal);
    const answer = ask.confirm('Sure?');
    await sees('Sure?');
    stop.abort('SIGTERM');
    await expect(answer).rejects.toMatchObject({ kind: 'terminated', exitCode: 143 });
  });

  test('about customer text cannot move the cursor', async () => {
    const { ask, sees, press, seen } = terminal();
    const answer = ask.choose('Ticket \x1b]0;owned\x07?', [
      { value: '7', name: 'a\x9b2J\u202Eb', description: 'c\rd' },
    ]);
    await sees('<U+009B>2J<U+202E>b');
    press('\r');
    expect(await answer).toBe('7');
    expect(seen()).toContain('Ticket ^[]0;owned^G?');
    for (const obeyed of ['\x07', '\x9b', '\u202E', '\x1b]0']) expect(seen()).not.toContain(obeyed);
  });
});

test('choices match by words in any order, and begin with what was typed first', () => {
  const choices = ['read tickets', 'tickets write', 'tickets read', 'calls'].map((value) => ({ value, name: value }));
  expect(matching(choices, 'TICKETS r').map(({ value }) => value)).toEqual([
    'tickets read',
    'read tickets',
    'tickets write',
  ]);
  expect(matching(choices, '')).toEqual(choices);
  // The way to type something else is never filtered away.
  const another = { value: '', name: 'Another: type its id' };
  expect(matching([another, ...choices], '').map(({ value }) => value)).toContain('');
  const typed = { value: 'tickets r', name: 'Another: type its id (tickets r)' };
  expect(matching([another, ...choices], 'tickets r').at(-1)).toEqual(typed);
  expect(matching([...choices, another], 'kim')).toEqual([{ value: 'kim', name: 'Another: type its id (kim)' }]);
});

test('a number is the record that has it, or another one, never one that only contains it', () => {
  const choices = ['41  T-1041  Order 7', '7  T-1007  Printer', '70  T-1070  Order 4'].map((name) => {
    return { value: name.split(' ')[0] ?? '', name };
  });
  const another = { value: '', name: 'Another ticket' };
  const first = (typed: string) => matching([...choices, another], typed)[0]?.value;
  expect(['7', 'T-1007', 't-1070', '4', 'T-104', '9', 'order'].map(first)).toEqual([
    ...['7', '7', '70'],
    ...['4', 'T-104', '9'],
    '41',
  ]);
  // Where all are shown there is no other.
  expect(matching(choices, '4')[0]?.value).toBe('41');
});

describe('the editor', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc ask-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function script(name: string, lines: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, `#!/bin/sh\n${lines}\n`);
    await chmod(path, 0o755);
    return path;
  }

  test('may have arguments and a path with spaces, sees the text, and its file is private and gone afterwards', async () => {
    const log = join(folder, 'log');
    const editor = await script(
      'my editor',
      `stat -c '%a' "$2" > '${log}'; echo "$1 $2" >> '${log}'; cat "$2" >> '${log}'; printf 'Hello\\n' > "$2"`,
    );
    const { ask } = terminal({ VISUAL: `'${editor}' --wait`, EDITOR: 'false' });
    expect(await ask.edit('Draft\n', { extension: '.md' })).toBe('Hello\n');
    const [mode, call = '', draft] = (await readFile(log, 'utf8')).split('\n');
    expect([mode, draft]).toEqual(['600', 'Draft']);
    const [, flag, path = ''] = /^(\S+) (.*\.md)$/u.exec(call) ?? [];
    expect(flag).toBe('--wait');
    await expect(readFile(path)).rejects.toThrow('ENOENT');
  });

  test.each([
    ['exit 3', 'ended with code 3'],
    ['kill -TERM $$', 'was ended by SIGTERM'],
    [undefined, 'could not be started'],
  ])('that fails (%s) sends nothing and says so', async (lines, fact) => {
    const editor = lines ? await script('editor', lines) : join(folder, 'none');
    const left = async () => (await readdir(tmpdir())).filter((name) => /^svc-\w{6}$/u.test(name)).length;
    const before = await left();
    const { ask } = terminal({ EDITOR: `'${editor}'` });
    await expect(ask.edit('')).rejects.toMatchObject({ kind: 'failed', message: expect.stringContaining(fact) });
    const otherwise = 'draft 1 is as it was';
    await expect(ask.edit('', { otherwise })).rejects.toMatchObject({
      message: expect.stringMatching(/, so draft 1 is as it was\.$/u),
    });
    expect(await left()).toBeLessThanOrEqual(before);
  });

  test.each([
    ['rm "$1"', 'The editor left no file behind, so draft 1 is as it was.'],
    [`printf '\\377' > "$1"`, 'What the editor saved is not UTF-8, so draft 1 is as it was.'],
    ['truncate -s 2M "$1"', 'and a text has at most 1.0 MB. Draft 1 is as it was.'],
  ])('that leaves no text (%s) says what is so instead', async (lines, fact) => {
    const { ask } = terminal({ EDITOR: `'${await script('no-text', lines)}'` });
    await expect(ask.edit('', { otherwise: 'draft 1 is as it was' })).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringContaining(fact),
    });
  });
});

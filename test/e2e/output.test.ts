import { spawn } from '@lydell/node-pty';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';
import { real } from '../real-component.ts';

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

const { CI: _, NO_COLOR: __, FORCE_COLOR: ___, ...plainEnv } = process.env;
const env = { ...plainEnv, HOME: '' };

/** A line of bash inside of a sandbox, where `svc` is the built tool. */
const bash = (line: string) =>
  execa(process.execPath, [built.script, 'sandbox', 'exec', '--', 'bash', '-c', line], {
    reject: false,
    env,
    extendEnv: false,
  });

describe('a reader that leaves', () => {
  test.each([
    'contacts list --all',
    'contacts list --all --json',
    'contacts list --all -o csv',
    'contacts export -o jsonl',
    'contacts list --help',
    '--help',
    'help exit-codes',
    'completion bash',
  ])('ends `svc %s | head -1` with 0 and without a word', { tags: ['long'] }, async (command) => {
    const { stdout, stderr } = await bash(`svc ${command} | head -1; echo "\${PIPESTATUS[0]}"`);
    expect(stdout.split('\n')).toHaveLength(2);
    expect([stdout.split('\n')[1], stderr]).toEqual(['0', '']);
  });
});

test('a reader of notes that leaves changes nothing', { tags: ['long'] }, async () => {
  const { stdout } = await bash('svc contacts list --limit 1 --fields name --debug 2> >(true); echo "$?"');
  expect(stdout.split('\n')[1]).toBe('0');
});

test.skipIf(process.platform !== 'linux')('a full disk is exit 1 and says so', { tags: ['long'] }, async () => {
  const { exitCode, stderr } = await bash('svc contacts list > /dev/full');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('the disk is full');
});

/** What a person sees, and the keys they press at what they see. */
async function onTerminal(
  args: string[],
  { keys = [], more = {} }: { keys?: [string, string][]; more?: Record<string, string> },
) {
  const terminal = spawn(process.execPath, [built.script, 'sandbox', 'exec', '--', 'svc', ...args], {
    env: { ...env, TERM: 'xterm-256color', ...more },
    cols: 120,
    rows: 20,
  });
  let seen = '';
  const waiting = [...keys];
  terminal.onData((text) => {
    seen += text;
    const [next] = waiting;
    if (next && seen.includes(next[0])) {
      waiting.shift();
      terminal.write(next[1]);
    }
  });
  const exitCode = await new Promise<number>((resolve) => terminal.onExit((ended) => resolve(ended.exitCode)));
  return { seen, exitCode };
}

const colour = '\x1b[2m';

describe('on a terminal', () => {
  test('a list has a header in colour and times of this place', { tags: ['long'] }, async () => {
    const { seen } = await onTerminal(['tickets', 'list', '--limit', '3'], { more: { TZ: 'Asia/Tokyo' } });
    expect(seen).toContain(`${colour}Updated`);
    expect(seen).toMatch(/\d{4}-\d\d-\d\d \d\d:\d\d/u);
  });

  test.each([
    ['NO_COLOR', '1'],
    ['TERM', 'dumb'],
  ])('%s=%s takes the colour away', { tags: ['long'] }, async (name, value) => {
    const { seen } = await onTerminal(['tickets', 'list', '--limit', '3'], { more: { [name]: value } });
    expect(seen).toContain('Updated');
    expect(seen).not.toContain('\x1b');
  });

  test('what is longer than the screen goes to PAGER, which may be left early', { tags: ['long'] }, async () => {
    const { seen, exitCode } = await onTerminal(['contacts', 'list', '--all'], { more: { PAGER: 'head -2' } });
    expect(exitCode).toBe(0);
    expect(seen.match(/^\d+ /gmu)).toHaveLength(1);
  });

  real('less')('without PAGER it is less, and what fits stays on the screen', { tags: ['long'] }, async () => {
    const long = await onTerminal(['contacts', 'list', '--limit', '40'], { keys: [[':', 'q']] });
    expect(long.exitCode).toBe(0);
    const short = await onTerminal(['contacts', 'list', '--limit', '3'], {});
    expect(short.seen).not.toContain('\x1b[?1h');
  });

  test('a confirmation is asked, and Enter alone means no', { tags: ['long'] }, async () => {
    const { seen, exitCode } = await onTerminal(['lists', 'delete', '1'], { keys: [['(y/N)', '\r']] });
    expect(seen).toContain('Declined. Nothing was changed.');
    expect(exitCode).toBe(1);
  });

  test('Ctrl-C at a question is exit 130', { tags: ['long'] }, async () => {
    const { exitCode } = await onTerminal(['lists', 'delete', '1'], { keys: [['(y/N)', '\x03']] });
    expect(exitCode).toBe(130);
  });

  test('a missing value is asked for', { tags: ['long'] }, async () => {
    const { seen, exitCode } = await onTerminal(['tickets', 'get'], { keys: [['?', '7\r']] });
    expect(exitCode).toBe(0);
    expect(seen).toContain('T-1007');
  });
});

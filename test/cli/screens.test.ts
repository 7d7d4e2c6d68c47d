import { dirname, join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shades } from '../../src/output/paint.ts';
import { createSandbox } from '../../src/sandbox/app.ts';
import { type Server, serve } from '../../src/sandbox/server.ts';
import { type Built, buildSvc } from '../built.ts';
import { terminalCells } from './terminal-cells.ts';

/** Reads first: what is written later changes what they show. */
const commands: readonly string[][] = [
  ['contacts', 'list'],
  ['contacts', 'get', '7'],
  ['contacts', 'get', '7', '8'],
  ['contacts', 'list', '--fields', 'email,contact_id,lead_status'],
  ['tickets', 'list'],
  ['tickets', 'get', '1'],
  ['conversations', 'list'],
  ['conversations', 'get', '1'],
  ['calls', 'list'],
  ['feedback', 'list'],
  ['roadmap', 'get'],
  ['lists', 'list'],
  ['lists', 'members', '1'],
  ['changelog', 'list'],
  ['changelog', 'get', '1'],
  ['account', 'get'],
  ['api', 'ls'],
  ['config', 'list'],
  ['auth', 'list'],
  ['auth', 'status'],
  ['webhooks', 'inbox', 'list'],
  ['tickets', 'create', '--subject', 'Export fails', '--description', 'It stops.'],
  ['tickets', 'update', '7', '--priority', '4', '--clear', 'due_at'],
  ['tickets', 'resolve', '9'],
  ['tickets', 'note', '7', '--body', 'Called them.'],
  ['conversations', 'resolve', '3'],
  ['contacts', 'update', '7', '--company', 'Acme Gesellschaft mit beschränkter Haftung', '--metadata', 'plan=pro'],
  ['lists', 'add', '1', '--contact', '249'],
  ['lists', 'remove', '1', '--contact', '249'],
  ['changelog', 'update', '1', '--title', 'Faster exports'],
  ['changelog', 'publish', '30', '--at', '2030-01-31T09:00:00Z'],
  ['events', 'send', 'order_create', '--contact-name', 'Ada', '--email', 'ada@example.com'],
];

const widths = [60, 80, 120, 200];
const screens = new Map<number, string[]>();
let built: Built;

beforeAll(async () => {
  built = await buildSvc();
  await Promise.all(widths.map(async (columns) => screens.set(columns, await shownAt(columns))));
});
afterAll(() => built.remove());

/** What each command shows on a real terminal of that width, against a sandbox of its own. */
async function shownAt(columns: number): Promise<string[]> {
  const server: Server = await serve(createSandbox({ seed: 'demo', rateLimit: 'off' }), 0);
  const script = join(import.meta.dirname, 'in-one-terminal.cjs');
  const dist = join(dirname(built.script), '..', 'dist');
  const pty = spawn(process.execPath, [script, dist, JSON.stringify(commands)], {
    cols: columns,
    rows: 5000,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: built.folder,
      TERM: 'xterm-256color',
      TZ: 'UTC',
      SVC_BASE_URL: `http://127.0.0.1:${server.port}`,
      SVC_API_KEY: 'key_acme',
      SVC_CONFIG_DIR: `${built.folder}/${columns}/config`,
      SVC_STATE_DIR: `${built.folder}/${columns}/state`,
      SVC_TOKEN_STORE: 'file',
    },
  });
  let screen = '';
  const isOver = new Promise<void>((resolve) => {
    pty.onData((text) => {
      screen += text;
      if (screen.includes('␞end')) resolve();
    });
    pty.onExit(() => resolve());
  });
  await isOver;
  pty.kill('SIGKILL');
  await server.close();
  return settled(screen)
    .split(/␞\w+\n/u)
    .slice(1);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal obeys begins with ESC
const lineCleared = /\x1b\[(?:[02]?K|1G)/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal obeys begins with ESC
const cursor = /\x1b\[\?25[lh]/gu;

/** What stays on the screen: of a line that was cleared, what was written after that. */
const settled = (screen: string): string =>
  screen
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => (line.split(lineCleared).at(-1) ?? '').replaceAll(cursor, ''))
    .join('\n');

const shown = (columns: number, argv: readonly string[]): string =>
  screens.get(columns)?.[commands.indexOf(argv as string[])] ?? '';

describe.each(widths)('on a terminal of %i columns', (columns) => {
  test.each(commands)('%s %s is no wider, and nothing that is copied is cut', (...argv) => {
    const given = commands.find((one) => one.join(' ') === argv.filter(Boolean).join(' ')) ?? [];
    const screen = shown(columns, given);
    expect(screen.trim()).not.toBe('');
    expect(screen).not.toContain('Error');
    for (const line of screen.split('\n')) expect(terminalCells(line)).toBeLessThanOrEqual(columns);
    // A cut email, and a cut id of a ticket.
    expect(screen).not.toMatch(/@\S*…|T-\d*…/u);
  });

  test('the headers of a table are whole words for people', () => {
    for (const argv of commands.filter(([, verb]) => verb === 'list' || verb === 'members')) {
      const [header = ''] = plain(shown(columns, argv)).split('\n');
      expect(header).not.toContain('…');
      for (const word of header.split(/ {2,}/u)) expect(word).toMatch(/^(?:ID|URL|[A-Z][a-z]+(?: [a-z]+)*|No .*)$/u);
    }
  });

  test('only colours that can be read on white and on black are used', () => {
    const used = new Set([...(screens.get(columns) ?? []).join('').matchAll(sgr)].map(([, code = '']) => code));
    expect(used.size).toBeGreaterThan(4);
    const allowed = new Set(['1', '2', '22', '39', ...Object.values(shades).map((shade) => `38;5;${shade}`)]);
    for (const code of used) expect(allowed).toContain(code);
  });
});

test('a table tells the contact of a ticket by the full name, and times of the last week as people do', () => {
  const screen = plain(shown(120, commands[4] ?? []));
  expect(screen).toMatch(/ [A-Z]\w+ [A-Z]\w+ /u);
  expect(screen).toMatch(/ (?:\d+ (?:min|h|days)|1 day) ago$/mu);
});

test('a call says how long it took with its unit', () => {
  expect(plain(shown(200, commands[8] ?? []))).toMatch(/ \d+ min| \d+ s /u);
});

test('every shade has a contrast of three and more on white and on black', () => {
  for (const shade of Object.values(shades)) {
    const luminance = luminanceOf(shade);
    expect(1.05 / (luminance + 0.05)).toBeGreaterThan(3);
    expect((luminance + 0.05) / 0.05).toBeGreaterThan(3);
  }
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with ESC
const sgr = /\x1b\[([\d;]*)m/gu;

const plain = (screen: string): string => screen.replaceAll(sgr, '');

/** Of a colour of the cube of 6 × 6 × 6 (WCAG 2, relative luminance). */
function luminanceOf(shade: number): number {
  const at = shade - 16;
  const levels = [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((step) => (step === 0 ? 0 : 55 + 40 * step));
  const linear = levels.map((level) => {
    const part = level / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const [red = 0, green = 0, blue = 0] = linear;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

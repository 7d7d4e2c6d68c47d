import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../src/auth/store-file.ts';
import { entries } from '../../src/commands/index.ts';
import { typeable, typeableNote } from '../../src/config/advice.ts';
import { isCommandName, profileCommands } from '../../src/config/command-names.ts';
import type { HttpResponse, Lost } from '../../src/context.ts';
import { createWorld, svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';

test('every command, and every other name of one, is known where hints and aliases are made', () => {
  const names = entries.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(names.filter((name) => !isCommandName(name))).toEqual([]);
});

describe('a command in a hint', () => {
  test.each([
    ['Run: svc auth refresh --scope tickets:read', 'Run: svc -p third auth refresh --scope tickets:read'],
    ['Run: svc auth status, then svc login', 'Run: svc -p third auth status, then svc -p third login'],
    ['Use: svc login --profile other --base-url https://b.test', 'Use: svc -p other login --base-url https://b.test'],
    ['Run: svc logout --all', 'Run: svc logout --all'],
    ['Run: svc auth switch work', 'Run: svc auth switch work'],
    ['Run: svc tickets note --help', 'Run: svc tickets note --help'],
    ['svc leaves the file as it is. svc looked once.', 'svc leaves the file as it is. svc looked once.'],
    ['To try svc without an account: svc sandbox start', 'To try svc without an account: svc sandbox start'],
  ])('%s', (hint, told) => {
    expect(typeable(hint, { profile: 'third' })).toBe(told);
  });

  test('carries the addresses that were typed, quoted for the shell', () => {
    expect(
      typeable('Run: svc login', { baseUrl: 'https://a.test/x y', authUrl: 'https://b.test', insecureHttp: true }),
    ).toBe("Run: svc --base-url 'https://a.test/x y' --auth-url https://b.test --insecure-http login");
  });

  test('is left alone in the text of a customer that a note repeats', () => {
    expect(typeableNote('Entry 3 (svc login is quicker) is published.', { profile: 'third' })).toBe(
      'Entry 3 (svc login is quicker) is published.',
    );
    expect(typeableNote('To look again: svc auth status', { profile: 'third' })).toBe(
      'To look again: svc -p third auth status',
    );
  });
});

const json = (status: number, body: unknown): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const lost: Lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };
const refused: Lost = { lost: 'before-sending', reason: 'refused', detail: 'Connection refused.' };

/** Every way in which a service can fail a command. */
const answers: readonly (readonly [string, HttpResponse | Lost])[] = [
  ['401', json(401, { error: 'Token expired.' })],
  ['403 of a scope', json(403, { error: 'insufficient_scope', error_description: 'tickets:write' })],
  ['403 of a module', json(403, { error: 'The module is off.' })],
  ['404', json(404, { error: 'Not found.' })],
  ['422', json(422, { message: 'No.', errors: {} })],
  ['429', { ...json(429, { error: 'Slow down.' }), headers: { 'retry-after': '9999' } }],
  ['500', json(500, { error: 'Oops.' })],
  ['504', { status: 504, headers: {}, body: '' }],
  ['a web page', { status: 200, headers: {}, body: '<!doctype html><html></html>' }],
  ['a redirect', { status: 302, headers: { location: 'https://elsewhere.test/v2' }, body: '' }],
  ['a lost answer', lost],
  ['no connection', refused],
];
const lines: readonly string[][] = [
  ['contacts', 'list'],
  ['contacts', 'get', '7'],
  ['tickets', 'reply', '8', '--body', 'x'],
  ['tickets', 'note', '8', '--body', 'x'],
  ['tickets', 'create', '--subject', 'a b'],
  ['lists', 'delete', '3', '--yes'],
  ['lists', 'add', '3', '--contact', '7'],
  ['changelog', 'release', '--check'],
  ['webhooks', 'create', 'ticket.created', 'https://example.com/h'],
  ['webhooks', 'list'],
  ['meetings', 'list', '--account', '1'],
  ['events', 'send', 'x', '--contact-name', 'A', '--email', 'a@b.co'],
  ['api', '/tickets/8/replies', '-f', 'body=x'],
  ['auth', 'refresh'],
  ['auth', 'status'],
  ['logout'],
  ['branding', 'update', '--from-name', 'x'],
];

/** Each `svc …` of what was said on standard error that acts as a profile. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/\bsvc (?=[-a-z])((?:(?!\bsvc )[^\n"])*)/gu)]
    .map(([, rest = '']) => rest)
    .filter((rest) => profileCommands.some((name) => new RegExp(`^(?:-\\S+ \\S+ )*${name}\\b`, 'u').test(rest)))
    .filter((rest) => !/--help|^auth (?:list|switch)/u.test(rest));

async function worldWith(answer: HttpResponse | Lost, kinds: readonly string[]) {
  const world = createWorld(async () => answer, { env: { SVC_BASE_URL: 'https://service.test' } });
  const folder = join(world.folder, 'config');
  const store = openStore({ folder, clock: world.clock, random: (n) => new Uint8Array(n), warn: () => {} });
  const login = {
    base_url: 'https://service.test',
    auth_url: 'https://service.test',
    client_id: 'c',
    access_token: 'at',
    refresh_token: 'rt',
    issued_at: '2026-03-01T11:59:00.000Z',
    expires_at: '2026-03-01T12:59:00.000Z',
    scopes: ['identity'],
  };
  const secret = (kind: string) => (kind === 'oauth' ? login : { base_url: 'https://service.test', token: 'tk' });
  for (const kind of kinds) await store.update(`profile/third/${kind}`, async () => JSON.stringify(secret(kind)));
  writeFileSync(join(world.folder, 'CHANGELOG.md'), '## 1.0.0\n\nNew.\n');
  return world;
}

const held = [['oauth'], ['api_key'], []].map((kinds, turn) => [kinds, turn] as const);
const answersInTurn = answers.map(([what, answer], turn) => [what, answer, turn] as const);

/** In turn: each command meets each answer as one of the profiles. */
describe.each(held)('as profile third, which holds %j,', (kinds, turn) => {
  describe.each(answersInTurn)('%s:', (_, answer, n) => {
    test('every hint names the profile', async () => {
      const world = await worldWith(answer, kinds);
      for (const line of inTurn(lines, turn + n, 3)) {
        const from = line[1] === 'release' ? ['--from', join(world.folder, 'CHANGELOG.md')] : [];
        const argv = ['-p', 'third', ...line, ...from, '--settle', '0', '--max-wait', '5'];
        const { stderr, exitCode } = await svc(world, argv);
        for (const command of commandsIn(stderr)) {
          expect(`${line.join(' ')}: svc ${command}`).toMatch(/-p third|--profile third|--profile \w/u);
        }
        if (kinds.length === 0 && line[0] !== 'logout')
          expect([line.join(' '), exitCode]).not.toEqual([line.join(' '), 0]);
        expect(stderr).not.toMatch(/\b(?:get|members|update) ID\b|SUBJECT\b/u);
      }
    });
  });
});

test('a credential of the environment is never told to refresh or to log in by itself', {
  tags: ['long'],
}, async () => {
  for (const variable of ['SVC_ACCESS_TOKEN', 'SVC_API_KEY']) {
    for (const [, answer] of answers) {
      const world = createWorld(async () => answer, {
        env: { SVC_BASE_URL: 'https://service.test', [variable]: 'tk' },
      });
      for (const line of [lines[0], lines[2], lines[8]]) {
        const { stderr } = await svc(world, [...(line ?? []), '--settle', '0', '--max-wait', '5']);
        expect(stderr).not.toContain('auth refresh');
        expect(stderr).not.toMatch(/(?<![Uu]nset \w+(?:, then| and) )[Rr]un: svc login/u);
      }
    }
  }
});

test('exit 9 of svc api names the record that was written to', async () => {
  const world = await worldWith(lost, ['oauth']);
  const ran = await svc(world, [
    '-p',
    'third',
    'api',
    '/tickets/8',
    '-X',
    'PATCH',
    '-F',
    'priority=1',
    '--settle',
    '0',
    '--max-wait',
    '5',
  ]);
  expect(ran.exitCode).toBe(9);
  expect(ran.stderr).toContain('svc -p third tickets get 8');
});

test('where CI is set and nobody is logged in, the variable is named and no login', async () => {
  const world = createWorld(async () => lost, { env: { SVC_BASE_URL: 'https://service.test', CI: 'true' } });
  const ran = await svc(world, ['contacts', 'list']);
  expect(ran).toMatchObject({ exitCode: 4 });
  expect(ran.stderr).toContain('Set SVC_API_KEY from a secret');
  expect(ran.stderr).not.toContain('svc login');
});

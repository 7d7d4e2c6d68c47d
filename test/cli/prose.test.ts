import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Settings } from '../../src/config/settings.ts';
import { Failure } from '../../src/errors.ts';
import { printFailure } from '../../src/output/failure.ts';
import { print } from '../../src/output/print.ts';
import { authWorld } from '../auth/auth-world.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { screen, settings } from './fake-context.ts';

const said = 'Refreshed the login of profile default; it is good until 2026-11-23 03:03.';

/** Lines that a terminal of that width breaks where it happens to end, though they have room to break between words. */
const tooLong = (text: string, columns: number) =>
  text.split('\n').filter((line) => line.length > columns && line.trim().includes(' '));

test.each([40, 60, 80])('a sentence is broken between words at %i columns', async (columns) => {
  const { ctx, written } = screen({ columns });
  await print(ctx, { data: { shape: 'record', record: {} }, said }, settings);
  expect(tooLong(written.stdout, columns)).toEqual([]);
  expect(written.stdout.trimEnd().replaceAll('\n', ' ')).toBe(said);
});

test.each<[string, Partial<Settings>, string]>([
  ['in a pipe it is one line', {}, `${said}\n`],
  ['as JSON it is not said', { output: 'json' }, '{\n  "profile": "default"\n}\n'],
  ['with --fields it is not said', { fields: ['profile'] }, 'profile\tdefault\n'],
])('%s', async (_, wish, expected) => {
  const { ctx, written } = screen({});
  await print(ctx, { data: { shape: 'record', record: { profile: 'default' } }, said }, { ...settings, ...wish });
  expect(written.stdout).toBe(expected);
});

test('what a login says fits a narrow terminal', async () => {
  const world = await authWorld();
  const ran = await world.svc(['login', '--with-api-key'], { columns: 40, answers: ['key_acme'] });
  expect(ran.exitCode).toBe(0);
  expect(ran.stdout).toContain('Logged in to');
  expect(tooLong(ran.stdout, 40)).toEqual([]);
});

test('each of several done lines fits a narrow terminal', async () => {
  const ran = await svc(sandboxWorld(), ['tickets', 'close', '7', '8', '--yes'], {
    columns: 20,
    env: { NO_COLOR: '1' },
  });
  expect(ran.stdout.split('\n').filter((line) => line.startsWith('✓'))).toHaveLength(2);
  expect(tooLong(ran.stdout, 20)).toEqual([]);
});

test('what the service says of a field is broken between words too', async () => {
  const { ctx, written } = screen({ columns: 40 });
  const fields = { email: ['is not an address that anybody could ever send a message to.'] };
  await printFailure(ctx, new Failure('rejected', 'The record is not valid.', { fields }), { color: 'never' });
  expect(tooLong(written.stderr, 40)).toEqual([]);
  expect(written.stderr).toContain('\n  email: is not an address');
});

/** What is to be copied or kept to the letter: a secret, a value, a program. */
const exact = [
  'auth/token.ts',
  'config/index.ts',
  'mcp/install.ts',
  'mirror/schema.ts',
  'audit/verify.ts',
  'webhooks/verify.ts',
  'auth/logout.ts',
];

test('no command prints a sentence for people without looking at the width', () => {
  const folder = join(import.meta.dirname, '..', '..', 'src', 'commands');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(50);
  const blind = files.filter((file) => /\bhuman: \(\) =>/u.test(readFileSync(join(folder, file), 'utf8')));
  expect(blind.map((file) => file.replaceAll('\\', '/')).filter((file) => !exact.includes(file))).toEqual([]);
});

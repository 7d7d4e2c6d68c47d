// How a write is to be shown is judged before anything is asked or sent.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allCommands, lineOf } from '../command-lines.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const isRead = (request: string) => request.startsWith('GET ');

/** Every command that writes to the account and says what it prints, with a line that runs it. */
const writing = (await allCommands()).flatMap((leaf) => {
  const { command, name } = leaf;
  const { operation = command.row?.operation, prints } = command;
  const line = lineOf(leaf, 'key_acme');
  const isWrite = prints !== undefined || (operation !== undefined && operation.safety !== 'read');
  return isWrite && line ? [{ name, argv: line.argv, stdin: line.stdin }] : [];
});

const withFiles = () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  mkdirSync(join(world.folder, 'config/templates'), { recursive: true });
  writeFileSync(join(world.folder, 'config/templates/thanks.md'), 'Thank you.');
  return world;
};

describe('a name in --fields that a write does not print', () => {
  test('is refused by every command before anything is sent', async () => {
    expect(writing.length).toBeGreaterThan(20);
    for (const { name, argv, stdin } of writing) {
      const world = withFiles();
      const ran = await svc(world, [...argv, '--yes', '--fields', 'nonsense'], { stdin: stdin ?? '' });
      expect({ name, sent: world.sent, code: ran.exitCode }).toEqual({ name, sent: [], code: 2 });
      expect(ran.stderr).toContain('There is no field "nonsense" here. Nothing was sent.');
    }
  });

  test.each([
    ['tickets close 8 9 --fields sent', /Fields: command, rows, done/u],
    ['tickets close 8 --dry-run --fields id', /Fields: method, path, body/u],
    ['tickets close --from - --fields id', /Fields: command, file, rows/u],
    ['tickets update 7 --priority 2 --fields subjekt', /Did you mean subject\?/u],
    ['tickets update 7 --priority 2 --fields subject.text', /There is no field "subject\.text"/u],
    ['tickets update 7 --priority 2 --fields contact.mail', /Did you mean contact\.email\?/u],
  ])('svc %s names those that there are', async (line, told) => {
    const world = withFiles();
    const ran = await svc(world, line.split(' '), { stdin: '8\n' });
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(told) });
    expect(world.sent).toEqual([]);
  });

  test('is refused before a person is asked for what is missing', async () => {
    const ran = await svc(withFiles(), ['tickets', 'reply', '--fields', 'nonsense'], { columns: 80 });
    expect(ran.exitCode).toBe(2);
  });
});

const pathsIn = (value: unknown): string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([key, inner]) => [key, ...pathsIn(inner).map((path) => `${key}.${path}`)])
    : [];

test('every field that a write does print may be asked for', { tags: ['long'] }, async () => {
  for (const { name, argv, stdin } of writing.filter(
    ({ argv }) => !argv.some((word) => word.startsWith('examples/')),
  )) {
    const first = await svc(withFiles(), [...argv, '--yes', '--json'], { stdin: stdin ?? '' });
    if (first.exitCode !== 0) continue;
    const printed: unknown = JSON.parse(first.stdout);
    const fields = pathsIn(Array.isArray(printed) ? printed[0] : printed).join(',');
    const again = await svc(withFiles(), [...argv, '--yes', '--json', '--fields', fields], { stdin: stdin ?? '' });
    expect({ name, code: again.exitCode, told: again.exitCode === 0 ? '' : again.stderr }).toEqual({
      ...{ name, code: 0, told: '' },
    });
  }
});

test.each([
  ['--jq', '.['],
  ['--template', 'nowhere'],
])('svc tickets reply 8 %s %s is refused before anything is sent', async (...flag) => {
  const world = withFiles();
  const text = flag[0] === '--jq' ? ['--body', 'Hello'] : [];
  const ran = await svc(world, ['tickets', 'reply', '8', ...text, ...flag]);
  expect(ran.exitCode).toBe(2);
  expect(world.sent.filter((one) => !isRead(one))).toEqual([]);
});

describe('a command that no login at hand can run', () => {
  test.each([
    ['meetings list', 'machine-to-machine'],
    ['webhooks create', 'OAuth'],
    ['webhooks delete', 'OAuth'],
  ])('svc %s says so before it asks for anything', async (line, needs) => {
    const world = withFiles();
    const ran = await svc(world, line.split(' '), { columns: 80 });
    expect(ran).toMatchObject({ exitCode: 4, stderr: expect.stringContaining(needs) });
    expect(world.sent).toEqual([]);
  });

  test.each(['webhooks delete 5', 'webhooks delete 5 6'])('%s: before it asks for a yes', async (line) => {
    const world = withFiles();
    const ran = await svc(world, line.split(' '), { columns: 80, answers: [] });
    expect(ran).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('This takes an OAuth login') });
    expect(ran.stderr).not.toContain('Delete');
    expect(world.sent).toEqual([]);
  });

  async function managing() {
    const world = sandboxWorld();
    const asked = { account_id: 1, scopes: ['webhooks:manage'] };
    const { access_token } = (await world.control('POST', 'tokens', asked)) as { access_token: string };
    return { world, env: { SVC_API_KEY: undefined, SVC_ACCESS_TOKEN: access_token } };
  }

  test('and webhooks delete of what is not there asks nobody', async () => {
    const { world, env } = await managing();
    const ran = await svc(world, ['webhooks', 'delete', '77'], { columns: 80, answers: [], env });
    expect(ran).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('There is no webhook subscription 77') });
    expect(ran.stderr).toContain('Run: svc webhooks list\n');
  });

  test('and webhooks delete says of what the answer leaves out that it is not known', async () => {
    const { world, env } = await managing();
    const exchange = async () => ({ status: 200, headers: {}, body: '{"webhooks":[{"id":5}]}' });
    const ran = await svc({ ...world, exchange }, ['webhooks', 'delete', '5'], { columns: 80, answers: [false], env });
    expect(ran.stderr).toContain('Webhook subscription 5: an unknown event to an unknown URL\n');
  });

  test('without any login, too', async () => {
    const ran = await svc(withFiles(), ['tickets', 'reply'], { columns: 80, env: { SVC_API_KEY: undefined } });
    expect(ran).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('is not logged in') });
  });
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AnyCommand, Params, TopGroup } from '../../src/command/command.ts';
import { flagName } from '../../src/command/param.ts';
import { entries } from '../../src/commands/index.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Found = { readonly path: string[]; readonly command: AnyCommand };

async function commands(): Promise<Found[]> {
  const found: Found[] = [];
  const walk = (node: TopGroup | AnyCommand, path: string[]) => {
    if (!('commands' in node)) found.push({ path, command: node });
    else for (const child of node.commands) walk(child, [...path, child.name]);
  };
  for (const entry of entries) walk(await entry.load(), [entry.name]);
  return found;
}

const all = await commands();

describe('without a terminal', () => {
  test('every command names all that is missing at once, and sends nothing', { tags: ['long'] }, async () => {
    for (const { path, command } of all) {
      const labels = [
        ...Object.entries(command.args as Params).flatMap(([key, arg]) =>
          arg.required ? [(arg.placeholder ?? key).toUpperCase()] : [],
        ),
        ...Object.entries(command.flags as Params).flatMap(([key, flag]) =>
          flag.required ? [`--${flagName(key, flag)}`] : [],
        ),
      ];
      if (labels.length === 0) continue;
      const world = sandboxWorld();
      const ran = await svc(world, path);
      expect([path, ran.exitCode]).toEqual([path, 2]);
      for (const label of labels) expect(ran.stderr).toContain(label);
      expect(world.sent).toEqual([]);
    }
  });

  test('says it in one sentence', async () => {
    const ran = await svc(sandboxWorld(), ['contacts', 'create', '--name', 'Ann']);
    expect(ran.stderr).toBe(
      'Error: --last-name, --email and --phone are required.\n' +
        'Instead of --last-name, --email and --phone you can give --file or --from. Run: svc contacts create --help\n',
    );
  });
});

test.each([
  ['--title x', '--title must have at least 3 characters.\n--content is required as well.\n'],
  [
    '--title Hello --status publish',
    '--status must be one of draft, published, not "publish".\n--content is required as well.\n',
  ],
])('a value that is wrong does not hide the text that is missing: changelog create %s', async (words, told) => {
  const { exitCode, stderr } = await svc(sandboxWorld(), ['changelog', 'create', ...words.split(' ')]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(told);
});

test.each(['--body-file', '--content-file'])('%s that is not there is named as it was typed', async (flag) => {
  for (const command of [
    ['create', '--title', 'Hello'],
    ['update', '1'],
    ['publish', '1'],
  ]) {
    const ran = await svc(sandboxWorld(), ['changelog', ...command, flag, 'nope.md']);
    expect(ran).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`Error: ${flag}: there is no file nope.md.`),
    });
  }
});

test.each([
  ['conversations resolve 9999', 'Conversation'],
  ['conversations reply 9999 --body x', 'Conversation'],
  ['tickets reply 9999 --body x', 'Ticket'],
  ['changelog publish 9999', 'Changelog entry'],
  ['changelog update 9999 --title Hello', 'Changelog entry'],
])('a record that is not there is named once, in each mode of sends: %s', async (line, noun) => {
  for (const SVC_SENDS of ['allow', 'draft']) {
    const { exitCode, stderr } = await svc(sandboxWorld(), line.split(' '), { env: { SVC_SENDS } });
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(new RegExp(`^Error: ${noun} 9999: No such record`, 'u'));
  }
});

test.each([
  ['tickets get 9999', 'tickets list'],
  ['contacts get 9999', 'contacts list'],
  ['conversations get 9999', 'conversations list'],
  ['changelog publish 9999', 'changelog list'],
  ['lists members 9999', 'lists list'],
  ['lists update 9999 --name Other', 'lists list'],
])('a record that is not there: what shows those that are is named: %s', async (line, list) => {
  const ran = await svc(sandboxWorld(), line.split(' '));
  expect(ran).toMatchObject({ exitCode: 3, stderr: expect.stringContaining(`\nTo see the ids: svc ${list}\n`) });
  expect(await svc(sandboxWorld(), list.split(' '))).toMatchObject({ exitCode: 0 });
});

test.each([
  [{ CI: '1' }, 'Set SVC_API_KEY from a secret of this CI service, and SVC_BASE_URL.\n'],
  [{}, 'Run: svc login --base-url URL (or with --with-api-key). In CI, set SVC_API_KEY, and SVC_BASE_URL.\n'],
])('without a login and an address both are named at once, with %j', async (env, told) => {
  const world = { ...sandboxWorld(), env };
  await writeFile(join(world.folder, 'CHANGELOG.md'), '## [1.0.0] - 2026-01-01\n\n- It is here.\n');
  for (const line of [`changelog release 1.0.0 --from ${join(world.folder, 'CHANGELOG.md')}`, 'tickets list'])
    expect(await svc(world, line.split(' '))).toMatchObject({ exitCode: 4, stderr: expect.stringContaining(told) });
});

test('several ways in place of a flag are one list', async () => {
  const ran = await svc(sandboxWorld(), ['changelog', 'create']);
  expect(ran.stderr).toContain('you can give --body-file, --content-file or --editor.');
});

describe('on a terminal', () => {
  const at = (columns: number, answers: readonly string[]) => ({ columns, answers });

  test('contacts create asks for each of its four', async () => {
    const world = sandboxWorld();
    const ran = await svc(world, ['contacts', 'create', '--json'], at(80, ['Ann', 'Bo', 'ann@b.co', '+12025550123']));
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(world.sent.at(-1)).toBe('POST /contacts/create');
  });

  test('nothing is asked where --file is given', async () => {
    const ran = await svc(sandboxWorld(), ['contacts', 'create', '--file', '-'], { columns: 80, stdin: '[]' });
    expect(ran.exitCode).toBe(2);
  });

  test('a mistake is told and the question comes again', async () => {
    const answers = ['Ann', 'Bo', 'no address', 'ann@b.co', '+12025550123'];
    const ran = await svc(sandboxWorld(), ['contacts', 'create', '--json'], at(80, answers));
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain('--email must be an email address.');
  });

  test('a ticket, a list and a contact are picked from a list', async () => {
    const world = sandboxWorld();
    expect((await svc(world, ['tickets', 'resolve', '--json'], at(80, ['7']))).exitCode).toBe(0);
    expect(world.sent).toContain('GET /tickets?page=1&per_page=100');
    // Of more contacts than are shown, another can be typed: its email.
    const { email } = JSON.parse((await svc(world, ['contacts', 'get', '3', '--json'])).stdout);
    const added = await svc(world, ['lists', 'add', '--json'], at(80, ['1', '', email]));
    expect(added.exitCode).toBe(0);
    expect(JSON.parse(added.stdout)).toMatchObject([{ contact_id: 3 }]);
  });

  test('an email that nobody has is asked for again', async () => {
    const ran = await svc(sandboxWorld(), ['contacts', 'get', '--json'], at(80, ['', 'x@nowhere.test', '7']));
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain('No contact has the email x@nowhere.test.');
  });

  test('every question says what it is about', async () => {
    for (const [line, answers, question] of [
      ['contacts create', ['Ann', 'Bo', 'ann@b.co'], 'Phone: +1 and ten digits (--phone)'],
      ['changelog create', [], 'Title: 3 to 255 characters (--title)'],
      ['webhooks create', [], 'Event (EVENT)'],
      ['tickets create', [], 'Subject (--subject)'],
      [
        'events send seen --contact-name Ada',
        [],
        'Email; where there is a phone alone, Ctrl-C and give --phone (--email)',
      ],
    ] as const) {
      // Of a login that the command cannot use nothing would be asked.
      const env = line === 'webhooks create' ? { SVC_API_KEY: undefined, SVC_ACCESS_TOKEN: 'token' } : {};
      const ran = await svc(sandboxWorld(), line.split(' '), { ...at(80, answers), env });
      expect(ran.stderr.replaceAll(/\s+/gu, ' ')).toContain(`no answer to: ${question}`);
    }
  });

  test('with --no-input nothing is asked', async () => {
    expect((await svc(sandboxWorld(), ['tickets', 'resolve', '--no-input'], at(80, []))).exitCode).toBe(2);
  });

  test.each([{ CI: 'true' }, { SVC_NO_INPUT: '1' }])('with %j nothing is asked', async (env) => {
    expect((await svc(sandboxWorld(), ['tickets', 'resolve'], { ...at(80, []), env })).exitCode).toBe(2);
  });

  test('who may not list tickets types the id', async () => {
    const world = sandboxWorld();
    const { access_token: token } = (await world.control('POST', 'tokens', {
      account_id: 1,
      scopes: ['tickets:write'],
    })) as { access_token: string };
    const env = { SVC_API_KEY: '', SVC_ACCESS_TOKEN: token };
    const ran = await svc(world, ['tickets', 'resolve', '--json'], { ...at(80, ['7']), env });
    expect(ran.exitCode).toBe(0);
  });
});

test('the example for a missing account of meetings has no token of the sandbox in it', async () => {
  const ran = await svc(sandboxWorld(), ['meetings', 'list']);
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('svc meetings list --account 1') });
  expect(ran.stderr).not.toContain('m2m_sandbox');
});

test('a text with NUL bytes, such as UTF-16 without its mark, is sent to nobody', async () => {
  const world = sandboxWorld();
  const file = join(world.folder, 'reply.txt');
  await writeFile(file, Buffer.from('Hello', 'utf16le'));
  const ran = await svc(world, ['tickets', 'reply', '8', '--body-file', file]);
  expect([ran.exitCode, ran.stderr, world.sent]).toEqual([
    2,
    `Error: --body-file: ${file} is not UTF-8 text: it holds NUL bytes.\nConvert it first, for example with iconv.\n`,
    [],
  ]);
});

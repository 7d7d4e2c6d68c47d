import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { seeded, withoutSeed } from '../../src/command/seed.ts';
import { localTime } from '../../src/output/cells.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const seed = seeded(
  {
    to: 'Ann <ann@b.co>, by email',
    about: 'T-1 Printer',
    last: { sender_name: 'Ann', created_at: '2026-03-01T09:00:00Z', body: 'It is broken.\n# A heading\nThanks' },
  },
  'allow',
);

test('the seed shows who reads it, about what, and what was said last', () => {
  expect(seed).toMatch(/^\n# -+ >8 -+\n/u);
  expect(seed).toContain('# To:     Ann <ann@b.co>, by email\n# About:  T-1 Printer\n');
  // In this place's time, as every time that people read.
  expect(seed).toContain(`# Ann wrote at ${localTime('2026-03-01T09:00:00Z')}:\n`);
  expect(seed).toContain('# > It is broken.\n# > # A heading\n# > Thanks\n');
});

describe('what was written', () => {
  test.each([
    ['as typed', `Hello\n${seed}`, 'Hello\n'],
    ['with headings of its own', `# Steps\n\n## One\n${seed}`, '# Steps\n\n## One\n'],
    ['below blank lines', `\n\n  indented${seed}`, '  indented'],
    ['with line ends of Windows', `Hello\n${seed}`.replaceAll('\n', '\r\n'), 'Hello\n'],
    ['where the scissors were deleted', `Hello\n${seed.replace(/# -+ >8 -+\n/u, '')}`, 'Hello\n'],
    ['where the whole seed was deleted', 'Hello\n# Heading', 'Hello\n# Heading'],
    ['nothing', seed, ''],
  ])('%s', (_, saved, text) => {
    expect(withoutSeed(saved, seed).trimEnd()).toBe(text.trimEnd());
  });
});

describe.each([
  ['tickets reply 8', 'POST /tickets/8/replies'],
  ['tickets note 8', 'POST /tickets/8/notes'],
  ['conversations reply 1', 'POST /conversations/1/messages'],
])('svc %s in the editor', (line, request) => {
  test('sends what stands above the scissors, and nothing of the seed', async () => {
    const world = sandboxWorld();
    let opened = '';
    const edit = (initial: string) => {
      opened = initial;
      return `# Heading\nHello${initial}`;
    };
    const ran = await svc(world, [...line.split(' '), '--json'], { columns: 80, edit });
    expect(ran.exitCode).toBe(0);
    expect(opened).toContain('# To: ');
    const { message, ...own } = JSON.parse(ran.stdout);
    expect(message ?? own).toMatchObject({ body: '# Heading\nHello' });
    expect(world.sent.at(-1)).toBe(request);
  });

  test('left as it was opened, it sends nothing: exit 2', async () => {
    const world = sandboxWorld();
    const ran = await svc(world, line.split(' '), { columns: 80, edit: (initial) => initial });
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain('The text is empty. Nothing was sent.');
    expect(world.sent).not.toContain(request);
  });
});

test.each([
  ['tickets reply 8', {}, 'What is saved is sent once you quit the editor.'],
  ['conversations reply 1', {}, 'What is saved is sent once you quit the editor.'],
  ['tickets reply 8', { SVC_SENDS: 'ask' }, 'Once you quit the editor, svc asks before it sends what is saved.'],
  ['tickets reply 8', { SVC_SENDS: 'draft' }, 'What is saved becomes a draft once you quit the editor;'],
  ['tickets reply 8 --draft', {}, 'What is saved becomes a draft once you quit the editor;'],
  [
    'tickets reply 8 --dry-run',
    {},
    'This is a dry run: what is saved is shown once you quit the editor, and not sent.',
  ],
  ['tickets note 8', { SVC_SENDS: 'draft' }, 'What is saved is sent once you quit the editor.'],
])('svc %s with %o: the editor says what becomes of the text', async (line, env, told) => {
  const world = sandboxWorld();
  let opened = '';
  const edit = (initial: string) => {
    opened = initial;
    return initial;
  };
  await svc(world, line.split(' '), { columns: 80, edit, env });
  expect(opened).toContain(`left out.\n# ${told}`);
  expect(opened).toContain(' An empty text sends nothing.\n#\n# To: ');
});

test('who may write and not read gets an editor without a seed', async () => {
  const world = sandboxWorld();
  const { access_token: token } = (await world.control('POST', 'tokens', {
    account_id: 1,
    scopes: ['tickets:write'],
  })) as { access_token: string };
  const env = { SVC_API_KEY: '', SVC_ACCESS_TOKEN: token };
  const edit = (initial: string) => {
    expect(initial).toBe('');
    return 'Hello';
  };
  expect((await svc(world, ['tickets', 'note', '8'], { columns: 80, edit, env })).exitCode).toBe(0);
});

describe('a text that answers nothing', () => {
  test.each([
    ['tickets create --subject Printer', 'the description of the ticket "Printer"', 'POST /tickets'],
    ['changelog create --title Faster', 'the content of the changelog entry "Faster"', 'POST /changelog'],
    ['tickets update 7 --editor', 'the description of the ticket above', 'PATCH /tickets/7'],
  ])('svc %s: the editor says what it is open for', async (line, told, request) => {
    const world = sandboxWorld();
    let opened = '';
    const edit = (initial: string) => {
      opened = initial;
      return `# It stops\nat row 200.${initial}`;
    };
    const ran = await svc(world, [...line.split(' '), '--json'], { columns: 80, edit });
    expect(ran.exitCode).toBe(0);
    expect(opened).toContain(`# Write ${told}`);
    expect(world.sent.at(-1)).toBe(request);
    expect(ran.stdout).toContain('row 200');
    expect(ran.stdout).not.toContain('left out');
  });
});

test('tickets create with an editor left unsaved creates nothing', async () => {
  const world = sandboxWorld();
  const ran = await svc(world, ['tickets', 'create', '--subject', 'x'], { columns: 80, edit: (initial) => initial });
  expect(ran.exitCode).toBe(2);
  expect(world.sent).toEqual([]);
});

describe('what was written in the editor and was not sent', () => {
  const reply = ['tickets', 'reply', '8', '--editor', '--settle', '0', '--max-wait', '0'];
  const kept = async (folder: string) => {
    const names = await readdir(join(folder, 'state', 'unsent')).catch(() => []);
    return Promise.all(names.map((name) => readFile(join(folder, 'state', 'unsent', name), 'utf8')));
  };
  const written = { columns: 80, edit: (initial: string) => `Dear Ann, a long text\n${initial}` };

  test.each([
    ['the service refuses', { action: 'status', status: 422 }, 6],
    ['the answer to which is lost', { action: 'drop-after' }, 0],
    ['of which nobody knows whether it was', { action: 'status', status: 504 }, 9],
  ])('%s: it is kept where it is not surely there, and named', async (_, fault, exitCode) => {
    const world = sandboxWorld();
    await world.control('POST', 'faults', [{ path: '/tickets/8/replies', ...fault }]);
    const ran = await svc(world, reply, written);
    expect([ran.exitCode, ran.stderr]).toEqual([exitCode, expect.any(String)]);
    expect(await kept(world.folder)).toEqual(exitCode === 0 ? [] : ['Dear Ann, a long text\n']);
    if (exitCode !== 0) expect(ran.stderr).toMatch(/What you wrote is kept in\s+\S+unsent\S+\.md\n/u);
  });

  test('because the editor failed is kept too', async () => {
    const world = sandboxWorld();
    const ran = await svc(world, reply, { columns: 80, brokenEdit: 'Half of it' });
    expect([ran.exitCode, await kept(world.folder)]).toEqual([1, ['Half of it\n']]);
  });

  test('at one moment twice is two files', async () => {
    const world = sandboxWorld();
    await world.control('POST', 'faults', [{ path: '/tickets/8/replies', times: 2, action: 'status', status: 422 }]);
    for (const text of ['One', 'Two']) await svc(world, reply, { columns: 80, edit: (initial) => `${text}${initial}` });
    expect((await kept(world.folder)).sort()).toEqual(['One\n', 'Two\n']);
  });

  test('stands in no file where it was sent, or nothing was written', async () => {
    const world = sandboxWorld();
    expect((await svc(world, reply, written)).exitCode).toBe(0);
    expect((await svc(world, reply, { columns: 80, edit: (initial) => initial })).exitCode).toBe(2);
    expect(await kept(world.folder)).toEqual([]);
  });
});

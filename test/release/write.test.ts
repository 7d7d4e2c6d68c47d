import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type RunOptions, svc } from '../svc.ts';

let world: SandboxWorld;

beforeEach(() => {
  world = sandboxWorld({ seed: 'empty' });
});

const run = async (argv: readonly string[], options: RunOptions = {}) => {
  const ran = await svc(world, ['changelog', ...argv, '--json'], options);
  return { ...ran, json: ran.stdout === '' ? undefined : JSON.parse(ran.stdout) };
};

const front = '---\ntitle: From a file\nversion: 1.20\nlabels: [new, fast]\n---\n\n# Hello\n';

describe('svc changelog create', () => {
  test('makes a draft and says how to publish it', async () => {
    const { json, stderr } = await run([
      'create',
      '--title',
      'Dark mode',
      '--content',
      '**Here**',
      '--version',
      '1.2.0',
    ]);
    expect(json).toMatchObject({
      id: 1,
      status: 'draft',
      version: '1.2.0',
      content_html: '<p><strong>Here</strong></p>',
    });
    expect(stderr).toContain('Entry 1 (Dark mode) is a draft. To publish it: svc changelog publish 1');
  });

  test.each(['--body-file', '--content-file'])('reads front matter and content by %s', async (flag) => {
    const file = join(world.folder, 'notes.md');
    writeFileSync(file, front);
    const { json } = await run(['create', flag, file]);
    expect(json).toMatchObject({
      title: 'From a file',
      version: '1.20',
      labels: ['new', 'fast'],
      content_html: '<h1>Hello</h1>',
    });
  });

  test('lets flags win over front matter', async () => {
    const { json } = await run(['create', '--body-file', '-', '--title', 'Typed', '--status', 'published'], {
      stdin: front,
    });
    expect(json).toMatchObject({ title: 'Typed', version: '1.20', status: 'published' });
  });

  test('says that an entry of the future is scheduled', async () => {
    const { stderr } = await run([
      'create',
      '--title',
      'Later',
      '--content',
      'x',
      '--status',
      'published',
      '--published-at',
      '2030-01-01T00:00:00Z',
    ]);
    expect(stderr).toContain('Entry 1 (Later) is scheduled for 2030-01-01T00:00:00.000Z.');
  });

  test.each([
    [['create', '--content', 'x'], '--title is required'],
    [['create', '--title', 'Title'], '--content is required'],
    [['create', '--title', 'ab', '--content', 'x'], '--title must have at least 3 characters'],
    [['create', '--title', 'Title', '--content', 'x', '--body-file', 'y'], 'Give only one of'],
    [['create', '--title', 'Title', '--body-file', 'y', '--content-file', 'z'], 'Give only one of'],
    [['update', '1'], 'No change was given.'],
    [['update', '1', '--label', 'x', '--clear', 'labels'], 'cannot be used together'],
  ])('%j is exit 2, with nothing sent', async (argv, message) => {
    const ran = await run(argv);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain(message);
    expect(world.sent).toEqual([]);
  });

  test('names the place in the file where the front matter is wrong', async () => {
    const ran = await run(['create', '--body-file', '-'], { stdin: '---\ntitle: x\nversion: [1]\n---\ny' });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('standard input:3: In the front matter, version must be a text.');
  });

  test('names the field of the front matter that the service would refuse', async () => {
    const ran = await run(['create', '--body-file', '-'], { stdin: '---\ntitle: x\nstatus: live\n---\ny' });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('title: must have at least 3 characters');
    expect(ran.stderr).toContain('status: must be draft or published');
    expect(world.sent).toEqual([]);
  });
});

describe('svc changelog update and publish', () => {
  beforeEach(async () => {
    await run(['create', '--title', 'Dark mode', '--content', 'x', '--label', 'a', '--version', '1.0.0']);
  });

  test('send only what was given', async () => {
    expect((await run(['update', '1', '--clear', 'version', '--clear', 'labels'])).json).toMatchObject({
      title: 'Dark mode',
      version: null,
      labels: [],
    });
    const log = (await world.control('GET', 'log')) as { method: string; body: unknown }[];
    expect(log.find(({ method }) => method === 'PATCH')?.body).toEqual({ version: null, labels: [] });
  });

  test('take new content from a file', async () => {
    const { json } = await run(['update', '1', '--body-file', '-'], { stdin: 'New **words**' });
    expect(json).toMatchObject({ title: 'Dark mode', content_html: '<p>New <strong>words</strong></p>' });
  });

  test('publish now, or at a time', async () => {
    const { json, stderr } = await run(['publish', '1', '--at', '2030-01-31T09:00:00Z']);
    expect(json).toMatchObject({ status: 'published', is_live: false });
    expect(stderr).toContain('Entry 1 (Dark mode) is scheduled for 2030-01-31T09:00:00.000Z.');
    await run(['create', '--title', 'Second', '--content', 'y']);
    expect((await run(['publish', '2'])).json).toMatchObject({ status: 'published', is_live: true });
  });

  test('of an entry that is not there is exit 3', async () => {
    expect((await run(['publish', '99'])).exitCode).toBe(3);
  });
});

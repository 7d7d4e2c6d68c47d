import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Exchange, HttpRequest } from '../../src/context.ts';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type RunOptions, svc } from '../svc.ts';

type Entry = {
  id: number;
  title: string;
  version: string;
  status: string;
  content_html: string;
  labels: string[];
  published_at: string | null;
};

const notes = [
  '### Added',
  '',
  '- **Export** of contacts, see the [guide][g]',
  '  - as `CSV`',
  '- Second & "last" <kbd>thing</kbd>',
  '',
  '```sh',
  'svc contacts export',
  '```',
  '',
  '| a | b |',
  '|---|---|',
  '| 1 | 2 |',
].join('\n');

const changelog = (body = notes) =>
  `# Changelog\n\n## [Unreleased]\n\n- Not yet\n\n## [1.2.0] - 2026-01-02\n\n${body}\n\n## 1.1.0\n\n- Old\n\n[g]: https://example.com/guide\n`;

let world: SandboxWorld;
let file: string;

beforeEach(() => {
  world = sandboxWorld({ seed: 'empty' });
  file = join(world.folder, 'CHANGELOG.md');
  writeFileSync(file, changelog());
});

const release = (argv: readonly string[] = [], options: RunOptions = {}) =>
  svc(world, ['changelog', 'release', '--from', file, ...argv], options);

const releaseJson = async (argv: readonly string[] = [], options: RunOptions = {}) => {
  const ran = await release([...argv, '--json'], options);
  return { ...ran, json: ran.stdout === '' ? undefined : JSON.parse(ran.stdout) };
};

const entries = async (): Promise<Entry[]> =>
  ((await world.control('GET', 'state')) as { changelog: Entry[] }).changelog;

/** The world's exchange, but the first `count` requests of a kind leave at once when all of them are there. */
function together(count: number, isMeant: (request: HttpRequest) => boolean): Exchange {
  const waiting: (() => void)[] = [];
  let arrived = 0;
  return async (request) => {
    if (isMeant(request) && ++arrived <= count) {
      if (arrived === count) for (const go of waiting) go();
      else await new Promise<void>((go) => waiting.push(go));
    }
    return world.exchange(request);
  };
}

const writes = () => world.sent.filter((line) => !line.startsWith('GET'));

describe('a version of which a variable that is not set leaves nothing', () => {
  const nothing = ['', ' ', '@', 'v', 'web@', 'web@v', 'refs/tags/', 'refs/tags/v'];
  const flags = [[], ['--draft'], ['--check'], ['--dry-run']];
  let entry: Entry | undefined;

  beforeEach(async () => {
    await svc(world, [
      'changelog',
      'create',
      '--title',
      'We have moved',
      '--content',
      'To a new house',
      '--status',
      'published',
    ]);
    [entry] = await entries();
    world.sent.length = 0;
  });

  test.each(nothing)('%j is exit 2 before any request, and the entry that has none stays', async (version) => {
    const notesFile = join(world.folder, 'notes.md');
    writeFileSync(notesFile, 'Text\n');
    const sources = [
      ['--from', file],
      ['--notes-file', notesFile],
    ];
    for (const more of sources.flatMap((source) => flags.map((flag) => [...source, ...flag]))) {
      const ran = await svc(world, ['changelog', 'release', version, ...more], { env: { CI_COMMIT_TAG: 'v1.2.0' } });
      expect([more, ran.exitCode, ran.stdout, world.sent]).toEqual([more, 2, '', []]);
      expect(ran.stderr).toMatch(/^Error: VERSION [\s\S]*If a variable stands there, it has no value\./u);
    }
    expect(await entries()).toEqual([entry]);
  });

  test.each(nothing)('so is %j in the front matter, whatever the job names', async (version) => {
    const notesFile = join(world.folder, 'notes.md');
    writeFileSync(notesFile, `---\nversion: ${JSON.stringify(version)}\n---\n\nText\n`);
    for (const flag of flags) {
      const argv = ['changelog', 'release', '--notes-file', notesFile, ...flag];
      const ran = await svc(world, argv, { env: { CI_COMMIT_TAG: 'v1.2.0' } });
      expect([flag, ran.exitCode, ran.stdout, world.sent]).toEqual([flag, 2, '', []]);
      expect(ran.stderr).toContain('notes.md: In the front matter, version must name one');
    }
    expect(await entries()).toEqual([entry]);
  });
});

test('what is no time in the front matter is told with its place and its field', async () => {
  const notesFile = join(world.folder, 'notes.md');
  writeFileSync(notesFile, '---\ntitle: Later\npublished_at: soon\n---\n\nText\n');
  const ran = await svc(world, ['changelog', 'release', '9.9.1', '--notes-file', notesFile, '--json']);
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('notes.md:6: published_at must be a time like');
  expect(ran.stderr).toContain('"fields":{"published_at":[');
});

test('a time without a zone in the front matter is one of this machine, as `changelog create` takes it, and settles', async () => {
  const notesFile = join(world.folder, 'notes.md');
  writeFileSync(notesFile, '---\ntitle: Later\npublished_at: 2096-12-24T09:00:00\n---\n\nText\n');
  const argv = ['changelog', 'release', '9.9.1', '--notes-file', notesFile];
  expect((await svc(world, argv)).exitCode).toBe(0);
  expect((await entries())[0]?.published_at).toBe(new Date('2096-12-24T09:00:00').toISOString());
  expect((await svc(world, [...argv, '--check'])).exitCode).toBe(0);
});

describe('svc changelog release', () => {
  test('publishes the newest section once, however often it runs', async () => {
    const first = await releaseJson();
    expect(first.exitCode).toBe(0);
    expect(first.json).toMatchObject({
      action: 'created',
      version: '1.2.0',
      entry: { title: 'Release 1.2.0', version: '1.2.0', status: 'published', is_live: true },
      scheduled: false,
      doubled_ids: [],
      written: true,
    });
    expect(first.json.entry.content_html).toContain('href="https://example.com/guide"');
    const before = writes().length;
    for (let run = 0; run < 3; run++) {
      const { exitCode, json } = await releaseJson();
      expect({ exitCode, action: json.action, id: json.entry.id }).toEqual({
        exitCode: 0,
        action: 'unchanged',
        id: first.json.entry.id,
      });
    }
    expect(writes()).toHaveLength(before);
    expect(await entries()).toHaveLength(1);
  });

  test('says in words what it did', async () => {
    expect((await release()).stdout).toBe('Created entry 1 (Release 1.2.0), published.\n');
    expect((await release()).stdout).toBe('Entry 1 (Release 1.2.0) is already up to date and published.\n');
  });

  test('updates an entry whose section has changed, and leaves what was edited by hand', async () => {
    await release();
    await svc(world, ['changelog', 'update', '1', '--title', 'By hand', '--label', 'kept']);
    writeFileSync(file, changelog('- Something else'));
    const { json } = await releaseJson();
    expect(json).toMatchObject({
      action: 'updated',
      changes: ['content'],
      entry: { title: 'By hand', labels: ['kept'] },
    });
    expect(json.entry.content_html).toContain('Something else');
    expect((await releaseJson()).json.action).toBe('unchanged');
  });

  test('goes on with its entry where somebody has changed the version and the title of it by hand', async () => {
    await release();
    await svc(world, ['changelog', 'update', '1', '--title', 'By hand', '--version', '1.2 (May)']);
    writeFileSync(file, changelog('- Something else'));
    const { json } = await releaseJson();
    expect(json).toMatchObject({ action: 'updated', entry: { id: 1, title: 'By hand', version: '1.2 (May)' } });
    expect(await entries()).toHaveLength(1);
  });

  test('leaves an entry alone that somebody made another version of, once that was released', async () => {
    await release();
    await svc(world, ['changelog', 'update', '1', '--version', '1.3.0']);
    writeFileSync(file, `# Changelog\n\n## 1.3.0\n\n- Newer\n\n## 1.2.0\n\n- Older\n`);
    expect((await releaseJson(['1.3.0'])).json).toMatchObject({ entry: { id: 1 }, action: 'updated' });
    expect((await releaseJson(['1.2.0'])).json).toMatchObject({ entry: { id: 2 }, action: 'created' });
    const { json } = await releaseJson(['1.3.0']);
    expect(json).toMatchObject({ entry: { id: 1, version: '1.3.0' }, action: 'unchanged' });
  });

  test.each(['Version 1.2.0', '[1.2.0]', 'v.1.2.0'])(
    'an entry that is published with the version %j is the one of 1.2.0: there is no second one',
    async (version) => {
      const words = ['--title', 'By hand', '--content', 'x', '--version', version, '--status', 'published', '--yes'];
      await svc(world, ['changelog', 'create', ...words]);
      const { json } = await releaseJson(['1.2.0']);
      expect(json).toMatchObject({ action: 'updated', entry: { id: 1, title: 'By hand' } });
      expect(JSON.parse((await svc(world, ['changelog', 'list', '--json'])).stdout)).toHaveLength(1);
    },
  );

  test('publishes a draft that somebody has written for the version', async () => {
    await svc(world, ['changelog', 'create', '--title', 'By hand', '--content', 'x', '--version', 'v1.2.0']);
    const { json } = await releaseJson();
    expect(json).toMatchObject({ action: 'published', entry: { id: 1, title: 'By hand', status: 'published' } });
  });

  test('compares title, labels, category and time where they are given', async () => {
    await release();
    const argv = ['--title', 'Faster', '--label', 'b', '--label', 'a', '--at', '2030-01-01T00:00:00Z'];
    const { json } = await releaseJson(argv);
    expect(json).toMatchObject({
      action: 'updated',
      changes: ['title', 'labels', 'published_at'],
      scheduled: true,
      entry: { title: 'Faster', labels: ['b', 'a'], is_live: false },
    });
    expect((await releaseJson(argv)).json.action).toBe('unchanged');
    expect((await releaseJson(['--label', 'a', '--label', 'b'])).json.action).toBe('unchanged');
  });

  test('keeps a draft with --draft, and never takes a published entry back', async () => {
    expect((await releaseJson(['--draft'])).json).toMatchObject({ action: 'created', entry: { status: 'draft' } });
    expect((await releaseJson(['--draft'])).json).toMatchObject({ action: 'unchanged', entry: { status: 'draft' } });
    expect((await releaseJson()).json).toMatchObject({ action: 'published', entry: { status: 'published' } });
    expect((await releaseJson(['--draft'])).json).toMatchObject({
      action: 'unchanged',
      entry: { status: 'published' },
    });
  });

  test('schedules with --at and says so', async () => {
    const { stdout } = await release(['--at', '2030-01-01T09:00:00Z']);
    expect(stdout).toBe('Created entry 1 (Release 1.2.0), scheduled for 2030-01-01T09:00:00.000Z.\n');
    expect((await release()).stdout).toContain('scheduled for 2030-01-01T09:00:00.000Z');
  });

  test('--check writes nothing and exits 11 only where it would', async () => {
    const ran = await releaseJson(['--check']);
    expect(ran.exitCode).toBe(11);
    expect(ran.json).toMatchObject({ action: 'created', entry: null, written: false });
    expect(writes()).toEqual([]);
    await release();
    expect((await release(['--check'])).exitCode).toBe(0);
  });

  test('--dry-run shows line by line what would change, and writes nothing', async () => {
    expect((await release(['--dry-run'])).stdout).toContain('    + - **Export** of contacts');
    await release();
    writeFileSync(file, changelog(notes.replace('as `CSV`', 'as `CSV` and JSON')));
    const before = writes().length;
    const { stdout, exitCode } = await release(['--dry-run', '--title', 'Faster']);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      [
        'Would update entry 1 (Release 1.2.0).',
        '  title: Release 1.2.0 → Faster',
        '  content:',
        '    | ### Added',
        '    | - **Export** of contacts, see the [guide](https://example.com/guide)',
        '    -   - as `CSV`',
        '    +   - as `CSV` and JSON',
        '    | - Second & "last" thing',
        '    | ```',
        '    …',
        '',
      ].join('\n'),
    );
    expect(writes()).toHaveLength(before);
  });

  test('--dry-run and --check with --json have the content and the difference, and write nothing', async () => {
    const { json } = await releaseJson(['--dry-run']);
    expect(json).toMatchObject({ action: 'created', entry: null, written: false });
    expect(json.content).toBe(`${notes}\n\n[g]: https://example.com/guide`);
    expect(json.difference.map(({ field }: { field: string }) => field)).toEqual([
      'title',
      'version',
      'status',
      'content',
    ]);
    expect(json.difference[0]).toEqual({ field: 'title', before: null, after: 'Release 1.2.0' });
    expect((await releaseJson([])).json.changes).toEqual(json.changes);
    const before = writes().length;
    expect((await releaseJson(['--dry-run'])).json).toMatchObject({ action: 'unchanged', difference: [] });
    writeFileSync(file, changelog('- One\n- Two'));
    await release();
    writeFileSync(file, changelog('- One\n- Three'));
    const after = writes().length;
    const ran = await releaseJson(['--check', '--title', 'Faster']);
    expect(ran.exitCode).toBe(11);
    expect(ran.json.content).toBe('- One\n- Three');
    expect(ran.json.difference).toEqual([
      { field: 'title', before: 'Release 1.2.0', after: 'Faster' },
      {
        field: 'content',
        before: '- One\n- Two',
        after: '- One\n- Three',
        lines: [
          { kind: 'same', text: '- One' },
          { kind: 'gone', text: '- Two' },
          { kind: 'new', text: '- Three' },
        ],
      },
    ]);
    expect([before, writes().length]).toEqual([after - 1, after]);
  });

  test('refuses what is ambiguous with choices that work when they are typed', async () => {
    writeFileSync(file, '# Log\n\n## 1.2.0\n\n- A\n\n## 1.2.0\n\n- B\n\n## a@1.1.0\n\n- C\n\n## b@1.1.0\n\n- D\n');
    const refused = await release();
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toContain('There are two sections for 1.2.0, in lines 3 and 7.');
    expect(refused.stderr).toContain('Say which: add --line 3 or --line 7.');
    expect((await release(['1.1.0'])).stderr).toContain('Say which: a@1.1.0 or b@1.1.0.');
    expect(world.sent).toEqual([]);
    expect((await releaseJson(['--line', '7', '--dry-run'])).json).toMatchObject({ version: '1.2.0', content: '- B' });
    expect((await releaseJson(['b@1.1.0', '--dry-run'])).json).toMatchObject({ version: 'b@1.1.0', content: '- D' });
    expect((await releaseJson(['--line', '15', '--dry-run'])).json).toMatchObject({
      version: 'b@1.1.0',
      content: '- D',
    });
    expect((await release(['1.1.0', '--line', '3'])).stderr).toContain('Add --line 11 or --line 15.');
    expect((await release(['--line', '0'])).exitCode).toBe(2);
    expect((await svc(world, ['changelog', 'release', '1.2.0', '--notes-file', file, '--line', '3'])).stderr).toContain(
      '--line and --notes-file cannot be used together.',
    );
  });

  test('of two runs at once on one machine makes one entry', async () => {
    const ran = await Promise.all(Array.from({ length: 4 }, () => releaseJson()));
    expect(ran.map(({ json }) => json.action).sort()).toEqual(['created', 'unchanged', 'unchanged', 'unchanged']);
    expect(await entries()).toHaveLength(1);
  });

  test('on two machines in the same instant publishes one entry, and reports the other', async () => {
    const exchange = together(2, (request) => request.method === 'POST');
    const argv = ['changelog', 'release', '--from', file, '--json'];
    const ran = await Promise.all(
      ['one', 'two'].map((name) => svc({ ...world, exchange, folder: join(world.folder, name) }, argv)),
    );
    expect(ran.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    const all = await entries();
    expect(all.map(({ id, status }) => ({ id, status }))).toEqual([
      { id: 1, status: 'published' },
      { id: 2, status: 'draft' },
    ]);
    for (const { stdout, stderr } of ran) {
      expect(JSON.parse(stdout)).toMatchObject({ entry: { id: 1, status: 'published' }, doubled_ids: [2] });
      expect(stderr).toContain('Entry 2 is of version 1.2.0 too');
    }
    expect((await releaseJson()).json).toMatchObject({ action: 'unchanged', entry: { id: 1 }, doubled_ids: [2] });
  });

  test('after a lost answer finds the entry that was made', async () => {
    await world.control('POST', 'faults', { method: 'POST', path: '/changelog', action: 'drop-after' });
    await world.control('POST', 'faults', { method: 'PATCH', path: '/changelog', action: 'drop-after' });
    expect((await releaseJson()).json).toMatchObject({ action: 'created', entry: { status: 'published' } });
    expect(await entries()).toHaveLength(1);
  });

  test('notes that call themselves a draft are not published', async () => {
    const world = sandboxWorld({ seed: few });
    const { stdout } = await svc(world, ['changelog', 'release', 'v3.1.0', '--notes-file', '-', '--json'], {
      stdin: '---\nstatus: draft\n---\n- Not for the public yet.\n',
    });
    expect(JSON.parse(stdout).entry).toMatchObject({ status: 'draft', is_live: false });
  });

  test.each([
    ['status: Draft', 0],
    ['status: live', 2],
  ])('%j is read as it is meant: exit %i', async (yaml, exitCode) => {
    const world = sandboxWorld({ seed: few });
    const argv = ['changelog', 'release', 'v3.1.0', '--notes-file', '-', '--json'];
    expect(await svc(world, argv, { stdin: `---\n${yaml}\n---\n- x\n` })).toMatchObject({
      exitCode,
      stdout: expect.not.stringContaining('"published"'),
    });
  });

  test('a draft with a time is one without: a second run finds nothing to do', async () => {
    const world = sandboxWorld({ seed: few });
    const stdin = '---\ndraft: true\npublished_at: 2027-06-01T00:00:00Z\n---\n- Not yet.\n';
    const argv = ['changelog', 'release', 'v3.1.0', '--notes-file', '-', '--json'];
    const first = await svc(world, argv, { stdin });
    expect(first).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('A draft keeps no time') });
    expect(JSON.parse(first.stdout).entry).toMatchObject({ status: 'draft', published_at: null });
    const second = await svc(world, argv, { stdin });
    expect([second.exitCode, JSON.parse(second.stdout).action]).toEqual([0, 'unchanged']);
    const timed = await svc(world, [...argv, '--at', '2027-06-01T00:00:00Z'], { stdin });
    expect(timed).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('A draft keeps no time') });
  });

  test('takes the notes of a version from a file or standard input', async () => {
    const { stdout } = await svc(world, ['changelog', 'release', 'v3.0.0', '--notes-file', '-', '--json'], {
      stdin: '---\ntitle: Third\nlabels: [new, fast]\nversion: 9\nlayout: post\n---\n\nHello **there**\n',
    });
    const json = JSON.parse(stdout);
    expect(json.entry).toMatchObject({ version: '3.0.0', title: 'Third', labels: ['new', 'fast'] });
    expect(json.entry.content_html).toBe('<p>Hello <strong>there</strong></p>');
  });
});

test('a portal that shows a text in a way of its own is not updated again and again', async () => {
  const exchange: Exchange = async (request) => {
    const answer = await world.exchange(request);
    if (!('body' in answer)) return answer;
    return { ...answer, body: answer.body.replaceAll('Export', '<blink>EXPORT</blink>!') };
  };
  const odd = { ...world, exchange };
  const run = async () => JSON.parse((await svc(odd, ['changelog', 'release', '--from', file, '--json'])).stdout);
  expect((await run()).action).toBe('created');
  expect((await run()).action).toBe('unchanged');
  writeFileSync(file, changelog('- Other words, Export'));
  expect((await run()).action).toBe('updated');
  expect((await run()).action).toBe('unchanged');
});

test('a machine on which nothing can be written releases all the same, once the record of writes is off', async () => {
  writeFileSync(join(world.folder, 'state'), 'a file where the folder should be');
  expect(await release()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('svc config set audit off') });
  expect(await svc(world, ['config', 'set', 'audit', 'off'])).toMatchObject({ exitCode: 0 });
  writeFileSync(join(world.folder, 'state'), 'a file where the folder should be');
  const ran = await release();
  expect(ran).toMatchObject({ exitCode: 0, stdout: 'Created entry 1 (Release 1.2.0), published.\n' });
  expect(ran.stderr).toContain('svc cannot make other runs on this machine wait');
});

test('a subscriber hears of a version once, after runs, edits and a race', async () => {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(String(request.headers['x-svc-event']));
    request.resume();
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  world = sandboxWorld({ seed: 'empty', allowHttpTargets: true });
  try {
    const token = (await world.control('POST', 'tokens', { account_id: 1, scopes: ['webhooks:manage'] })) as {
      access_token: string;
    };
    await world.sandbox.handle({
      method: 'POST',
      url: '/oauth-platform/webhooks',
      headers: { authorization: `Bearer ${token.access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        event_type: 'changelog.published',
        target_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      }),
    });
    await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        svc({ ...world, folder: join(world.folder, name) }, ['changelog', 'release', '--from', file]),
      ),
    );
    for (let run = 0; run < 3; run++) await release();
    writeFileSync(file, changelog('- Edited'));
    await release(['--title', 'Edited']);
    await expect.poll(() => received).toEqual(['changelog.published']);
    const { deliveries } = (await world.control('GET', 'state')) as { deliveries: unknown[] };
    expect(deliveries).toHaveLength(1);
  } finally {
    await world.sandbox.close();
    server.close();
    server.closeAllConnections();
  }
});

describe('a release that cannot be', () => {
  test.each([
    [['1.1.1'], 'There is no section for 1.1.1.'],
    [['--title', 'ab'], 'title: must have at least 3 characters'],
    [['--label', 'x'.repeat(41)], 'labels.0: may have at most 40 characters'],
    [['--draft', '--at', '2030-01-01'], '--draft and --at cannot be used together.'],
    [['--notes-file', 'x'], '--notes-file and --from cannot be used together.'],
  ])('%j sends nothing and exits 2', async (argv, message) => {
    const ran = await release(argv);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain(message);
    expect(world.sent).toEqual([]);
  });

  test('names the line of a section that is too long', async () => {
    writeFileSync(file, changelog('x'.repeat(60_001)));
    const ran = await release();
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('CHANGELOG.md:7');
    expect(ran.stderr).toContain('content: may have at most 60000 characters, this has 60001');
    expect(world.sent).toEqual([]);
  });

  test('names the file that is not there', async () => {
    const ran = await svc(world, ['changelog', 'release', '--from', join(world.folder, 'NEWS.md')]);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('NEWS.md');
  });

  test('says how a changelog of another name is given, where this folder has none', async () => {
    const empty = mkdtempSync(join(world.folder, 'empty-'));
    const argv = [join(process.env.SVC_TEST_BUILD ?? '', 'bin', 'svc.js'), 'changelog', 'release', '--dry-run'];
    const ran = await execa(process.execPath, argv, { cwd: empty, reject: false });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('There is no file CHANGELOG.md in this folder.');
    expect(ran.stderr).toContain('svc changelog release --from FILE');
  });
});

describe('inside CI', () => {
  const outputs = () => {
    const text = readFileSync(join(world.folder, 'output'), 'utf8');
    return Object.fromEntries(
      [...text.matchAll(/^(\w+)<<(\S+)\n([\s\S]*?)\n\2\n/gmu)].map(([, name, , value]) => [name, value]),
    );
  };
  const github = () => ({
    env: {
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: world.folder,
      GITHUB_OUTPUT: join(world.folder, 'output'),
      GITHUB_STEP_SUMMARY: join(world.folder, 'summary'),
    },
  });

  test('GitHub gets outputs and a summary', async () => {
    const { exitCode } = await release([], github());
    expect(exitCode).toBe(0);
    expect(outputs()).toEqual({
      action: 'created',
      version: '1.2.0',
      entry_id: '1',
      slug: 'release-1-2-0',
      status: 'published',
    });
    expect(readFileSync(join(world.folder, 'summary'), 'utf8')).toContain('| Slug | release-1-2-0 |');
  });

  test('GitHub gets an error on the offending line', async () => {
    writeFileSync(file, changelog(''));
    const ran = await release(['1.2.0'], github());
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr.split('\n')[0]).toMatch(
      /^::error file=CHANGELOG\.md,line=7,title=svc changelog release::.*The section of 1\.2\.0 is empty\./u,
    );
  });

  test.each([
    ['a refused key', { SVC_API_KEY: 'key_wrong' }, 4],
    ['no key', { SVC_API_KEY: '' }, 4],
    ['no address', { SVC_BASE_URL: '' }, 2],
  ])('%s is an error of the job, on no line of the changelog', async (_, env, code) => {
    const ran = await release([], { env: { ...github().env, ...env } });
    expect(ran.exitCode).toBe(code);
    expect(ran.stderr.split('\n')[0]).toMatch(/^::error title=svc changelog release::/u);
    expect(ran.stderr).not.toContain('svc login');
  });

  test.each(['--check', '--dry-run'])('with %s the output says what would be done', async (flag) => {
    await release([flag], github());
    expect(outputs()).toMatchObject({ action: 'would-create', entry_id: '' });
    await release([], github());
    await release([flag], github());
    expect(outputs().action).toBe('unchanged');
  });

  test('a refusal of the service is an annotation on the section', async () => {
    await world.control('POST', 'faults', { method: 'POST', path: '/changelog', action: 'status', status: 422 });
    const ran = await release([], github());
    expect(ran.exitCode).toBe(6);
    expect(ran.stderr).toMatch(
      /^::error file=CHANGELOG\.md,line=7,title=svc changelog release::The sandbox was told/mu,
    );
  });

  test('no text of the changelog or the portal can speak to the runner', async () => {
    const evil = '::error::gotcha\n##[error]gotcha\n%0A::set-output name=x::y\nend_x\n';
    writeFileSync(file, changelog(`${evil}\n   ::add-mask::x`));
    const title = '##[warning]x\n::stop-commands::x\nentry_id<<E';
    const all = [
      await release(['--title', title, '--dry-run'], github()),
      await release(['--title', title], github()),
      await release(['--title', title], github()),
      await release(['--check'], github()),
      await release(['--json'], github()),
      await release(['--title', `${title}${'y'.repeat(300)}`], github()),
    ];
    for (const { stdout, stderr } of all) {
      for (const line of `${stdout}\n${stderr}`.split('\n')) {
        expect(line).not.toContain('##[');
        if (/^\s*::/u.test(line))
          expect(line).toMatch(/^::error file=CHANGELOG\.md,line=7,title=svc changelog release::/u);
      }
    }
    expect(outputs().entry_id).toBe('1');
    expect(readFileSync(join(world.folder, 'summary'), 'utf8')).not.toMatch(/^\s*(?:::|entry_id|<)/mu);
  });

  test('the version is that of the tag, else of package.json, else the newest', { tags: ['long'] }, async () => {
    const versionIn = async (env: Record<string, string>) =>
      (await releaseJson(['--dry-run'], { env: { CI: '1', ...env } })).json.version;
    writeFileSync(join(world.folder, 'package.json'), '{"version":"1.1.0"}');
    expect(await versionIn({})).toBe('1.1.0');
    expect(await versionIn({ CI: '' })).toBe('1.2.0');
    expect(await versionIn({ CI_COMMIT_TAG: 'v1.2.0' })).toBe('1.2.0');
    expect(await versionIn({ CIRCLE_TAG: 'web@1.2.0' })).toBe('1.2.0');
    expect(await versionIn({ GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v1.2.0' })).toBe('1.2.0');
    expect(await versionIn({ CI_COMMIT_TAG: 'release/1.1.0' })).toBe('1.1.0');
    expect(await versionIn({ GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'web-v1.2.0' })).toBe('1.2.0');
    expect(await versionIn({ GITHUB_REF_TYPE: 'branch', GITHUB_REF_NAME: 'v1.2.0' })).toBe('1.1.0');
    writeFileSync(join(world.folder, 'package.json'), '{"version":"0.0.0"}');
    expect((await release(['--line', '11'], { env: { CI: '1', CI_COMMIT_TAG: 'v1.1.0' } })).exitCode).toBe(2);
    expect(await versionIn({})).toBe('1.2.0');
    writeFileSync(join(world.folder, 'package.json'), '{"version":');
    expect(await versionIn({})).toBe('1.2.0');
    const missing = await release([], { env: { CI: '1', CI_COMMIT_TAG: 'v9.0.0' } });
    expect(missing).toMatchObject({ exitCode: 2 });
    expect(missing.stderr).toContain('There is no section for 9.0.0.');
  });

  test('a tag that names no version releases none, but for the one that is named', async () => {
    writeFileSync(join(world.folder, 'package.json'), '{"version":"1.2.0"}');
    writeFileSync(join(world.folder, 'notes.md'), '- Faster');
    const env = { CI: '1', GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'REL_1_1_0' };
    const notes = ['changelog', 'release', '--notes-file', join(world.folder, 'notes.md')];
    for (const run of [release([], { env }), release(['--check'], { env })]) {
      const ran = await run;
      expect(ran).toMatchObject({ exitCode: 2 });
      expect(ran.stderr).toContain('The tag REL_1_1_0 of this job names no version');
    }
    expect(writes()).toEqual([]);
    // A moving tag is of its series alone.
    const moving = (name: string) => release(['--dry-run'], { env: { ...env, GITHUB_REF_NAME: name } });
    expect((await moving('v1')).stdout).toContain('1.2.0');
    expect((await moving('v2')).exitCode).toBe(2);
    // Notes are of one version, whatever the tag is called.
    for (const [tag, version] of [
      ['REL_1_1_0', '1.2.0'],
      ['prod-v1.3.0', '1.3.0'],
    ]) {
      const ran = await svc(world, [...notes, '--dry-run', '--json'], { env: { ...env, GITHUB_REF_NAME: tag } });
      expect(JSON.parse(ran.stdout).version).toBe(version);
    }
    expect((await releaseJson(['1.1.0', '--dry-run'], { env })).json.version).toBe('1.1.0');
    expect((await releaseJson(['--line', '7', '--dry-run'], { env })).json.version).toBe('1.2.0');
  });

  describe('of two packages whose headings are bare', () => {
    const [a, b] = ['@acme/a@2.0.0', '@acme/b@2.0.0'] as const;
    const of = async (text: string, argv: readonly string[], options?: RunOptions) => {
      writeFileSync(file, `# Changelog\n\n## 2.0.0\n\n- ${text}\n`);
      const { exitCode, stderr, json } = await releaseJson(argv, options);
      return exitCode === 0 ? json.action : stderr;
    };
    const told = async () =>
      (await entries()).map(({ title, version, content_html }) => [title, version, content_html]);

    test('each has its own entry, by the argument and by the tag of a job, and runs of it change that one', async () => {
      expect(await of('A', [a])).toBe('created');
      expect(await of('B', [], { env: { CI_COMMIT_TAG: b } })).toBe('created');
      expect(await of('A', [a])).toBe('unchanged');
      expect(await of('B, better', [b])).toBe('updated');
      expect(await told()).toEqual([
        ['Release @acme/a@2.0.0', '2.0.0', expect.stringContaining('A')],
        ['Release @acme/b@2.0.0', '2.0.0', expect.stringContaining('B, better')],
      ]);
    });

    test('a run that names none asks which, and one where only one is there takes that', async () => {
      expect(await of('A', [a])).toBe('created');
      expect(await of('A', [])).toBe('unchanged');
      await of('B', [b]);
      const before = writes().length;
      const said = (await of('B', [])).replaceAll(/\s+/gu, ' ');
      expect(said).toContain('The portal has an entry of 2.0.0 for each of @acme/a and @acme/b.');
      expect(said).toContain('svc changelog release @acme/a@2.0.0 or @acme/b@2.0.0');
      expect(writes().length).toBe(before);
    });

    test('an entry from before packages had titles is brought up to date, and not made again', async () => {
      expect(await of('A', [])).toBe('created');
      expect(await of('A', [a])).toBe('unchanged');
      expect(await of('A, better', [a])).toBe('updated');
      expect(await told()).toEqual([['Release 2.0.0', '2.0.0', expect.stringContaining('A, better')]]);
    });

    test('what may only stand before a version is no package: prod-v2.0.0 and staging-v2.0.0 are one', async () => {
      expect(await of('A', [], { env: { CI_COMMIT_TAG: 'prod-v2.0.0' } })).toBe('created');
      expect(await of('A', [], { env: { CI_COMMIT_TAG: 'staging-v2.0.0' } })).toBe('unchanged');
      expect((await entries()).map(({ title }) => title)).toEqual(['Release 2.0.0']);
    });
  });

  test('a version in package.json that the changelog has twice is refused, and no other takes its place', async () => {
    writeFileSync(file, '## 1.3.0\n\n- A\n\n## 1.2.0\n\n- B\n\n## 1.2.0\n\n- C\n');
    writeFileSync(join(world.folder, 'package.json'), '{"version":"1.2.0"}');
    const ran = await release([], { env: { CI: '1' } });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('There are two sections for 1.2.0, in lines 5 and 9.');
    expect((await releaseJson(['--line', '9', '--dry-run'], { env: { CI: '1' } })).json.content).toBe('- C');
    expect(writes()).toEqual([]);
  });

  test('elsewhere the log is plain text', async () => {
    const ran = await release([], { env: { CI: 'true', GITLAB_CI: 'true' } });
    expect(ran).toMatchObject({ exitCode: 0, stdout: 'Created entry 1 (Release 1.2.0), published.\n' });
    expect(ran.stderr).not.toContain('::');
  });
});

test('advice to name a version names the file too', async () => {
  const named = join(world.folder, 'HISTORY of ours.md');
  writeFileSync(named, '# Changelog for v1.9\n\n## v1.8\n\n- x\n');
  const ran = await svc(world, ['changelog', 'release', '--from', named]);
  expect(ran).toMatchObject({ exitCode: 2 });
  expect(ran.stderr).toContain(`If 1.8 is meant: svc changelog release 1.8 --from '${named}'\n`);
});

test.each([
  ['waits for the limit', 429, 1],
  ['has lost its answer', 503, 9],
])('a draft that somebody changes while its publishing %s is not published so', async (_, status, exitCode) => {
  await release(['--draft']);
  const [{ id } = { id: 0 }] = await entries();
  let isFirst = true;
  const exchange: Exchange = async (request) => {
    if (request.method !== 'PATCH' || !isFirst) return world.exchange(request);
    isFirst = false;
    expect(await svc(world, ['changelog', 'update', String(id), '--content', 'Plans'])).toMatchObject({ exitCode: 0 });
    return { status, headers: { 'retry-after': '40' }, body: '{"error":"Too many requests"}' };
  };
  const ran = await svc({ ...world, exchange }, ['changelog', 'release', '--from', file]);
  expect(ran).toMatchObject({ exitCode, stderr: expect.stringContaining(`Entry ${id} has just changed`) });
  expect(await entries()).toMatchObject([{ id, status: 'draft' }]);
  expect(await release()).toMatchObject({ exitCode: 0 });
  expect(await entries()).toMatchObject([{ id, status: 'published', content_html: expect.stringContaining('Export') }]);
});

test('nor is the draft that a release has just made, where somebody changes it while the list waits for the limit', async () => {
  let isMade = false;
  const exchange: Exchange = async (request) => {
    const isList = isMade && request.method === 'GET';
    isMade = request.method === 'POST';
    if (!isList) return world.exchange(request);
    const [{ id } = { id: 0 }] = await entries();
    expect(await svc(world, ['changelog', 'update', String(id), '--content', 'Plans'])).toMatchObject({ exitCode: 0 });
    return { status: 429, headers: { 'retry-after': '40' }, body: '{"error":"Too many requests"}' };
  };
  const ran = await svc({ ...world, exchange }, ['changelog', 'release', '--from', file]);
  expect(ran).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(
      /has just changed. Before that, the entry was created.*\nRun the same command again: it goes on.*\n$/u,
    ),
  });
  expect(await entries()).toMatchObject([{ status: 'draft' }]);
  expect(await release()).toMatchObject({ exitCode: 0 });
  expect(await entries()).toMatchObject([{ status: 'published', content_html: expect.stringContaining('Export') }]);
});

test('an answer that leaves fields out is no change by somebody else, however long it took', async () => {
  const exchange: Exchange = async (request) => {
    const answer = await world.exchange(request);
    if (request.method !== 'POST' || !('status' in answer)) return answer;
    world.clock.advance(10_000);
    const { labels, category, ...entry } = JSON.parse(answer.body).entry;
    return { ...answer, body: JSON.stringify({ entry }) };
  };
  const ran = await svc({ ...world, exchange }, ['changelog', 'release', '--from', file]);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  expect(await entries()).toMatchObject([{ status: 'published' }]);
});

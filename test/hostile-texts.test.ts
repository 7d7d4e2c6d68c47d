// Texts that customers, files and a service choose: they speak neither for svc on standard error nor to a runner.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { allCommands, lineOf } from './command-lines.ts';
import { forged, hostileWorld } from './hostile-texts.ts';
import { few, sandboxWorld } from './sandbox-world.ts';
import { type Ran, type RunOptions, svc } from './svc.ts';

/** These wait until they are stopped, start svc once more, or write into the folder one stands in. */
const endless =
  /^(?:login|auth login|webhooks (?:listen|serve)|sandbox|mcp$|watch|inbox|rehearse|each|demo|.*(?:install|--rejects|--out))/u;

const byHand: readonly (readonly string[])[] = [
  ['tickets', 'reply', '1', '--body', 'hi', '--draft'],
  ['tickets', 'note', '1', '--body', 'hi'],
  ['tickets', 'close', '1'],
  ['tickets', 'update', '1', '--subject', 'x'],
  ['tickets', 'get', '1', '--fields', 'nothing'],
  ['tickets', 'list', '--fields', 'nothing'],
  ['tickets', 'waiting'],
  ['contacts', 'get', '1'],
  ['contacts', 'update', '1', '--first-name', 'Eve', '--dry-run'],
  ['contacts', 'history', '1'],
  ['conversations', 'get', '1'],
  ['conversations', 'reply', '1', '--body', 'hi', '--draft'],
  ['lists', 'members', '1'],
  ['lists', 'add', '1', '--contact', '1'],
  ['changelog', 'list'],
  ['changelog', 'update', '1', '--title', ''],
  ['drafts', 'approve', '1'],
  ['feedback', 'list'],
  ['whoami'],
  ['doctor'],
];

const lines = [...(await allCommands()).map((leaf) => lineOf(leaf, 'key_acme')?.argv ?? []), ...byHand].filter(
  (argv) => argv.length > 0 && !endless.test(argv.join(' ')),
);

const keys = { SVC_API_KEY: 'key_acme', SVC_M2M_TOKEN: 'm2m_sandbox' };

async function run(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const world = sandboxWorld({ seed: few, rateLimit: 'off' });
  return svc(hostileWorld(world), [...argv], { ...options, env: { ...keys, ...options.env } });
}

/** Nothing of it begins a line, whatever a reader takes for the end of one. */
const expectNothingForged = (stderr: string): void =>
  expect(
    stderr.split(/[\n\r\u0085\u2028\u2029]/u).filter((line) => /^\s*(?:Sent\. Everything|::)/u.test(line)),
  ).toEqual([]);

const expectNothingObeyed = ({ stdout, stderr }: Ran): void => {
  for (const line of `${stdout}\n${stderr}`.split(/[\n\r]/u)) {
    expect(line).not.toContain('##[');
    if (/^\s*::/u.test(line)) expect(line).toMatch(/^::(?:error|warning) [^:]*::/u);
  }
};

describe('of a service', () => {
  test('none begins a line on standard error', { tags: ['long'] }, async () => {
    let met = 0;
    for (const argv of lines) {
      const { stderr } = await run(argv);
      if (stderr.includes(forged)) met++;
      expectNothingForged(stderr);
      expectNothingForged((await run(argv, { columns: 70 })).stderr);
    }
    expect(met).toBeGreaterThan(5);
  });

  test.each([
    ['rows', []],
    ['JSON of jq', ['--jq', '.']],
  ])('none speaks to the runner of a job as %s', { tags: ['long'] }, async (_, form) => {
    for (const argv of lines) {
      // An export is for programs whatever is asked.
      if (argv.includes('export')) continue;
      const isAsked = argv.some((word) => ['-o', '--output', '--json', '--jq', '--fields'].includes(word));
      expectNothingObeyed(await run([...argv, ...(isAsked ? [] : form)], { env: { GITHUB_ACTIONS: 'true' } }));
    }
  });
});

describe('in a job', () => {
  const folder = () => sandboxWorld({ seed: few });
  const job = { env: { ...keys, GITHUB_ACTIONS: 'true' } };

  test('names of refused fields do not speak to the runner', async () => {
    const world = folder();
    const file = join(world.folder, 'CHANGELOG.md');
    writeFileSync(file, '# Changelog\n\n## 9.9.9\n\n- New\n');
    const errors = { '::set-output name=entry_id::666 #': ['x'], '::stop-commands::x': ['z'], '##[add-mask]a': ['y'] };
    const refusing = {
      ...world,
      exchange: async (request: Parameters<typeof world.exchange>[0]) =>
        request.method === 'POST'
          ? { status: 422, headers: {}, body: JSON.stringify({ message: 'Not valid.', errors }) }
          : world.exchange(request),
    };
    const ran = await svc(refusing, ['changelog', 'release', '--from', file], job);
    expect(ran.exitCode).toBe(6);
    expect(ran.stderr).toContain('add-mask');
    expectNothingObeyed(ran);
    // Where the job runs svc in a container, the flag alone tells of it.
    const alias = ['alias', 'set', 'rel', 'changelog release --annotate github'];
    expect(await svc(world, alias)).toMatchObject({ exitCode: 0 });
    for (const command of [['changelog', 'release', '--annotate', 'github'], ['rel']]) {
      const asked = await svc(refusing, [...command, '--from', file], { env: keys });
      expect(asked.stderr).toMatch(/^::error /mu);
      expectNothingObeyed(asked);
    }
  });

  test('keys of a front matter do not speak to the runner', async () => {
    const world = folder();
    const file = join(world.folder, 'notes.md');
    writeFileSync(file, '---\n"a\\n::stop-commands::pwn": 1\n---\n- New\n');
    const ran = await svc(world, ['changelog', 'release', '9.9.9', '--notes-file', file], job);
    expect(ran.stderr).toContain('Ignored in the front matter: a↵::stop-commands::pwn.');
    expectNothingObeyed(ran);
  });

  test('what programs read has them exactly', async () => {
    const world = folder();
    const name = '::warning::x';
    const made = await svc(
      world,
      [
        'contacts',
        'create',
        '--name',
        name,
        '--last-name',
        'Y',
        '--email',
        'a@x.test',
        '--phone',
        '+13125550777',
        '--json',
      ],
      job,
    );
    const { contact_id: id } = JSON.parse(made.stdout);
    const asked = async (argv: readonly string[]) => (await svc(world, [...argv], job)).stdout;
    expect(await asked(['contacts', 'get', String(id), '--jq', '.name'])).toBe(`${name}\n`);
    for (const form of ['csv', 'yaml', 'jsonl'])
      expect(await asked(['contacts', 'list', '--limit', '1', '-o', form])).toContain(name);
    expect(await asked(['contacts', 'export'])).toContain(name);
    expect(await asked(['contacts', 'list', '--limit', '1', '--fields', 'name'])).toBe(': :warning::x\n');
  });

  test('a file has them exactly, and so has JSON', async () => {
    const world = folder();
    const subject = '##[set-output name=entry_id;]666';
    await svc(world, ['tickets', 'create', '--subject', subject], job);
    const list = ['tickets', 'list', '--search', 'set-output'];
    expect((await svc(world, list, job)).stdout).toContain('# #[set-output');
    let written = '';
    const write = (text: unknown, _: string, done: () => void) => {
      written += text;
      done();
    };
    const file = Object.assign(new Writable({ write }), { isFile: true });
    await svc(world, [...list, '-o', 'csv'], { ...job, stdout: file });
    expect(written).toContain(subject);
    const { stdout } = await svc(world, [...list, '--json'], job);
    expect(JSON.parse(stdout)[0].subject).toBe(subject);
  });
});

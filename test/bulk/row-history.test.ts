// Each cell of the table of docs/row-history.md: what earlier runs say of a row, and what each flag makes of that.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { refusals, refusing } from '../refusing.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { atDesk } from '../sends/drafting.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/row-history.md'), 'utf8');

/** The cells of the table below "What a run begins with", by the first cell of each row. */
const table = page
  .slice(page.indexOf('## What a run begins with'))
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.slice(2, -2).split(' | '));
const [heads = [], , ...rows] = table;

const own = 'id,body\n8,Hello Ann\n9,Hello Bob\n';
/** The row itself, in a file with other rows. */
const other = 'id,body\n12,Hello Cy\n8,Hello Ann\n';
const two = 'id,body,more\n8,Hello Ann,Bye Ann\n9,Hello Bob,Bye Bob\n';
const hello = ['--map', 'more=ignore'];
const bye = ['--map', 'body=ignore', '--map', 'more=body'];

function files() {
  const service = refusing(sandboxWorld({ rateLimit: 'off', seed: few }), /\/(?:tickets|drafts)\//u);
  let sent: string[] = [];
  const { exchange } = service.world;
  const world: typeof service.world = {
    ...service.world,
    exchange(request) {
      if (request.method === 'POST') sent.push(`${new URL(request.url).pathname} ${request.body}`);
      return exchange(request);
    },
  };
  const at = atDesk(world);
  const reply = async (name: string, text: string, flags: readonly string[] = []) => {
    const file = join(world.folder, name);
    writeFileSync(file, text);
    // Other times of a file tell of another run.
    await world.clock.sleep(60_000);
    sent = [];
    const words = ['tickets', 'reply', '--from', file, '--yes', '--json', '--settle', '1', '--max-wait', '3'];
    return at.run([...words, '--concurrency', '1', ...flags]);
  };
  const isOfAnn = (one: string) => one.includes('/tickets/8/') && one.includes('Ann');
  return { ...service, ...at, reply, sentToAnn: () => sent.filter(isOfAnn).length };
}

type Files = ReturnType<typeof files>;

type Story = {
  /** What comes first. */
  readonly before: (at: Files) => Promise<unknown>;
  /** The file in which the row stands then. */
  readonly text?: string;
  readonly name?: string;
  readonly flags?: readonly string[];
};

const lostAnswers = async ({ meets, late, reply }: Files) => {
  meets(late);
  expect((await reply('own.csv', own)).exitCode).toBe(9);
  meets(() => undefined);
};

const isRejected = async ({ meets, reply }: Files) => {
  meets(({ url }) => (url.includes('/8/') ? refusals['HTTP 422'] : undefined));
  expect((await reply('own.csv', own)).exitCode).toBe(8);
  meets(() => undefined);
};

const newRow: Story = { before: async () => {} };

const stories: Readonly<Record<string, Story>> = {
  nothing: newRow,
  'done by this file': { before: ({ reply }) => reply('own.csv', own) },
  'done by another file': { before: ({ reply }) => reply('own.csv', own), name: 'other.csv', text: other },
  'done as another request': {
    before: ({ reply }) => reply('two.csv', two, hello),
    name: 'two.csv',
    text: two,
    flags: bye,
  },
  'rejected by the service, in this file': { before: isRejected },
  'rejected by the service, in another file': { before: isRejected, name: 'other.csv', text: other },
  'its draft waits': { before: ({ reply }) => reply('own.csv', own, ['--draft']) },
  'its draft was rejected by a person': {
    async before({ reply, ok }) {
      await reply('own.csv', own, ['--draft']);
      await ok('drafts reject 1');
    },
  },
  'in doubt': { before: lostAnswers },
  'nothing, but it is like one in doubt': {
    before: lostAnswers,
    name: 'like.csv',
    text: 'id,body,status\n8,Hello Ann,open\n',
  },
  'nothing, but it holds all that one held, and more': {
    before: ({ reply }) => reply('own.csv', own),
    name: 'grown.csv',
    text: 'id,body,note\n8,Hello Ann,from a call\n',
  },
};

test('what the page names is there', () => {
  const root = join(import.meta.dirname, '../..');
  const words = [...page.matchAll(/`([\w./-]+)`/gu)].map(([, word = '']) => word);
  const paths = words.filter((word) => word.includes('/') && word.endsWith('.ts'));
  const isThere = (path: string) => ['src/bulk', 'src', '.'].some((above) => existsSync(join(root, above, path)));
  expect(paths.length).toBeGreaterThan(15);
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
  const bulk = readdirSync(join(root, 'src/bulk'), { recursive: true, withFileTypes: true });
  const source = bulk.filter((one) => one.isFile()).map((one) => readFileSync(join(one.parentPath, one.name), 'utf8'));
  const names = words.filter((word) => /^[a-z]+[A-Z]\w*$/u.test(word));
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => !source.some((text) => text.includes(name)))).toEqual([]);
});

test('each row of the table has its story', () => {
  expect(rows.map(([said]) => said)).toEqual(Object.keys(stories));
  expect(heads.slice(1)).toEqual(['plain', '`--retry-unknown`', '`--again`', '`--restart`']);
});

describe.each(rows.map(([said = '', ...fates]) => ({ said, fates })))('$said', ({ said, fates }) => {
  const flags = [[], ['--retry-unknown'], ['--again'], ['--restart']];
  test.each(flags.map((flag, at) => ({ flag, does: /\w+/u.exec(fates[at] ?? '')?.[0] })))(
    'with $flag: $does',
    async ({ flag, does }) => {
      const at = files();
      const { before, name = 'own.csv', text = own, flags: more = [] } = stories[said] ?? newRow;
      await before(at);
      const ran = await at.reply(name, text, [...more, ...flag]);
      const told = `exit ${ran.exitCode}, ${at.sentToAnn()} sent\n${ran.stderr}${ran.stdout}`;
      const [goes, isRefused] = [at.sentToAnn() > 0, ran.exitCode === 2];
      expect(isRefused ? 'refused' : goes ? 'goes' : 'stays', told).toBe(does);
      expect(at.sentToAnn(), told).toBe(goes ? 1 : 0);
    },
  );
});

// The record that fills a template is another one by the time the text leaves: it is not sent with what was there before.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Exchange, HttpRequest } from '../../src/context.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const slow = { status: 429, headers: { 'x-ratelimit-limit': '60', 'retry-after': '1' }, body: '{"error":"Too many"}' };
const late = { status: 504, headers: {}, body: '' };

const cases = [
  {
    argv: ['tickets', 'reply', '8', '--template'],
    text: 'Dear {{contact.name}}',
    record: 'Ticket 8',
    path: /\/tickets\/8$/u,
    change: ['contacts', 'update', 'CONTACT', '--name', 'Renamed'],
  },
  {
    argv: ['tickets', 'note', '8', '--template'],
    text: 'Of {{contact.name}}',
    record: 'Ticket 8',
    path: /\/tickets\/8$/u,
    change: ['contacts', 'update', 'CONTACT', '--name', 'Renamed'],
  },
  {
    argv: ['tickets', 'update', '8', '--template'],
    text: 'About {{subject}}',
    record: 'Ticket 8',
    path: /\/tickets\/8$/u,
    change: ['tickets', 'update', '8', '--subject', 'Renamed'],
  },
  {
    argv: ['conversations', 'reply', '2', '--template'],
    text: 'Dear {{contact.name}}',
    record: 'Conversation 2',
    path: /\/conversations\/2$/u,
    change: ['contacts', 'update', 'CONTACT', '--name', 'Renamed'],
  },
  {
    argv: ['changelog', 'update', '30', '--template'],
    text: '# {{title}}',
    record: 'Changelog entry 30',
    path: /\/changelog\/30$/u,
    change: ['changelog', 'update', '30', '--title', 'Renamed'],
  },
  {
    argv: ['changelog', 'publish', '30', '--template'],
    text: '# {{title}}',
    record: 'Changelog entry 30',
    path: /\/changelog\/30$/u,
    change: ['changelog', 'update', '30', '--title', 'Renamed'],
  },
];

type Answer = ReturnType<Exchange>;
type Case = (typeof cases)[number];

/** The template in a file, and the ids of what others change. */
async function sceneOf({ argv, text, change }: Case) {
  const world = sandboxWorld({ rateLimit: 'off' });
  const template = join(world.folder, 'dear.md');
  writeFileSync(template, text);
  const sent: string[] = [];
  const isWrite = ({ method }: HttpRequest) => method !== 'GET';
  const { stdout } = await svc(world, [argv[0] ?? '', 'get', argv[2] ?? '', '--jq', '.contact.contact_id']);
  const contact = stdout.trim();
  const changes = async () => {
    const ran = await svc(
      world,
      change.map((word) => word.replace('CONTACT', contact)),
    );
    expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  };
  /** The account as this command sees it: of each request what `answered` makes of it. */
  const run = (
    answered: (request: HttpRequest, done: () => Answer) => Answer,
    flags: readonly string[] = ['--yes'],
    options: Parameters<typeof svc>[2] = {},
  ) => {
    const exchange: typeof world.exchange = async (request) => {
      if (isWrite(request)) sent.push(String(request.body));
      return answered(request, () => world.exchange(request));
    };
    return svc({ ...world, exchange }, [...argv, template, ...flags], options);
  };
  return { world, run, sent, changes, isWrite };
}

describe.each(cases)('$argv', (one) => {
  const { path, record } = one;
  const isRead = ({ method, url }: HttpRequest) => method === 'GET' && path.test(new URL(url).pathname);
  const refused = { exitCode: 1, stderr: expect.stringContaining(`${record} has just changed. Nothing was sent.`) };

  test.each([['it changes'], ['nothing does']])('its record is long on its way, and %s', async (what) => {
    const { world, run, sent, changes } = await sceneOf(one);
    let reads = 0;
    const ran = await run(async (request, done) => {
      const answer = await done();
      if (!isRead(request) || ++reads > 1) return answer;
      if (what === 'it changes') await changes();
      world.clock.advance(6000);
      return answer;
    });
    expect(ran, ran.stderr).toMatchObject(what === 'it changes' ? refused : { exitCode: 0 });
    expect(sent).toHaveLength(what === 'it changes' ? 0 : 1);
  });

  test.each([['it changes'], ['nothing does']])('it waits behind a 429, and %s', async (what) => {
    const { run, sent, changes, isWrite } = await sceneOf(one);
    const ran = await run(async (request, done) => {
      if (!isWrite(request) || sent.length > 1) return done();
      if (what === 'it changes') await changes();
      return slow;
    });
    expect(ran, ran.stderr).toMatchObject(what === 'it changes' ? refused : { exitCode: 0 });
    expect(sent).toHaveLength(what === 'it changes' ? 1 : 2);
  });

  test('it changes while a person reads the text', async () => {
    const { world, run, sent, changes } = await sceneOf(one);
    const whileAsked = async () => {
      await changes();
      world.clock.advance(6000);
    };
    const ran = await run((_, done) => done(), [], { columns: 80, whileAsked, answers: [true] });
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`${record} has just changed.`) });
    expect(sent).toEqual([]);
  });

  test('to show what would be sent nothing is compared, however long its record is on its way', async () => {
    const readsFor = async (ms: number) => {
      const { world, run, sent } = await sceneOf(one);
      let reads = 0;
      const answered = (request: HttpRequest, done: () => Answer) => {
        if (isRead(request)) reads++;
        world.clock.advance(ms);
        return done();
      };
      expect(await run(answered, ['--dry-run'])).toMatchObject({ exitCode: 0 });
      return { reads, sent };
    };
    expect(await readsFor(6000)).toEqual(await readsFor(0));
  });
});

test('an update that has changed what its own text was made of is sent again', async () => {
  const { run, sent, isWrite } = await sceneOf(cases[4] as Case);
  const ran = await run(
    async (request, done) => {
      const answer = await done();
      return isWrite(request) && sent.length === 1 ? late : answer;
    },
    ['--title', 'Renamed', '--yes'],
  );
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  expect(sent).toHaveLength(2);
  expect(sent[1]).toBe(sent[0]);
});

test('for a text that --set gives in whole the record is not read', async () => {
  const requestsFor = async (text: readonly string[]) => {
    const { world } = await sceneOf({ ...(cases[0] as Case), text: 'Dear {{name}}' });
    const argv = text.map((word) => word.replace('TEMPLATE', join(world.folder, 'dear.md')));
    const before = world.sent.length;
    const ran = await svc(world, ['tickets', 'reply', '8', ...argv, '--yes', '--json']);
    expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(ran.stdout)).toMatchObject({ body: 'Dear Ada' });
    return world.sent.slice(before);
  };
  const typed = await requestsFor(['--body', 'Dear Ada']);
  expect(typed.length).toBeGreaterThan(0);
  expect(await requestsFor(['--template', 'TEMPLATE', '--set', 'name=Ada'])).toEqual(typed);
});

// Ids are stable and never reused; that they grow is nowhere said. Here they fall, or have no order.
import { describe, expect, test } from 'vitest';
import type { HttpResponse, Lost } from '../../src/context.ts';
import { fieldsIn } from '../../src/text/record.ts';
import { falling, type IdOrder, idOrders, idsIn, withIds } from '../other-ids.ts';
import { demo, few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const cut: Lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };

const posts = ({ sent }: SandboxWorld): number => sent.filter((one) => one.startsWith('POST')).length;

const creations = (order: IdOrder): readonly (readonly string[])[] => [
  ['tickets', 'create', '--subject', 'Mine'],
  ['tickets', 'reply', String(order(8)), '--body', 'Hello', '--yes'],
  ['conversations', 'reply', String(order(1)), '--body', 'Hello', '--yes'],
  ['changelog', 'create', '--title', 'Mine', '--content', 'C'],
  ['contacts', 'create', '--name', 'A', '--last-name', 'B', '--email', 'a@x.example', '--phone', '+12025550123'],
  ['lists', 'create', '--name', 'Mine', '--target-industry', 'I', '--notes', 'N'],
];

/** Fewer records than a page, and more. */
const seeds = { few, 'more than a page of': demo };

const accounts = idOrders.flatMap(([name, order]) =>
  Object.entries(seeds).map(([size, seed]) => [size, name, order, seed] as const),
);

describe.each(accounts)('an account of %s records whose ids %s', (_, __, order, seed) => {
  const fresh = () => sandboxWorld({ rateLimit: 'off', seed });

  test.each(creations(order))('%s %s does its work, sent once', async (...argv) => {
    const world = fresh();
    const ran = await svc(withIds(world, order), [...argv, '--settle', '1']);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(ran.stderr).not.toContain('lost');
    expect(posts(world)).toBe(1);
  });

  test.each(creations(order))('%s %s whose answer was lost is found', async (...argv) => {
    const world = fresh();
    const ordered = withIds(world, order);
    const exchange: typeof world.exchange = async (request) => {
      const answer = await ordered.exchange(request);
      return request.method === 'POST' ? cut : answer;
    };
    const ran = await svc({ ...ordered, exchange }, [...argv, '--settle', '1']);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(posts(world)).toBe(1);
  });

  test('webhooks create shows the signing secret of each subscription', async () => {
    const world = sandboxWorld({ rateLimit: 'off', env: {}, seed });
    const token = await world.control('POST', 'tokens', { account_id: 1, scopes: ['identity', 'webhooks:manage'] });
    const env = { SVC_ACCESS_TOKEN: String(fieldsIn(token).access_token) };
    for (const path of ['a', 'b', 'c']) {
      const argv = ['webhooks', 'create', 'ticket.created', `https://example.com/${path}`, '--json', '--settle', '1'];
      const ran = await svc(withIds(world, order), argv, { env });
      expect(ran.exitCode, ran.stderr).toBe(0);
      expect(JSON.parse(ran.stdout)).toMatchObject({ signing_secret: expect.stringMatching(/./u) });
    }
  });

  test('changelog release makes one entry and publishes it', async () => {
    const world = fresh();
    const ran = await svc(withIds(world, order), ['changelog', 'release', '9.9.9', '--from', '-', '--settle', '1'], {
      stdin: '# Changelog\n\n## 9.9.9\n\n- Fixed.\n',
    });
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(posts(world)).toBe(1);
  });

  test('contacts create --from makes two people of one name', async () => {
    const world = fresh();
    const rows = [
      ['Ann', 'Ash', 'a@x.example', '+12025550101'],
      ['Ann', 'Birch', 'b@x.example', '+12025550102'],
    ];
    const ran = await svc(withIds(world, order), ['contacts', 'create', '--from', '-', '--yes', '--settle', '1'], {
      stdin: ['name,last_name,email,phone', ...rows.map((row) => row.join(','))].join('\n'),
    });
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(posts(world)).toBe(2);
  });
});

test('replies that are numbered otherwise in their answers than in the thread are sent once each', async () => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  let answers = 0;
  const exchange: typeof world.exchange = async (request) => {
    const answer = (await world.exchange(request)) as HttpResponse;
    if (request.method !== 'POST') return { ...answer, body: idsIn(answer.body, falling) };
    return { ...answer, body: answer.body.replace(/"id":\d+/u, `"id":${++answers}`) };
  };
  for (const body of ['One', 'Two']) {
    const argv = ['tickets', 'reply', '8', '--body', body, '--yes', '--settle', '1'];
    const ran = await svc({ ...world, exchange: named(exchange) }, argv);
    expect(ran.exitCode, ran.stderr).toBe(0);
  }
  expect(posts(world)).toBe(2);
});

/** Only the messages have other ids: the ticket is the one that was asked for. */
const named =
  (exchange: SandboxWorld['exchange']): SandboxWorld['exchange'] =>
  async (request) => {
    const answer = (await exchange(request)) as HttpResponse;
    return { ...answer, body: answer.body.replace('"ticket":{"id":999992', '"ticket":{"id":8') };
  };

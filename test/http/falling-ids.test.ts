// Ids are stable and never reused; that they grow is nowhere said. Here each new record has a smaller one than all before.
import { describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../src/context.ts';
import { fieldsIn } from '../../src/text/record.ts';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const turned = (id: string): string => String(1_000_000 - Number(id));
const idsIn = (text: string): string =>
  text.replaceAll(
    /"((?:contact_|contacts_list_|contact_list_)?id)":(\d+)/gu,
    (_, name, id) => `"${name}":${turned(id)}`,
  );

/** The sandbox, behind ids that fall. */
function falling(world: SandboxWorld): SandboxWorld {
  const exchange: typeof world.exchange = async (request) => {
    const url = request.url.replaceAll(/(?<=\/)\d{6}(?=\/|$)/gu, turned);
    const body = typeof request.body === 'string' ? idsIn(request.body) : request.body;
    const answer = (await world.exchange({ ...request, url, body })) as HttpResponse;
    return { ...answer, body: idsIn(answer.body) };
  };
  return { ...world, exchange };
}

const posts = ({ sent }: SandboxWorld): number => sent.filter((one) => one.startsWith('POST')).length;

const creations: readonly (readonly string[])[] = [
  ['tickets', 'create', '--subject', 'Mine'],
  ['tickets', 'reply', turned('8'), '--body', 'Hello', '--yes'],
  ['conversations', 'reply', turned('1'), '--body', 'Hello', '--yes'],
  ['changelog', 'create', '--title', 'Mine', '--content', 'C'],
  ['contacts', 'create', '--name', 'A', '--last-name', 'B', '--email', 'a@x.example', '--phone', '+12025550123'],
  ['lists', 'create', '--name', 'Mine', '--target-industry', 'I', '--notes', 'N'],
];

describe('a service whose ids fall', () => {
  test.each(creations)('%s %s does its work, sent once', async (...argv) => {
    const world = sandboxWorld({ rateLimit: 'off', seed: few });
    const ran = await svc(falling(world), [...argv, '--settle', '1']);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(ran.stderr).not.toContain('lost');
    expect(posts(world)).toBe(1);
  });

  test('webhooks create shows the signing secret of each subscription', async () => {
    const world = sandboxWorld({ rateLimit: 'off', env: {}, seed: few });
    const token = await world.control('POST', 'tokens', { account_id: 1, scopes: ['identity', 'webhooks:manage'] });
    const env = { SVC_ACCESS_TOKEN: String(fieldsIn(token).access_token) };
    for (const path of ['a', 'b', 'c']) {
      const argv = ['webhooks', 'create', 'ticket.created', `https://example.com/${path}`, '--json', '--settle', '1'];
      const ran = await svc(falling(world), argv, { env });
      expect(ran.exitCode, ran.stderr).toBe(0);
      expect(JSON.parse(ran.stdout)).toMatchObject({ signing_secret: expect.stringMatching(/./u) });
    }
  });

  test('changelog release makes one entry and publishes it', async () => {
    const world = sandboxWorld({ rateLimit: 'off', seed: few });
    const ran = await svc(falling(world), ['changelog', 'release', '9.9.9', '--from', '-', '--settle', '1'], {
      stdin: '# Changelog\n\n## 9.9.9\n\n- Fixed.\n',
    });
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(posts(world)).toBe(1);
  });

  test('contacts create --from makes two people of one name', async () => {
    const world = sandboxWorld({ rateLimit: 'off', seed: few });
    const rows = [
      ['Ann', 'Ash', 'a@x.example', '+12025550101'],
      ['Ann', 'Birch', 'b@x.example', '+12025550102'],
    ];
    const ran = await svc(falling(world), ['contacts', 'create', '--from', '-', '--yes', '--settle', '1'], {
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
    if (request.method !== 'POST') return { ...answer, body: idsIn(answer.body) };
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

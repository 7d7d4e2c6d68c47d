import { describe, expect, test } from 'vitest';
import type { HttpRequest, HttpResponse, Lost } from '../../src/context.ts';
import { connected } from '../mcp/connected.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type Ran, svc } from '../svc.ts';
import { ownFailure } from './late-service.ts';

type Row = Readonly<Record<string, unknown>>;

const lost: Lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };
const gateway: HttpResponse = { status: 200, headers: {}, body: '{"error":"upstream timeout"}' };

type Plan = {
  /** What somebody else's requests at that moment say otherwise. */
  readonly theirs: readonly Row[];
  readonly isOursStored?: boolean;
  readonly ending: HttpResponse | Lost;
  readonly path?: RegExp;
};

/** At our first write others write too, and its answer is another. */
function meddled(world: SandboxWorld, { theirs, isOursStored = false, ending, path = /./u }: Plan): SandboxWorld {
  let left = 1;
  return {
    ...world,
    async exchange(request: HttpRequest) {
      if (request.method === 'GET' || !path.test(request.url) || left-- <= 0) return world.exchange(request);
      for (const other of theirs) {
        const body = JSON.stringify({ ...JSON.parse(String(request.body)), ...other });
        await world.exchange({ ...request, body });
      }
      if (isOursStored) await world.exchange(request);
      return ending;
    },
  };
}

const held = async (world: SandboxWorld, kind: string, isIt: (row: Row) => boolean): Promise<Row[]> =>
  (((await world.control('GET', 'state')) as Record<string, Row[]>)[kind] ?? []).filter(isIt);
const errorOf = ({ stderr }: Ran) => JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error;

const ticket = ['tickets', 'create', '--subject', 'Twice', '--description', 'The same', '--json'];
const isTwice = (row: Row) => row.subject === 'Twice';

describe('after a failure of the service’s own', () => {
  test.each<Row>([{ description: 'Another' }, { subject: 'Another subject' }, { priority: 4 }])(
    'a ticket is not sent again while another one agrees in part: %j',
    async (differs) => {
      const world = sandboxWorld();
      const ran = await svc(meddled(world, { theirs: [differs], ending: ownFailure }), ticket);
      expect(ran.exitCode).toBe(9);
      expect(errorOf(ran).candidates).toHaveLength(1);
      expect(await held(world, 'tickets', (row) => isTwice(row) || row.description === 'The same')).toHaveLength(1);
    },
  );

  test('a ticket is sent again where another one agrees in nothing', async () => {
    const world = sandboxWorld();
    const theirs = [{ subject: 'Something else', description: 'Of another matter' }];
    const ran = await svc(meddled(world, { theirs, ending: ownFailure }), ticket);
    expect(ran.exitCode).toBe(0);
    expect(await held(world, 'tickets', isTwice)).toHaveLength(1);
  });
});

describe('a record of somebody else that is equal in everything', () => {
  test('is taken where it is the only one: nothing tells it from ours', async () => {
    const world = sandboxWorld();
    const ran = await svc(meddled(world, { theirs: [{}], ending: lost }), ticket);
    expect(ran.exitCode).toBe(0);
    expect(await held(world, 'tickets', isTwice)).toHaveLength(1);
  });

  test('beside ours is undecided: exit 9 names both', async () => {
    const world = sandboxWorld();
    const ran = await svc(meddled(world, { theirs: [{}], isOursStored: true, ending: lost }), ticket);
    expect(ran.exitCode).toBe(9);
    expect(errorOf(ran).candidates).toHaveLength(2);
    expect(ran.stderr).toContain('have the same content, and svc cannot tell which one is yours.');
  });
});

test('a list with other notes is taken for ours: the service does not show them', async () => {
  const world = sandboxWorld();
  const list = ['lists', 'create', '--name', 'Twice', '--target-industry', 'Any', '--notes', 'n', '--json'];
  const ran = await svc(meddled(world, { theirs: [{ notes: 'other' }], ending: lost }), list);
  expect(ran.exitCode).toBe(0);
});

describe('the same rules hold', () => {
  test.each([
    ['nothing', lost],
    ['foreign JSON', gateway],
  ])('for an assistant: after %s another’s ticket is not taken', async (_, ending) => {
    const world = meddled(sandboxWorld({ seed: 'demo' }), { theirs: [{ priority: 4 }], ending });
    const { client, end } = await connected(world, ['--allow-write']);
    const result = await client.callTool({ name: 'createTicket', arguments: { subject: 'Twice' } });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain('may or may not have been created');
    await end();
  });

  test('for svc api: a gateway’s JSON is no success, of an update too', async () => {
    const world = sandboxWorld();
    const answers: HttpResponse[] = [];
    const odd = {
      ...world,
      exchange: async (request: HttpRequest) => {
        if (request.method === 'GET') return world.exchange(request);
        answers.push(gateway);
        return gateway;
      },
    };
    const ran = await svc(odd, ['api', '/tickets/7', '-X', 'PATCH', '-F', 'priority=1']);
    expect(ran.exitCode).toBe(9);
    expect(answers).toHaveLength(4);
    expect((await svc(odd, ['api', '/tickets/7/notes', '-f', 'body=x'])).exitCode).toBe(9);
  });

  test('for changelog release: an entry of the same version with other text is not taken for ours', async () => {
    const world = sandboxWorld();
    const plan = { theirs: [{ content: 'Another text' }], ending: lost, path: /\/changelog$/u };
    const argv = ['changelog', 'release', '9.9.9', '--from', '-', '--json'];
    const ran = await svc(meddled(world, plan), argv, { stdin: '# Changelog\n\n## 9.9.9\n\n- Ours\n' });
    expect(ran.exitCode, ran.stderr).toBe(9);
    expect(errorOf(ran).candidates).toHaveLength(1);
    expect(await held(world, 'changelog', (row) => row.version === '9.9.9')).toHaveLength(1);
  });

  test('for lists add: {"success": true} is sent again, and never called done', async () => {
    const world = sandboxWorld();
    const odd = {
      ...world,
      exchange: async (request: HttpRequest): Promise<HttpResponse | Lost> =>
        request.url.endsWith('/create_sync_contacts')
          ? { status: 200, headers: {}, body: '{"success":true}' }
          : world.exchange(request),
    };
    const ran = await svc(odd, ['lists', 'add', '1', '--contact', '7']);
    expect(ran.exitCode, ran.stderr).not.toBe(0);
    expect(ran.stderr).toContain('may or may not have been added to the list');
  });

  test('for a file of changelog entries, where more than 100 stand in another order', { tags: ['long'] }, async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const create = (title: string) => svc(world, ['changelog', 'create', '--title', title, '--content', 'Text']);
    await create('Twice');
    for (let at = 0; at < 110; at++) await create(`Other ${at}`);
    const reversed = {
      ...world,
      async exchange(request: HttpRequest): Promise<HttpResponse | Lost> {
        if (request.method === 'POST') return lost;
        const url = new URL(request.url);
        const page = Number(url.searchParams.get('page') ?? 1);
        if (!url.pathname.endsWith('/changelog')) return world.exchange(request);
        const all = await held(world, 'changelog', () => true);
        // The oldest are last, until ours is lost: then somebody edits the old one, and it comes first.
        const size = Number(url.searchParams.get('per_page') ?? 50);
        const answer = (await world.exchange({ ...request, url: `${url.origin}/changelog/${1}` })) as HttpResponse;
        const shown = all.map(({ content_html: _, ...row }) => row).sort((a, b) => Number(b.id) - Number(a.id));
        const entries = shown.slice((page - 1) * size, page * size);
        const meta = { current_page: page, last_page: Math.ceil(shown.length / size), total: shown.length };
        return { ...answer, status: 200, body: JSON.stringify({ entries, meta }) };
      },
    };
    const ran = await svc(reversed, ['changelog', 'create', '--from', '-', '--json', '--yes', '--settle', '0'], {
      stdin: '{"title":"Twice","content":"Text"}\n',
    });
    expect(ran.exitCode, ran.stderr).toBe(9);
    expect(JSON.parse(ran.stdout)).toMatchObject({ done: 0, unknown: 1 });
  });
});

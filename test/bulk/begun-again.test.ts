// A service that was reset under its address has none of the records that svc's history calls done.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const files = {
  'tickets create': 'subject\nRow 1\nRow 2\nRow 3\nRow 4\n',
  'contacts create': `name,last_name,email,phone\n${[1, 2].map((n) => `Ada,B,a${n}@x.test,+1202555012${n}\n`).join('')}`,
  'changelog create': 'title,content\nEntry 1,C\nEntry 2,C\n',
};
type Words = keyof typeof files;

/** As many, of which none is alike. */
const othersRows: Readonly<Record<Words, string>> = {
  'tickets create': 'subject\nOther 1\nOther 2\nOther 3\nOther 4\n',
  'contacts create': `name,last_name,email,phone\n${[5, 6].map((n) => `Eve,C,e${n}@x.test,+1202555017${n}\n`).join('')}`,
  'changelog create': 'title,content\nOther 1,D\nOther 2,D\n',
};

async function from(world: SandboxWorld, words: Words, flags: readonly string[] = [], text: string = files[words]) {
  const file = join(world.folder, 'rows.csv');
  writeFileSync(file, text);
  world.sent.length = 0;
  const ran = await svc(world, [...words.split(' '), '--from', file, '--json', ...flags]);
  const writes = world.sent.filter((line) => line.startsWith('POST')).length;
  const reads = world.sent.filter((line) => /^GET \/\w+\/\d/u.test(line)).length;
  return { ...ran, writes, reads, report: ran.stdout === '' ? {} : JSON.parse(ran.stdout) };
}

const restart = (world: SandboxWorld) => world.control('POST', 'reset', { seed: 'demo' });

describe.each(Object.keys(files) as Words[])('%s', (words) => {
  const rows = files[words].trim().split('\n').length - 1;

  test('is not called done after the service has begun again, and is sent with --restart', {
    tags: ['long'],
  }, async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    await from(world, words);
    await restart(world);
    for (const flags of [[], ['--dry-run']]) {
      const ran = await from(world, words, flags);
      expect(ran).toMatchObject({ exitCode: 2, stdout: '', writes: 0 });
      expect(ran.stderr).toMatch(/does not have .* of then any more .*may have been reset/u);
      expect(ran.stderr).toContain('--restart');
    }
    expect(await from(world, words, ['--restart', '--yes'])).toMatchObject({ exitCode: 0, writes: rows });
    expect(await from(world, words)).toMatchObject({ exitCode: 0, writes: 0 });
  });

  test('is not called done where others have got the same ids since', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    await from(world, words);
    await restart(world);
    world.clock.advance(5 * 60_000);
    const others = { ...world, folder: sandboxWorld().folder };
    const text = othersRows[words];
    expect((await from(others, words, [], text)).report).toMatchObject({ done: rows });
    expect(await from(world, words)).toMatchObject({ exitCode: 2, writes: 0 });
  });
});

test('a run that was stopped half-way does not go on in a service that has begun again', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  await from(world, 'tickets create', ['--max-sends', '2']);
  await restart(world);
  expect(await from(world, 'tickets create')).toMatchObject({ exitCode: 2, writes: 0 });
  const ran = await from(world, 'tickets create', ['--yes']);
  expect(ran).toMatchObject({ exitCode: 0, writes: 2 });
  expect(ran.stderr).toContain('may have been reset');
});

test('where the records are there one is looked at, whatever became of it', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const first = await from(world, 'tickets create');
  expect(first.report).toMatchObject({ done: 4 });
  world.clock.advance(24 * 3_600_000);
  const [{ id }] = JSON.parse((await svc(world, ['tickets', 'list', '--search', 'Row 1', '--json'])).stdout);
  await svc(world, ['tickets', 'update', String(id), '--subject', 'Another']);
  expect(await from(world, 'tickets create')).toMatchObject({ exitCode: 0, writes: 0, reads: 1 });
});

test('a record that a person has removed is no new service, and neither is one that svc may not read', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  await from(world, 'tickets create', ['--concurrency', '1']);
  const [{ id }] = JSON.parse((await svc(world, ['tickets', 'list', '--search', 'Row 1', '--json'])).stdout);
  const answers = (status: number, isIt: (path: string) => boolean): SandboxWorld => ({
    ...world,
    exchange: async (request) =>
      request.method === 'GET' && isIt(new URL(request.url).pathname)
        ? { status, headers: { 'content-type': 'application/json' }, body: '{"error":"No."}' }
        : world.exchange(request),
  });
  const removed = answers(404, (path) => path === `/tickets/${id}`);
  expect(await from(removed, 'tickets create')).toMatchObject({ exitCode: 0, writes: 0 });
  const closed = answers(403, (path) => /^\/tickets\/\d/u.test(path));
  expect(await from(closed, 'tickets create')).toMatchObject({ exitCode: 0, writes: 0 });
});

/** The first write is done, and answered as if the service had failed at it. */
function failing(world: SandboxWorld): SandboxWorld {
  let hasFailed = false;
  return {
    ...world,
    exchange: async (request) => {
      const answer = await world.exchange(request);
      if (request.method !== 'POST' || hasFailed) return answer;
      hasFailed = true;
      const headers = { 'content-type': 'application/json' };
      return { status: 500, headers, body: JSON.stringify({ error: 'Internal Server Error' }) };
    },
  };
}

describe.each(Object.keys(files) as Words[])('%s, whose records get the ids of earlier ones', (words) => {
  const count = async (world: SandboxWorld): Promise<number> => {
    const state = (await world.control('GET', 'state')) as Readonly<Record<string, readonly unknown[]>>;
    return state[words.replace(/ .*/u, '')]?.length ?? 0;
  };

  test.each(['the same run', 'another run'])('of %s: what was made is never made twice', async (whose) => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const rows = files[words].trim().split('\n').length - 1;
    const goesOn = whose === 'the same run';
    await from(world, words, goesOn ? ['--max-sends', '1'] : []);
    await restart(world);
    const before = await count(world);
    const text = goesOn ? files[words] : othersRows[words];
    const ran = await from(failing(world), words, [...(goesOn ? ['--yes'] : []), '--concurrency', '1'], text);
    const sent = goesOn ? rows - 1 : rows;
    expect(await count(world)).toBe(before + sent);
    expect(ran).toMatchObject({ exitCode: 9, writes: sent, report: { unknown: 1 } });
    const again = await from(world, words, goesOn ? ['--yes'] : [], text);
    expect(again).toMatchObject({ exitCode: 9, writes: 0 });
    expect(await count(world)).toBe(before + sent);
  });
});

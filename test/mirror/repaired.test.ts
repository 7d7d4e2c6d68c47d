// @module-tag long
// A copy that was complete, and of which the service then counts more: what the pulls after that read and tell.
import { expect } from 'vitest';
import { readState } from '../../src/mirror/store/state.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { json, ok, onBothEngines, sql } from './engines.ts';
import { faulty, without } from './faulty.ts';
import { inCopy, request } from './truth.ts';

type Fields = Readonly<Record<string, unknown>>;

const only = ['--only', 'tickets', '--max-wait', '2'];

const stateOf = (world: SandboxWorld) =>
  inCopy(world, (store, account) => store.read((from) => readState(from, account, 'tickets')));

/** A pull of a service that counts one ticket more than it lists: the copy is not complete any more. */
async function lackOne(world: SandboxWorld, hidden: number | undefined): Promise<void> {
  const hides = hidden === undefined ? () => undefined : without('/tickets', hidden);
  const odd = faulty(faulty(world, hides), ({ pathname }) => {
    if (pathname !== '/tickets') return undefined;
    return (body) => {
      const [first, ...rest] = body.tickets as Fields[];
      const meta = body.meta as { total: number };
      return { ...body, tickets: [first, first, ...rest], meta: { ...meta, total: meta.total + 1 } };
    };
  });
  const ran = await svc(odd, ['mirror', 'pull', '--full', ...only]);
  expect(ran).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('different ones') });
  expect(await stateOf(world)).toMatchObject({ complete: false, repairsFrom: expect.any(String) });
}

const made = async (world: SandboxWorld): Promise<number> => {
  const { ticket } = (await request(world, 'POST', '/tickets', { subject: 'Made' })) as { ticket: { id: number } };
  return ticket.id;
};

const toldOf = async (world: SandboxWorld, id: number) =>
  ((await sql(world, `SELECT kind, change, record_id AS id FROM changes WHERE record_id = ${id}`)) as Fields[])
    .filter(({ kind }) => kind === 'tickets')
    .map(({ change }) => change);

onBothEngines('a copy that lacks records', ({ test, pulled }) => {
  test('a watch reads it whole at once, and it is complete then', async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    await lackOne(world, undefined);
    world.clock.advance(15_000);
    await svc(world, ['watch', 'tickets', '--once', '--name', 'one']);
    expect(await stateOf(world)).toMatchObject({ complete: true, repairsFrom: null });
  });

  test('is no first pull: nothing is counted before it, and no cost is told', async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    await lackOne(world, undefined);
    const asked: string[] = [];
    const seen = faulty(world, ({ search }) => void asked.push(search));
    const ran = await ok(seen, ['mirror', 'pull', ...only]);
    expect(ran.stderr).not.toContain('The first pull needs');
    expect(asked.filter((search) => /per_page=1(&|$)/u.test(search))).toEqual([]);
    expect(await stateOf(world)).toMatchObject({ complete: true, repairsFrom: null });
  });

  test('what was made since, and cannot be read while it is read whole, is told as new once it can', async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    await lackOne(world, undefined);
    world.clock.advance(600_000);
    const id = await made(world);
    world.clock.advance(600_000);
    const failing: SandboxWorld = {
      ...world,
      exchange: async (asked) =>
        new URL(asked.url).pathname === `/tickets/${id}`
          ? { status: 500, headers: { 'content-type': 'application/json' }, body: '{"error":"Server Error"}' }
          : world.exchange(asked),
    };
    expect((await svc(failing, ['mirror', 'pull', ...only])).exitCode).toBe(8);
    expect(await stateOf(world)).toMatchObject({ complete: true, failing: [id] });
    world.clock.advance(600_000);
    await ok(world, ['mirror', 'pull', ...only]);
    expect(await toldOf(world, id)).toEqual(['created']);
  });

  test('what became visible a minute after it was made is told as new, and what was there before is not', async () => {
    const world = await pulled();
    world.clock.advance(600_000);
    const id = await made(world);
    world.clock.advance(60_000);
    const late = faulty(world, without('/tickets', id));
    await ok(late, ['mirror', 'pull', ...only]);
    world.clock.advance(600_000);
    await lackOne(world, id);
    world.clock.advance(600_000);
    await ok(world, ['mirror', 'pull', ...only]);
    expect(await toldOf(world, id)).toEqual(['created']);
    const told = (await json(world, 'mirror changes tickets --since 30d')) as { kind: string }[];
    expect(told.filter(({ kind }) => kind === 'tickets')).toHaveLength(1);
  });
});

// A copy of an account whose ids do not grow: what is new is told by the order of the lists and by the service's own times.
import { describe, expect, test } from 'vitest';
import { idOrders, withIds } from '../other-ids.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc, type World } from '../svc.ts';

const person = ['--name', 'Nia', '--last-name', 'Moe', '--email', 'nia@x.example', '--phone', '+12025550199'];

/** With a copy, and a contact that came after it. */
async function pulled(world: SandboxWorld, ordered: World): Promise<void> {
  expect(await svc(ordered, ['mirror', 'pull', '--only', 'contacts,calls'])).toMatchObject({ exitCode: 0 });
  world.clock.advance(60_000);
  expect(await svc(ordered, ['contacts', 'create', ...person])).toMatchObject({ exitCode: 0 });
}

describe.each(idOrders)('where ids %s', (_, order) => {
  test('contacts find finds a contact that is newer than the copy', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const ordered = withIds(world, order);
    await pulled(world, ordered);
    const sent = world.sent.length;
    const ran = await svc(ordered, ['contacts', 'find', 'nia@x.example', '--json']);
    expect(JSON.parse(ran.stdout), ran.stderr).toMatchObject([{ email: 'nia@x.example' }]);
    // The first page is enough.
    expect(world.sent.slice(sent)).toEqual([expect.stringMatching(/^GET \/contacts\?/u)]);
  });

  test('contacts find shows the newest first', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const ordered = withIds(world, order);
    await pulled(world, ordered);
    const times = async (...argv: string[]) => {
      const ran = await svc(ordered, [...argv, '--json']);
      return (JSON.parse(ran.stdout) as { created_at: string }[]).map(({ created_at }) => created_at);
    };
    const found = await times('contacts', 'find', 'a');
    expect(found.length).toBeGreaterThan(10);
    expect(found).toEqual(found.toSorted().reverse());
  });

  test('a pull looks at what the service lists there, and asks for nothing else', async () => {
    const reads = async (through: (world: SandboxWorld) => World) => {
      const world = sandboxWorld({ rateLimit: 'off' });
      await pulled(world, through(world));
      const sent = world.sent.length;
      expect(await svc(through(world), ['mirror', 'pull', '--only', 'contacts,calls'])).toMatchObject({ exitCode: 0 });
      return world.sent.slice(sent);
    };
    expect(await reads((world) => withIds(world, order))).toEqual(await reads((world) => world));
  });
});

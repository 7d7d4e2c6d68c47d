import { expect } from 'vitest';
import { json, ok, onBothEngines, sql } from './engines.ts';

onBothEngines('mirror pull', ({ test, world: fresh }) => {
  test('a first pull holds every record of the account', async () => {
    const world = fresh();
    await ok(world, 'mirror pull');
    const counts = await sql(
      world,
      'SELECT (SELECT count(*) FROM contacts) AS c, (SELECT count(*) FROM tickets) AS t, (SELECT count(*) FROM changes) AS ch',
    );
    const state = (await world.control('GET', 'state')) as {
      contacts: { account_id: number; shadow: boolean }[];
      tickets: { account_id: number }[];
    };
    expect(counts).toEqual([
      {
        c: state.contacts.filter((each) => each.account_id === 1 && !each.shadow).length,
        t: state.tickets.filter((each) => each.account_id === 1).length,
        ch: 0,
      },
    ]);
    const { kinds } = (await json(world, 'mirror status')) as { kinds: { kind: string; complete: boolean }[] };
    expect(kinds.filter(({ complete }) => !complete)).toEqual([]);
  });

  test('a pull with nothing new asks once for each kind, once for each list, and the pages of --rescan', async () => {
    const world = fresh();
    await ok(world, 'mirror pull');
    world.clock.advance(600_000);
    world.sent.length = 0;
    await ok(world, 'mirror pull --rescan 0');
  });
});

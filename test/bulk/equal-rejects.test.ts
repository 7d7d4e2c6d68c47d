// Of rows that are equal some were done and some rejected: the file of those that were rejected is what is still to be sent.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

test('they are sent from it, once, also where it is of one flag more', { tags: ['long'] }, async () => {
  for (const more of [[], ['--priority', '1']]) {
    const world = sandboxWorld({ rateLimit: 'off' });
    const file = join(world.folder, 'eq.csv');
    const rejects = join(world.folder, 'rejects.csv');
    writeFileSync(file, 'subject,priority\nSame,2\nSame,2\nSame,2\n');
    let creations = 0;
    const exchange: typeof world.exchange = (request) => {
      const isCreation = request.method === 'POST' && request.url.endsWith('/tickets');
      if (!isCreation || ++creations !== 3) return world.exchange(request);
      return world.exchange({ ...request, body: '{"priority":2}' });
    };
    const create = async (from: string, flags: readonly string[] = [], service = world) => {
      world.sent.length = 0;
      const ran = await svc(service, ['tickets', 'create', '--from', from, '--json', '--concurrency', '1', ...flags]);
      return { exitCode: ran.exitCode, writes: world.sent.filter((line) => line === 'POST /tickets').length };
    };
    expect(await create(file, ['--rejects', rejects], { ...world, exchange })).toMatchObject({ exitCode: 8 });
    expect(await create(rejects, more)).toEqual({ exitCode: 0, writes: 1 });
    expect(await create(rejects, more)).toEqual({ exitCode: 0, writes: 0 });
    expect(await create(file)).toEqual({ exitCode: 0, writes: 0 });
    writeFileSync(join(world.folder, 'one.csv'), 'subject,priority\nSame,2\n');
    expect(await create(join(world.folder, 'one.csv'))).toEqual({ exitCode: 0, writes: 0 });
  }
});

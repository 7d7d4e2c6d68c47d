// Chunks that are late: what an earlier one says of a person overwrites nothing of a later one.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lateWorld, unsettledEndings } from '../http/late-service.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

test('metadata of a later chunk stands, also where the first chunk arrives behind it', async () => {
  const world = sandboxWorld({ seed: 'empty', rateLimit: 'off' });
  const file = join(world.folder, 'people.csv');
  const rows = Array.from({ length: 300 }, (_, i) => `p${i}@example.com,P${i},one`);
  writeFileSync(file, `email,name,metadata.plan\n${rows.join('\n')}\np0@example.com,P0,two\n`);
  const ending = unsettledEndings['a time-out'] ?? { status: 504, headers: {}, body: '' };
  const late = lateWorld(world, { isMeant: ({ method }) => method === 'POST', ending, afterMs: 4000 });
  const ran = await svc(late, ['contacts', 'sync', file, '--json', '--concurrency', '1']);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  await late.settle();
  const { contacts } = (await world.control('GET', 'state')) as { contacts: Record<string, unknown>[] };
  expect(contacts.find(({ email }) => email === 'p0@example.com')).toMatchObject({ metadata: { plan: 'two' } });
});

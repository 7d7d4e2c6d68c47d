/** A proxy or a cache mixes two answers up: nothing is made of the record of somebody else. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HttpRequest } from '../../src/context.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

/** Each read of one record is answered with the next one. */
function mixedUp() {
  const world = sandboxWorld();
  const exchange = (request: HttpRequest) => {
    const url =
      request.method === 'GET' ? request.url.replace(/\/(\d+)$/u, (_, id) => `/${Number(id) + 1}`) : request.url;
    return world.exchange({ ...request, url });
  };
  writeFileSync(join(world.folder, 'dear.md'), 'Dear {{contact.name}}');
  return { ...world, exchange };
}

test.each([
  ['contacts get 7', 'Contact 7 was asked for, and the answer is 8. It is not used.'],
  ['tickets get 8', 'Ticket 8 was asked for, and the answer is 9. It is not used.'],
  ['conversations get 3', 'Conversation 3 was asked for, and the answer is 4. It is not used.'],
  ['changelog get 30', 'Changelog entry 30 was asked for, and the answer is 31. It is not used.'],
  ['tickets reply 8 --template FOLDER/dear.md', 'the answer is 9'],
  ['tickets reply 8 --body Fixed --draft', 'the answer is 9'],
  ['lists add 3 --contact 5', 'the answer is 6'],
])('%s ends with 1, and nothing is sent', async (line, told) => {
  const world = mixedUp();
  const ran = await svc(world, line.replace('FOLDER', world.folder).split(' '));
  expect(ran).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(told) });
  expect(world.sent.filter((sent) => !sent.startsWith('GET'))).toEqual([]);
});

test('an entry that is published is no draft because another one is', async () => {
  const world = mixedUp();
  const ran = await svc(world, ['changelog', 'update', '30', '--content', 'X'], { env: { SVC_SENDS: 'draft' } });
  expect(ran.exitCode).not.toBe(0);
  expect(world.sent.filter((sent) => !sent.startsWith('GET'))).toEqual([]);
});

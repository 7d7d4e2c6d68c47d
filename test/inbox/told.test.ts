/** What is told of a reply that has gone where the drafts cannot be written any more. */
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { desk, linear, through } from './desk.ts';

test('a reply that went is not called unsent where its draft cannot be told so, and no count that fails replaces that', {
  tags: ['long'],
}, async () => {
  const world = await desk();
  const log = join(world.folder, 'state', 'drafts', 'drafts.jsonl');
  const broken = through(world, async (request, go) => {
    const answer = await go();
    if (request.method === 'POST' && request.url.endsWith('/replies')) {
      renameSync(log, `${log}.away`);
      mkdirSync(log);
    }
    return answer;
  });
  const edit = (initial: string) => `It is fixed.\n${initial}`;
  const { stdout } = await linear(broken, ['1', 'r', 'q'], { edit, columns: 400 });
  expect(world.sent.filter((one) => one.startsWith('POST'))).toEqual(['POST /tickets/5/replies']);
  expect(stdout).toContain('Do not send it again');
  expect(stdout).not.toContain('was not sent');
});

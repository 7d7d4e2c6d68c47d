import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

test('rows that the service took and does not count are not said to be unsent', async () => {
  const world = sandboxWorld({ seed: 'empty' });
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    const isSync = request.url.endsWith('/contacts/sync') && 'body' in answer;
    return isSync ? { ...answer, body: '{"created":0,"updated":0,"errors":[]}' } : answer;
  };
  const stdin = 'email\na@example.com\nb@example.com\n';
  const ran = await svc({ ...world, exchange }, ['contacts', 'sync', '-', '--json'], { stdin });
  expect(ran.exitCode).toBe(8);
  expect(ran.stderr).toContain('0 of 2 rows are done: 2 sent, but not counted by the service.');
  expect(ran.stderr).not.toContain('not sent');
});

// A machine that sleeps while a draft is sent, or whose clock is set: nobody has taken the draft over for that alone.
import { expect, test } from 'vitest';
import { svc } from '../svc.ts';
import { desk, writesOf } from './drafting.ts';

/** Longer than a draft stays with whoever is not heard of. */
const asleepMs = 2 * 60_000;

const slept = async (line: string, method: string) => {
  const at = desk();
  const { digest } = await at.draft(line);
  const exchange: typeof at.world.exchange = async (request) => {
    const answer = await at.world.exchange(request);
    if (request.method === method) at.world.clock.advance(asleepMs);
    return answer;
  };
  return { at, ran: await svc({ ...at.world, exchange }, ['drafts', 'approve', '1', '--digest', digest]) };
};

test.each(['tickets reply 8 --body Hi', 'tickets reply 8 --body Hi --note Told --status resolved'])(
  'what was sent meanwhile is written down: %s',
  async (line) => {
    const { at, ran } = await slept(line, 'POST');
    expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
    expect(await at.shown(1)).toMatchObject({ state: 'sent', sent_id: expect.any(Number) });
  },
);

test('what was to be sent after it waits, and nobody is said to have taken it', async () => {
  const { at, ran } = await slept('tickets reply 8 --body Hi', 'GET');
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('stood still') });
  expect(writesOf(at.world)).toEqual([]);
  expect(await at.shown(1)).toMatchObject({ state: 'waiting' });
});

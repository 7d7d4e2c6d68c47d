import { describe, expect, test } from 'vitest';
import { getAccount } from '../../src/api/account.ts';
import { accountOf } from '../../src/batch/account.ts';
import type { HttpResponse, Lost } from '../../src/context.ts';
import { call, connect } from '../../src/http/call/call.ts';
import { screen, settings } from '../cli/fake-context.ts';
import { origin, wholeAccount } from '../sandbox-world.ts';
import { createWorld, virtualClock } from '../svc.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Whether our clock can be trusted once these answers came, each with a `Date` so far ahead of it. */
async function isClockSure(...answers: readonly (number | 'no date' | 'no answer')[]): Promise<boolean> {
  const clock = virtualClock();
  let nth = 0;
  const answer = (): HttpResponse | Lost => {
    const ahead = answers[Math.min(nth++, answers.length - 1)] ?? 'no date';
    if (ahead === 'no answer') return { lost: 'after-sending', reason: 'reset', detail: 'It broke.' };
    const date = ahead === 'no date' ? undefined : new Date(clock.now().getTime() + ahead).toUTCString();
    const headers = { 'content-type': 'application/json', ...(date !== undefined && { date }) };
    return { status: 200, headers, body: wholeAccount };
  };
  const { exchange, folder } = createWorld(async () => answer(), { clock });
  const { ctx } = screen({ env: { SVC_API_KEY: 'key_acme' } });
  const files = { config: folder, state: folder };
  const service = await connect({ ...ctx, exchange, clock, files }, { ...settings, baseUrl: origin });
  for (const _ of answers.slice(1)) await call(service, getAccount, {});
  return (await accountOf(service, getAccount)).isClockSure;
}

describe('the clock of this machine', () => {
  test('can be trusted where the service says nearly the same time', async () => {
    expect(await isClockSure(0)).toBe(true);
    expect(await isClockSure(90 * minuteMs)).toBe(true);
    expect(await isClockSure(-90 * minuteMs)).toBe(true);
  });

  test('cannot be trusted where the service says another day, or no time at all', async () => {
    expect(await isClockSure(2 * dayMs)).toBe(false);
    expect(await isClockSure(-2 * dayMs)).toBe(false);
    expect(await isClockSure('no date')).toBe(false);
  });

  test('is judged by the last answer that came', async () => {
    expect(await isClockSure('no answer', 0)).toBe(true);
    expect(await isClockSure('no answer', 2 * dayMs)).toBe(false);
    expect(await isClockSure(2 * dayMs, 0)).toBe(true);
  });

  test('is as it was known where an answer says no time', async () => {
    expect(await isClockSure(0, 'no date')).toBe(true);
    expect(await isClockSure(2 * dayMs, 'no date')).toBe(false);
  });
});

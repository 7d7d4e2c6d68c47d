import { Failure } from '../errors.ts';
import { snooze, wake } from '../mirror/store/snoozes.ts';
import { whoIs } from '../sends/who.ts';
import { parseComing } from '../text/time.ts';
import type { Effect, SnoozeUntil } from './effect.ts';
import { momentText } from './moment.ts';
import { newestAt } from './record.ts';
import { recordsOf } from './texts.ts';
import type { World } from './world-ports.ts';

/** Puts rows away, or brings them back. */
export async function putAway(world: World, { rows, until }: Extract<Effect, { do: 'snooze' }>): Promise<void> {
  const { store, account } = await world.reading();
  const now = world.editing.ctx.clock.now();
  if (until === 'back') {
    await wake(store, account, rows);
    return world.tell({ is: 'snoozed', rows, told: 'Back in the queue.' });
  }
  const time = momentOf(until, now);
  if (time instanceof Failure) {
    const typed = typeof until === 'object' ? until.time : until;
    return world.tell({ is: 'wrong-time', rows, typed, told: time.message });
  }
  const records = await recordsOf(world, rows);
  const by = whoIs();
  const snoozes = records.map(({ row: { kind, id }, record }) => ({
    kind,
    id,
    until: time,
    since: newestAt(record) ?? now.toISOString(),
    by,
  }));
  await snooze(store, account, snoozes);
  world.tell({
    is: 'snoozed',
    rows,
    told: `Put away ${time === null ? 'until the customer writes' : `until ${momentText(time)}`}.`,
  });
}

/** Null: until the customer writes. A Failure where the words are no time, or one that has passed. */
export function momentOf(until: Exclude<SnoozeUntil, 'back'>, now: Date): string | null | Failure {
  if (until === 'customer') return null;
  const words =
    typeof until === 'object' ? until.time : { hour: 'in 1h', tomorrow: 'tomorrow 9:00', monday: 'monday 9:00' }[until];
  try {
    // On a Monday morning the choice below "tomorrow" is not today.
    const from = until === 'monday' ? new Date(now.getFullYear(), now.getMonth(), now.getDate(), 9) : now;
    const time = new Date(parseComing(words, 'The time', from)).toISOString();
    if (Date.parse(time) > now.getTime()) return time;
    return new Failure('usage', 'That time has passed.');
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

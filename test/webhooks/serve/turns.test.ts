import { beforeEach, expect, test } from 'vitest';
import { tellingTurns } from '../../../src/webhooks/serve/problems.ts';
import { tellWaiting } from '../../../src/webhooks/serve/reloading.ts';
import { virtualClock } from '../../svc.ts';

let said: string[];
const notice = (text: string) => void said.push(text);
beforeEach(() => {
  said = [];
});

/** Long enough for what is gathered to be told. */
async function later(clock: ReturnType<typeof virtualClock>): Promise<void> {
  await clock.sleep(2_000);
}

test('what another instance has is told once, in one line, and again where it comes back', async () => {
  const clock = virtualClock();
  const turn = tellingTurns({ clock, notice, signal: new AbortController().signal });
  const look = (isOurs: boolean) => {
    for (const queue of ['crm', 'app']) turn(queue, isOurs);
    turn('archive', true);
  };
  look(true);
  await later(clock);
  expect(said).toEqual([]);
  for (let n = 0; n < 3; n++) {
    look(false);
    await later(clock);
  }
  expect(said).toEqual([
    'Another instance delivers to app and crm. This one goes on there once that one ends, or 15 s after it was killed.',
  ]);
  for (let n = 0; n < 3; n++) {
    look(true);
    await later(clock);
  }
  expect(said.slice(1)).toEqual(['This instance delivers to app and crm now.']);
});

test('there and back within the second is no news, and of many queues five are named', async () => {
  const clock = virtualClock();
  const turn = tellingTurns({ clock, notice, signal: new AbortController().signal });
  turn('app', false);
  turn('app', true);
  await later(clock);
  expect(said).toEqual([]);
  for (let n = 0; n < 9; n++) turn(`acme-${n}/app`, false);
  await later(clock);
  expect(said).toEqual([
    expect.stringContaining('acme-0/app, acme-1/app, acme-2/app, acme-3/app, acme-4/app and 4 more. '),
  ]);
});

test('what an earlier run has left is told, the longest queue first', () => {
  const sinks = ['app', 'crm', 'idle', 'a', 'b', 'c', 'd'].map((name) => ({ name }));
  const tell = (waiting: Readonly<Record<string, number>>) => {
    const counts = new Map(Object.entries(waiting).map(([queue, count]) => [queue, { waiting: count, dead: 0 }]));
    tellWaiting({ notice }, counts, { config: { sinks } } as Parameters<typeof tellWaiting>[2]);
  };
  tell({ idle: 0, gone: 3 });
  expect(said).toEqual([]);
  tell({ app: 1, crm: 1200, idle: 0 });
  tell({ app: 1 });
  tell({ app: 9, crm: 8, a: 7, b: 6, c: 5, d: 4 });
  expect(said).toEqual([
    '1,200 events wait for crm and 1 for app.',
    '1 event waits for app.',
    '9 events wait for app, 8 for crm, 7 for a, 6 for b, 5 for c and some for 1 more queue.',
  ]);
});

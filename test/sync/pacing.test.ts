import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Clock, Exchange } from '../../src/context.ts';
import { asksAccount, sandboxWorld, wholeAccount } from '../sandbox-world.ts';
import { createWorld, svc } from '../svc.ts';

/** Whether a file is being read, written or closed; a disk may be slow. */
const isAtDisk = (): boolean => process.getActiveResourcesInfo().some((name) => /^FSReq|^CloseReq/u.test(name));

/** So many turns of the event loop in which nobody works: what resolves a promise has then gone through. */
const idleTurns = 50;

/** Time stands still while anything happens, and jumps to the next sleeper once nothing does. */
function eventClock(startAt: number): Clock & { readonly stir: () => void } {
  let now = startAt;
  let sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  let quietTurns = 0;
  let isWatching = false;
  const stir = () => {
    quietTurns = 0;
    if (!isWatching) setImmediate(watch);
    isWatching = true;
  };
  const watch = () => {
    quietTurns = isAtDisk() ? 0 : quietTurns + 1;
    if (quietTurns < idleTurns) return setImmediate(watch);
    isWatching = false;
    const next = Math.min(...sleepers.map(({ at }) => at));
    if (next === Number.POSITIVE_INFINITY) return;
    now = next;
    const due = sleepers.filter(({ at }) => at <= now);
    sleepers = sleepers.filter(({ at }) => at > now);
    for (const { wake } of due) wake();
    stir();
  };
  return {
    now: () => new Date(now),
    ticks: () => now,
    stir,
    sleep: (ms) =>
      new Promise((wake) => {
        sleepers.push({ at: now + ms, wake });
        stir();
      }),
  };
}

const perMinute = 30;

/** Milliseconds until the service takes one more; 0 takes it. */
type Limit = (now: number) => number;

const limits: Record<string, () => Limit> = {
  'fixed windows': () => {
    let minute = -1;
    let taken = 0;
    return (now) => {
      const current = Math.floor(now / 60_000);
      if (current !== minute) [minute, taken] = [current, 0];
      return ++taken <= perMinute ? 0 : (current + 1) * 60_000 - now;
    };
  },
  'a sliding window': () => {
    let taken: number[] = [];
    return (now) => {
      taken = taken.filter((at) => at > now - 60_000);
      if (taken.length >= perMinute) return (taken[0] ?? now) + 60_000 - now;
      taken.push(now);
      return 0;
    };
  },
  'a bucket': () => {
    let tokens = perMinute;
    let at = 0;
    return (now) => {
      tokens = Math.min(perMinute, tokens + (at === 0 ? 0 : ((now - at) / 60_000) * perMinute));
      at = now;
      if (tokens < 1) return ((1 - tokens) / perMinute) * 60_000;
      tokens--;
      return 0;
    };
  },
};

/** Syncs that many chunks into a service that answers after 150 ms and tells of its limit by refusing alone. */
async function run(limit: Limit, chunks: number) {
  const startAt = Date.UTC(2026, 2, 1, 12);
  const clock = eventClock(startAt);
  let refusals = 0;
  let open = 0;
  let most = 0;
  const exchange: Exchange = async ({ url, body }) => {
    if (asksAccount({ url })) return { status: 200, headers: {}, body: wholeAccount };
    clock.stir();
    most = Math.max(most, ++open);
    await clock.sleep(75);
    const waitMs = limit(clock.now().getTime());
    await clock.sleep(75);
    open--;
    if (waitMs > 0) {
      refusals++;
      const headers = { 'retry-after': String(Math.ceil(waitMs / 1000)) };
      return { status: 429, headers, body: '{"error":"Too many requests"}' };
    }
    const created = JSON.parse(String(body)).contacts.length;
    return { status: 200, headers: {}, body: JSON.stringify({ created, updated: 0, errors: [] }) };
  };
  const folder = await mkdtemp(join(tmpdir(), 'svc-pacing-'));
  const world = createWorld(exchange, { clock, folder });
  const rows = Array.from({ length: chunks * 200 }, (_, i) => `person${i}@example.com`);
  await writeFile(join(world.folder, 'contacts.csv'), `email\n${rows.join('\n')}\n`);
  const ran = await svc(world, ['contacts', 'sync', join(world.folder, 'contacts.csv'), '--json']);
  await rm(folder, { recursive: true });
  expect(ran.exitCode).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({ created: chunks * 200, unsent: 0 });
  return { seconds: (clock.now().getTime() - startAt) / 1000, refusals, most };
}

// Modules are loaded where they are first needed, and nothing tells that one is under way.
beforeAll(async () => {
  let asked = 0;
  await run(() => (++asked === 2 ? 1000 : 0), 3);
});

describe('the time for N rows is what the limit allows, within 2 %, and one request', () => {
  test.each(['fixed windows', 'a sliding window'])('%s: one refusal a window', { tags: ['long'] }, async (kind) => {
    const { seconds, refusals } = await run(limits[kind]?.() as Limit, 75);
    // 30 at once, and 30 more after each of two minutes.
    expect(seconds).toBeLessThanOrEqual(120 * 1.02 + 0.15);
    expect(refusals).toBeLessThanOrEqual(2);
  });

  test('a bucket that refills all the time', { tags: ['long'] }, async () => {
    const { seconds } = await run(limits['a bucket']?.() as Limit, 60);
    // What one more costs is told in whole seconds.
    expect(seconds).toBeLessThanOrEqual(60 * 1.02 + 1);
  });

  test('without a limit nothing waits: four calls are in flight at once', async () => {
    const { most } = await run(() => 0, 20);
    expect(most).toBe(4);
  });
});

test('how far it is is told before the first answer, without a rate that nobody knows yet', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const file = join(world.folder, 'people.csv');
  await writeFile(file, `email\n${Array.from({ length: 250 }, (_, at) => `p${at}@example.com\n`).join('')}`);
  const told: string[] = [];
  const progress = (text: string | undefined) => {
    if (text?.startsWith('Synced'))
      told.push(`${text} after ${world.sent.filter((line) => line.startsWith('POST')).length} requests`);
  };
  expect(await svc(world, ['contacts', 'sync', file], { progress })).toMatchObject({ exitCode: 0 });
  expect(told[0]).toBe('Synced 0 of 250 rows after 0 requests');
  expect(told.at(-1)).toMatch(/^Synced 250 of 250 rows · .* rows\/s/u);
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Clock } from '../../src/context.ts';
import { sharedHold } from '../../src/http/exchange/shared-hold.ts';

test('a clock that is set back makes no wait longer', async () => {
  const state = await mkdtemp(join(tmpdir(), 'svc-hold-'));
  let wall = 1_800_000_000_000;
  const clock: Clock = { ticks: () => 0, now: () => new Date(wall), sleep: async () => {} };
  const ctx = { files: { state, config: state }, clock };
  try {
    await sharedHold(ctx, 'https://api.example.com', 'token').extend(5_000);
    wall -= 30 * 60_000;
    const other = sharedHold(ctx, 'https://api.example.com', 'token');
    expect(await other.leftMs()).toBe(0);
    await other.extend(3_000);
    expect(await other.leftMs()).toBe(3_000);
  } finally {
    await rm(state, { recursive: true, force: true });
  }
});

test('what another process is told to wait is heard within 50 ms, and its own at once', async () => {
  const state = await mkdtemp(join(tmpdir(), 'svc-hold-'));
  let ticks = 0;
  const clock: Clock = { ticks: () => ticks, now: () => new Date(1_800_000_000_000 + ticks), sleep: async () => {} };
  const ctx = { files: { state, config: state }, clock };
  const [one, other] = [1, 2].map(() => sharedHold(ctx, 'https://api.example.com', 'token'));
  try {
    expect([await one?.leftMs(), await other?.leftMs()]).toEqual([0, 0]);
    await other?.extend(5_000);
    expect(await other?.leftMs()).toBe(5_000);
    ticks = 49;
    expect(await one?.leftMs()).toBe(0);
    ticks = 50;
    expect(await one?.leftMs()).toBe(4_950);
  } finally {
    await rm(state, { recursive: true, force: true });
  }
});

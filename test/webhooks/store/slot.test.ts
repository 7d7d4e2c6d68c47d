// @module-tag long
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { claimSlot, slotHolder, slots, slotsFolder } from '../../../src/webhooks/store/folder/slot.ts';
import { type Arrival, encodeLine } from '../../../src/webhooks/store/line.ts';

const arrival = (id: string, to?: string): Arrival => ({
  id,
  event: null,
  at: '2026-01-02T03:04:05.000Z',
  headers: {},
  body: Buffer.from(id),
  ...(to !== undefined && { to }),
});
const newRoot = () => mkdtemp(join(tmpdir(), 'svc-slot-'));

test('what a large inbox takes over and was forwarded is not forwarded again', async () => {
  const root = await newRoot();
  const to = 'http://127.0.0.1:3000/';
  const happened = (number: number): Arrival => ({
    ...arrival(`evt_${number}`, to),
    happening: `ticket.created:${number}`,
  });
  const settled = { to, at: '2026-01-02T03:04:05.000Z', status: 200, ms: 1, tries: 1 };
  const linesOf = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => [
      encodeLine({ kind: 'arrival', arrival: happened(from + at) }),
      encodeLine({ kind: 'outcome', id: `evt_${from + at}`, outcome: settled }),
    ]).flat();
  // With so many lines what is there is asked of an index on the disk, which takes its time.
  for (const [slot, from, count] of [
    ['1', 0, 50_000],
    ['2', 100_000, 8_000],
  ] as const) {
    await mkdir(join(root, slot));
    await writeFile(
      join(root, slot, 'inbox.jsonl'),
      [encodeLine({ kind: 'limit', limit: 60_000 }), ...linesOf(from, count)].join(''),
    );
  }
  const { inbox, leave } = await claimSlot(root, { limit: 60_000 });
  expect(inbox.waiting()).toEqual([]);
  await leave();
});

test('two listeners at once write to inboxes of their own', async () => {
  const root = await newRoot();
  const first = await claimSlot(root, { limit: 10 });
  const second = await claimSlot(root, { limit: 10 });
  expect(first.folder).not.toBe(second.folder);
  expect(await slotHolder(first.folder)).toBe(process.pid);
  await Promise.all([first.inbox.add(arrival('a')), second.inbox.add(arrival('b'))]);
  await first.leave();
  await second.leave();
  expect(await slotHolder(first.folder)).toBeUndefined();
});

test('whoever starts next takes over what the two left: deliveries and what is owed', async () => {
  const root = await newRoot();
  const first = await claimSlot(root, { limit: 10 });
  const second = await claimSlot(root, { limit: 10 });
  await first.inbox.add(arrival('a'));
  await second.inbox.add(arrival('b', 'http://127.0.0.1:3000/'));
  await second.inbox.add(arrival('c', 'http://127.0.0.1:3000/'));
  await second.inbox.settle('c', { to: 'http://127.0.0.1:3000/', at: '', status: 200, ms: 1, tries: 1 });
  await first.leave();
  await second.leave();

  const next = await claimSlot(root, { limit: 10 });
  expect(['a', 'b', 'c'].map((id) => next.inbox.has(id))).toEqual([true, true, true]);
  expect(next.inbox.waiting()).toEqual(['b']);
  expect(next.inherited).toEqual([first.folder, second.folder]);
  expect(await readdir(second.folder)).toEqual(['lock']);
  await next.leave();
});

test('a slot that somebody has is left alone', async () => {
  const root = await newRoot();
  const first = await claimSlot(root, { limit: 10 });
  await first.inbox.add(arrival('a'));
  const second = await claimSlot(root, { limit: 10 });
  expect(second.inherited).toEqual([second.folder]);
  expect(second.inbox.has('a')).toBe(false);
  await first.leave();
  await second.leave();
  expect(await slots(root)).toEqual([first.folder, second.folder]);
});

test.each(['..', '../..', 'a/b', '.', 'ü'])('a profile named %j keeps to its folder', (profile) => {
  const folder = slotsFolder('/state', profile);
  expect(folder.startsWith('/state/webhooks/profile-')).toBe(true);
  expect(folder.split('/')).toHaveLength(4);
});

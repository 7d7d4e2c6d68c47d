// @module-tag long
// An inbox in a folder that knows most of its events by an index on the disk: it answers as one that knows all in memory.
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Inbox, openInbox } from '../../../src/webhooks/store/folder/inbox.ts';
import { deadLettersIn, receivedIn } from '../../../src/webhooks/store/folder/view.ts';
import type { Outcome } from '../../../src/webhooks/store/line.ts';
import { deadIn, rebuiltPrefix } from '../../../src/webhooks/store/line.ts';
import { arrival, outcome } from '../stores.ts';

const newFolder = () => mkdtemp(join(tmpdir(), 'svc-indexed-'));
const filesOf = async (folder: string) => (await readdir(folder)).filter((name) => name.startsWith('inbox.')).sort();
const indexOf = async (folder: string) =>
  join(folder, (await readdir(folder)).find((name) => name.startsWith('inbox.index-')) ?? 'none');

/** The first is never closed: as a kill leaves it. */
async function killed(folder: string): Promise<string> {
  const copy = await newFolder();
  // What is known first: the others only grow.
  for (const name of (await readdir(folder)).sort().reverse()) {
    await cp(join(folder, name), join(copy, name), { preserveTimestamps: true }).catch((error) => {
      // It was replaced or removed meanwhile.
      if (error.code !== 'ENOENT') throw error;
    });
  }
  return copy;
}

const event = (n: number, way: 'live' | 'rebuilt') => {
  const id = way === 'live' ? `evt_${n}` : `${rebuiltPrefix}ticket.created:${n}`;
  return arrival(id, n % 3 === 0 ? [] : ['app'], { happening: `ticket.created ${n}` });
};

const became = fc.constantFrom('delivered', 'failed', 'dead', 'skipped', 'again', 'dropped');
const steps = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ do: fc.constant('add'), n: fc.nat(60), way: fc.constantFrom('live', 'rebuilt') }),
  },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('settle'), n: fc.nat(60), became }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('close', 'kill') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('lose', 'damage'),
      name: fc.constantFrom('known', 'index', 'closed'),
      at: fc.nat(),
    }),
  },
);

test('whatever comes, is closed, killed, lost or damaged: it answers as an inbox without an index', async () => {
  const indexes = { count: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps, { minLength: 30, maxLength: 150 }),
      fc.constantFrom(4, 9, 30),
      fc.constantFrom(5, 1_000),
      async (plan, indexedAfter, limit) => {
        let folder = await newFolder();
        const plain = await newFolder();
        let inbox = await openInbox(folder, { limit, indexedAfter });
        const model = await openInbox(plain, { limit: 1_000 });
        const old: Inbox[] = [];
        const look = async () => {
          expect([...inbox.queues.counts()].sort()).toEqual([...model.queues.counts()].sort());
          expect(inbox.queues.first('app', 100)).toEqual(model.queues.first('app', 100));
          for (let n = 0; n <= 60; n++) {
            const { id } = event(n, n % 2 === 0 ? 'live' : 'rebuilt');
            const [one, other] = [await inbox.read(id), await model.read(id)];
            // Beyond the limit it may have gone.
            if (one || limit === 1_000) expect(one).toEqual(other);
          }
        };
        try {
          for (const step of plan) {
            if ('way' in step) {
              const added = await inbox.add(event(step.n, step.way as 'live'));
              const expected = await model.add(event(step.n, step.way as 'live'));
              if (limit === 1_000) expect(added).toBe(expected);
              else if (added === 'stored' && expected === 'repeat') return;
            } else if ('became' in step) {
              const state = step.became as Outcome['state'];
              const { id } = event(step.n, 'live');
              // What a worker and a person do; of the others an attempt by hand alone.
              const isDue = model.queues.waits('app', id) && state !== 'again' && state !== 'dropped';
              const isDead = model.queues.isDead('app', id) && (state === 'again' || state === 'dropped');
              const { state: _, ...by } = outcome('failed', 2);
              const what = isDue || isDead ? { ...by, ...(state && { state }) } : { ...by, replay: true as const };
              await Promise.all([inbox.settle(id, what), model.settle(id, what)]);
            } else if ('name' in step) {
              await inbox.close();
              const path = step.name === 'index' ? await indexOf(folder) : join(folder, `inbox.${step.name}`);
              const bytes = await readFile(path).catch(() => undefined);
              if (bytes && step.do === 'lose') await rm(path);
              if (bytes && step.do === 'damage') {
                const at = step.at % bytes.length;
                bytes[at] = (bytes[at] ?? 0) ^ 0x55;
                await writeFile(path, bytes);
              }
              inbox = await openInbox(folder, { limit, indexedAfter });
            } else if (step.do === 'close') {
              await inbox.close();
              inbox = await openInbox(folder, { limit, indexedAfter });
            } else {
              old.push(inbox);
              folder = await killed(folder);
              inbox = await openInbox(folder, { limit, indexedAfter });
            }
          }
          await look();
          await inbox.close();
          indexes.count += (await filesOf(folder)).some((name) => name.startsWith('inbox.index-')) ? 1 : 0;
          inbox = await openInbox(folder, { limit, indexedAfter });
          await look();
          const dead = await deadLettersIn(folder, ({ id }) => id);
          const { seen } = await receivedIn([plain], ({ id }) => id);
          const isDead = (one: { outcomes: readonly Outcome[] }) => deadIn(one.outcomes).length > 0;
          expect(dead).toEqual(seen.filter(isDead));
        } finally {
          for (const one of [inbox, model, ...old]) await one.close();
        }
      },
    ),
    { numRuns: process.env.SVC_TEST_RUNS ? 200 : 25 },
  );
  // Otherwise nothing was compared.
  expect(indexes.count).toBeGreaterThan(5);
});

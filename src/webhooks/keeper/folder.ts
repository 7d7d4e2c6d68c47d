import { join } from 'node:path';
import { replaceFile } from '../../disk/atomic-file.ts';
import { removeFile } from '../../disk/folder.ts';
import { holders, tryLock } from '../../disk/lock.ts';
import { Failure, messageOf } from '../../errors.ts';
import { type InboxOptions, openInbox } from '../inbox/inbox.ts';
import { move, watchOrders } from '../inbox/orders.ts';
import type { Keeper, Settled, Waiting } from './keeper.ts';

type Opening = {
  readonly folder: string;
  readonly limit: number;
  readonly now: () => Date;
  /** For tests: a disk that is slow, fills up, or fails. */
  readonly disk?: Pick<InboxOptions, 'openFile' | 'writeNow'>;
};

/** The inbox in a folder: one instance, which holds the folder's lock. */
export async function openFolder({ folder, limit, now, disk }: Opening): Promise<Keeper> {
  const release = await lockOf(folder);
  const inbox = await openInbox(folder, { limit, ...disk }).catch(async (error: unknown) => {
    await release();
    throw new Failure('failed', `The inbox in ${folder} cannot be used: ${messageOf(error)}`, { cause: error });
  });
  const held = new AbortController();
  const orders = watchOrders(folder, async (order) => {
    if (order.kind === 'move') await move(inbox, order, now());
    else await Promise.all(order.arrivals.map(inbox.add));
  });
  return {
    place: folder,
    isShared: false,
    has: (id) => inbox.has(id),
    add: inbox.add,
    async take(sink, most) {
      const waiting: Waiting[] = [];
      const lost: Settled[] = [];
      for (const { id, tries, since } of inbox.queues.first(sink, most)) {
        const found = await inbox.read(id);
        if (found) waiting.push({ arrival: found.arrival, tries, since });
        // What is lost would hold up all that come after it. One that somebody gave up meanwhile is none of them.
        else if (inbox.queues.waits(sink, id))
          lost.push({ id, outcome: { ...damaged, to: sink, at: now().toISOString() } });
      }
      return { waiting, lost, held: held.signal };
    },
    async settle(_sink, settled) {
      await Promise.all(settled.map(({ id, outcome }) => inbox.settle(id, outcome)));
    },
    leave: async () => {},
    counts: async () => inbox.queues.counts(),
    async probe() {
      const path = join(folder, 'probe');
      await replaceFile(path, 'x'.repeat(4096));
      await removeFile(path);
    },
    // It does so by itself, as it grows.
    trim: async () => {},
    async close() {
      await orders.end();
      held.abort();
      await inbox.close();
      await release();
    },
  };
}

const damaged = {
  state: 'dead',
  error: 'its line in the inbox is damaged, and what it held is lost',
  ms: 0,
  tries: 0,
} as const;

async function lockOf(folder: string): Promise<() => Promise<void>> {
  try {
    const release = await tryLock(join(folder, 'lock'));
    if (release) return release;
  } catch (error) {
    throw new Failure('failed', `The inbox in ${folder} cannot be used: ${messageOf(error)}`, { cause: error });
  }
  const [pid = 'unknown'] = await holders(join(folder, 'lock'));
  throw new Failure('failed', `The inbox in ${folder} is in use by another svc (process ${pid}).`, {
    hint: 'A folder is for one instance. For several, set inbox: to a Postgres database.',
  });
}

import { join } from 'node:path';
import { replaceFile } from '../../disk/atomic-file.ts';
import { removeFile } from '../../disk/folder.ts';
import { type Held, holders, tryLock } from '../../disk/lock.ts';
import { Failure, messageOf } from '../../errors.ts';
import { openInbox } from '../inbox/inbox.ts';
import type { Arrival } from '../inbox/line.ts';
import { move, watchOrders } from '../inbox/orders.ts';
import type { Added, Keeper, Waiting } from './keeper.ts';

type Opening = { readonly folder: string; readonly limit: number; readonly now: () => Date };

/** The inbox in a folder: one instance, which holds the folder's lock. */
export async function openFolder({ folder, limit, now }: Opening): Promise<Keeper> {
  const lock = await lockOf(folder);
  const inbox = await openInbox(folder, { limit, held: lock }).catch(async (error: unknown) => {
    await lock.release();
    throw new Failure('failed', `The inbox in ${folder} cannot be used: ${messageOf(error)}`, { cause: error });
  });
  const adding = new Map<string, Promise<Added>>();
  const closing = new AbortController();
  const held = AbortSignal.any([closing.signal, lock.lost]);
  const mayDeliver = () => {
    try {
      lock.check();
      return !held.aborted;
    } catch {
      return false;
    }
  };
  const add = (arrival: Arrival): Promise<Added> => {
    const { id } = arrival;
    if (inbox.has(id)) return Promise.resolve('repeat');
    const before = adding.get(id);
    if (before) return before.then(() => 'repeat');
    const added = inbox
      .add(arrival)
      .then((): Added => 'stored')
      .finally(() => adding.delete(id));
    adding.set(id, added);
    return added;
  };
  const orders = watchOrders(folder, async (order) => {
    lock.check();
    if (order.kind === 'move') await move(inbox, order, now());
    else await Promise.all(order.arrivals.map(add));
  });
  return {
    place: folder,
    isShared: false,
    lost: lock.lost,
    has: (id) => inbox.has(id),
    add,
    async take(sink, most) {
      if (!mayDeliver()) return undefined;
      const waiting: Waiting[] = [];
      for (const { id, tries, since } of inbox.queues.first(sink, most)) {
        const found = await inbox.read(id);
        if (found) waiting.push({ arrival: found.arrival, tries, since });
        // What cannot be read any more would hold up all that come after it.
        else await inbox.settle(id, { ...unreadable, to: sink, at: now().toISOString() });
      }
      return { waiting, held, mayDeliver };
    },
    async settle(_sink, settled) {
      await Promise.all(settled.map(({ id, outcome }) => inbox.settle(id, outcome)));
    },
    leave: async () => {},
    counts: async () => inbox.queues.counts(),
    async probe() {
      lock.check();
      const path = join(folder, 'probe');
      await replaceFile(path, 'x'.repeat(4096));
      await removeFile(path);
    },
    // It does so by itself, as it grows.
    trim: async () => {},
    async close() {
      await orders.end();
      closing.abort();
      await inbox.close();
      await lock.release();
    },
  };
}

const unreadable = { state: 'dead', error: 'it cannot be read any more', ms: 0, tries: 0 } as const;

const severalHint = 'A folder is for one instance. For several, set inbox: to a Postgres database.';

async function lockOf(folder: string): Promise<Held> {
  try {
    const held = await tryLock(join(folder, 'lock'), { what: `the inbox in ${folder}`, hint: severalHint });
    if (held) return held;
  } catch (error) {
    throw new Failure('failed', `The inbox in ${folder} cannot be used: ${messageOf(error)}`, { cause: error });
  }
  const [pid = 'unknown'] = await holders(join(folder, 'lock'));
  throw new Failure('failed', `The inbox in ${folder} is in use by another svc (process ${pid}).`, {
    hint: severalHint,
  });
}

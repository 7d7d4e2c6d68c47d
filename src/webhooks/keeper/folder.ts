import { join } from 'node:path';
import { readIfThere, replaceFile } from '../../disk/atomic-file.ts';
import { namesIn, removeFile } from '../../disk/folder.ts';
import { holders, tryLock } from '../../disk/lock.ts';
import { Failure, messageOf } from '../../errors.ts';
import { fieldsIn } from '../../text/record.ts';
import { type Inbox, openInbox } from '../inbox/inbox.ts';
import type { Outcome } from '../inbox/line.ts';
import type { Added, DeadId, Keeper, Waiting } from './keeper.ts';

type Opening = { readonly folder: string; readonly limit: number; readonly now: () => Date };

/** The inbox in a folder: one instance, which holds the folder's lock. */
export async function openFolder({ folder, limit, now }: Opening): Promise<Keeper> {
  const release = await lockOf(folder);
  const inbox = await openInbox(folder, { limit }).catch(async (error: unknown) => {
    await release();
    throw new Failure('failed', `The inbox in ${folder} cannot be used: ${messageOf(error)}`, { cause: error });
  });
  const adding = new Map<string, Promise<Added>>();
  const held = new AbortController();
  const orders = watchOrders(folder, (order) => carryOut(inbox, order, now()));
  return {
    place: folder,
    isShared: false,
    has: (id) => inbox.has(id),
    add(arrival) {
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
    },
    async take(sink, most) {
      const waiting: Waiting[] = [];
      for (const { id, tries, since } of inbox.queues.first(sink, most)) {
        const found = await inbox.read(id);
        if (found) waiting.push({ arrival: found.arrival, tries, since });
        // What cannot be read any more would hold up all that come after it.
        else await inbox.settle(id, { ...unreadable, to: sink, at: now().toISOString() });
      }
      return { waiting, held: held.signal };
    },
    async settle(_sink, settled) {
      await Promise.all(settled.map(({ id, outcome }) => inbox.settle(id, outcome)));
    },
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

const unreadable = { state: 'dead', error: 'it cannot be read any more', ms: 0, tries: 0 } as const;

async function lockOf(folder: string): Promise<() => Promise<void>> {
  try {
    const release = await tryLock(join(folder, 'lock'));
    if (release) return release;
  } catch (error) {
    throw new Failure('failed', `The inbox in ${folder} cannot be used: ${messageOf(error)}`, { cause: error });
  }
  const [pid = 'unknown'] = await holders(join(folder, 'lock'));
  throw new Failure('failed', `The inbox in ${folder} is in use by another svc (process ${pid}).`, {
    hint: 'A folder is for one instance. For several, let inbox: name a Postgres database.',
  });
}

/** Work for whoever has the folder, from another process: a file each, gone once it is done. */
export type Order = { readonly ids: readonly DeadId[]; readonly state: 'again' | 'dropped' };

const ordersIn = (folder: string): string => join(folder, 'orders');

/** How often a running instance looks for orders. */
const lookMs = 250;

/** Puts dead deliveries back, or gives them up: done by the instance that has the folder, else here. */
export async function orderOf(folder: string, order: Order, now: () => Date, wait: () => Promise<void>): Promise<void> {
  const path = join(ordersIn(folder), `${process.pid}-${now().getTime()}-${Math.random().toString(36).slice(2)}.json`);
  await replaceFile(path, JSON.stringify(order));
  for (;;) {
    const release = await tryLock(join(folder, 'lock'));
    if (release) {
      try {
        const inbox = await openInbox(folder, { limit: Number.MAX_SAFE_INTEGER });
        await carryOut(inbox, order, now()).finally(() => inbox.close());
      } finally {
        await removeFile(path);
        await release();
      }
      return;
    }
    await wait();
    if ((await readIfThere(path)) === undefined) return;
  }
}

async function carryOut(inbox: Inbox, { ids, state }: Order, now: Date): Promise<void> {
  const outcome = (sink: string): Outcome => ({ to: sink, at: now.toISOString(), ms: 0, tries: 0, state });
  await Promise.all(ids.map(({ id, sink }) => inbox.settle(id, outcome(sink))));
}

function watchOrders(folder: string, carry: (order: Order) => Promise<void>): { end(): Promise<void> } {
  let looking: Promise<void> | undefined;
  const look = async () => {
    for (const name of await namesIn(ordersIn(folder))) {
      if (!/^\d.*\.json$/u.test(name)) continue;
      const path = join(ordersIn(folder), name);
      const order = orderIn(await readIfThere(path));
      if (order) await carry(order);
      await removeFile(path);
    }
  };
  const timer = setInterval(() => {
    // One that fails is tried again at the next look.
    looking ??= look()
      .catch(() => {})
      .finally(() => {
        looking = undefined;
      });
  }, lookMs);
  return {
    async end() {
      clearInterval(timer);
      await looking;
    },
  };
}

function orderIn(text: string | undefined): Order | undefined {
  try {
    const { ids, state } = fieldsIn(JSON.parse(text ?? 'null'));
    if (!Array.isArray(ids) || (state !== 'again' && state !== 'dropped')) return undefined;
    const known = ids.map(fieldsIn).flatMap(({ id, sink }) => {
      return typeof id === 'string' && typeof sink === 'string' ? [{ id, sink }] : [];
    });
    return { ids: known, state };
  } catch {
    return undefined;
  }
}

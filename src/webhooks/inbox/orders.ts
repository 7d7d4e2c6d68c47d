import { join } from 'node:path';
import { readIfThere, replaceFile } from '../../disk/atomic-file.ts';
import { namesIn, removeFile } from '../../disk/folder.ts';
import { type Held, tryLock } from '../../disk/lock.ts';
import { Failure } from '../../errors.ts';
import { fieldsIn } from '../../text/record.ts';
import type { Inbox } from './inbox.ts';
import { type Arrival, decodeLine, encodeLine } from './line.ts';

/**
 * Work for whoever has the inbox, from another process: a file each in the inbox's folder, gone once it is done. To do
 * it twice is to do it once, for the one who does it may die before the file is gone.
 */
export type Order =
  | { readonly kind: 'move'; readonly ids: readonly DeadId[]; readonly state: 'again' | 'dropped' }
  | { readonly kind: 'add'; readonly arrivals: readonly Arrival[] };

/** A dead letter: a delivery and the sink that did not take it. */
export type DeadId = { readonly id: string; readonly sink: string };

/** How often whoever has the inbox looks for orders. */
const lookMs = 250;
const patienceMs = 30_000;

const folderOf = (inbox: string): string => join(inbox, 'orders');

type Needs = {
  readonly folder: string;
  /** Where nobody has the inbox. */
  readonly alone: (order: Order, held: Held) => Promise<void>;
  readonly sleep: (ms: number) => Promise<void>;
};

/** Has an order carried out by whoever has the inbox, else here. */
export async function carryOut(order: Order, { folder, alone, sleep }: Needs): Promise<void> {
  const name = `${process.pid}-${Date.now()}-${Math.random().toString(36).slice(2)}.json`;
  const path = join(folderOf(folder), name);
  await replaceFile(path, encodeOrder(order));
  for (let waited = 0; waited < patienceMs; waited += lookMs / 5) {
    const held = await tryLock(join(folder, 'lock'), { what: `the inbox in ${folder}` });
    if (held) {
      try {
        if ((await readIfThere(path)) !== undefined) await alone(order, held);
      } finally {
        await removeFile(path);
        await held.release();
      }
      return;
    }
    await sleep(lookMs / 5);
    if ((await readIfThere(path)) === undefined) return;
  }
  await removeFile(path);
  throw new Failure('failed', `The svc that uses the inbox in ${folder} does not answer.`, {
    hint: 'It may be an older version. End it, and try again.',
  });
}

/** What a move means in the file. */
export async function move(inbox: Inbox, { ids, state }: Extract<Order, { kind: 'move' }>, now: Date): Promise<void> {
  const at = now.toISOString();
  await Promise.all(ids.map(({ id, sink }) => inbox.settle(id, { to: sink, at, ms: 0, tries: 0, state })));
}

/** Looks for orders for as long as the inbox is held. */
export function watchOrders(inbox: string, carry: (order: Order) => Promise<void>): { end(): Promise<void> } {
  const folder = folderOf(inbox);
  let looking: Promise<void> | undefined;
  const look = async () => {
    for (const name of await namesIn(folder)) {
      if (!/^\d.*\.json$/u.test(name)) continue;
      const path = join(folder, name);
      const order = decodeOrder(await readIfThere(path));
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
  timer.unref();
  return {
    async end() {
      clearInterval(timer);
      await looking;
    },
  };
}

function encodeOrder(order: Order): string {
  if (order.kind === 'move') return JSON.stringify(order);
  return JSON.stringify({
    kind: 'add',
    lines: order.arrivals.map((arrival) => encodeLine({ kind: 'arrival', arrival })),
  });
}

const isText = (value: unknown): value is string => typeof value === 'string';

function decodeOrder(text: string | undefined): Order | undefined {
  try {
    const { kind, ids, state, lines } = fieldsIn(JSON.parse(text ?? 'null'));
    if (kind === 'add' && Array.isArray(lines)) {
      const decoded = lines.filter(isText).map(decodeLine);
      return { kind, arrivals: decoded.flatMap((line) => (line?.kind === 'arrival' ? [line.arrival] : [])) };
    }
    if (kind !== 'move' || !Array.isArray(ids) || (state !== 'again' && state !== 'dropped')) return undefined;
    const known = ids.map(fieldsIn).flatMap(({ id, sink }) => (isText(id) && isText(sink) ? [{ id, sink }] : []));
    return { kind, ids: known, state };
  } catch {
    return undefined;
  }
}

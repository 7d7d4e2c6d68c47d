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

/** For each id or arrival of the order, whether this order put it there: another one may have come first. */
export type Carried = readonly boolean[];

/** A dead letter: a delivery and the sink that did not take it. */
export type DeadId = { readonly id: string; readonly sink: string };

/** How often whoever has the inbox looks for orders. */
const lookMs = 250;
const patienceMs = 30_000;

const folderOf = (inbox: string): string => join(inbox, 'orders');

type Needs = {
  readonly folder: string;
  /** Where nobody has the inbox. */
  readonly alone: (order: Order, held: Held) => Promise<Carried>;
  readonly sleep: (ms: number) => Promise<void>;
};

/** Has an order carried out by whoever has the inbox, else here. An older svc that has it does not say what it did: undefined. */
export async function carryOut(order: Order, { folder, alone, sleep }: Needs): Promise<Carried | undefined> {
  const name = `${process.pid}-${Date.now()}-${Math.random().toString(36).slice(2)}.json`;
  const path = join(folderOf(folder), name);
  await replaceFile(path, encodeOrder(order));
  for (let waited = 0; waited < patienceMs; waited += lookMs / 5) {
    const held = await tryLock(join(folder, 'lock'), { what: `the inbox in ${folder}` });
    if (held) {
      try {
        return (await readIfThere(path)) === undefined ? await answerTo(path) : await alone(order, held);
      } finally {
        await removeFile(path);
        await held.release();
      }
    }
    await sleep(lookMs / 5);
    if ((await readIfThere(path)) === undefined) return answerTo(path);
  }
  await removeFile(path);
  throw new Failure('failed', `The svc that uses the inbox in ${folder} does not answer.`, {
    hint: 'It may be an older version. End it, and try again.',
  });
}

const answerPath = (order: string): string => order.replace(/\.json$/u, '.done');

async function answerTo(order: string): Promise<Carried | undefined> {
  const answer = await readIfThere(answerPath(order));
  await removeFile(answerPath(order));
  const said: unknown = answer === undefined ? undefined : JSON.parse(answer);
  return Array.isArray(said) ? said.map((one) => one === true) : undefined;
}

/** What a move means in the file. */
export async function move(
  { queues, settle }: Inbox,
  { ids, state }: Extract<Order, { kind: 'move' }>,
  now: Date,
): Promise<Carried> {
  const at = now.toISOString();
  return Promise.all(
    ids.map(async ({ id, sink }) => {
      if (!queues.isDead(sink, id)) return false;
      await settle(id, { to: sink, at, ms: 0, tries: 0, state });
      return true;
    }),
  );
}

/** What an addition means in the file. */
export const addAll = ({ add }: Inbox, { arrivals }: Extract<Order, { kind: 'add' }>): Promise<Carried> =>
  Promise.all(arrivals.map(async (arrival) => (await add(arrival)) === 'stored'));

/** Looks for orders for as long as the inbox is held. */
export function watchOrders(inbox: string, carry: (order: Order) => Promise<Carried>): { end(): Promise<void> } {
  const folder = folderOf(inbox);
  let looking: Promise<void> | undefined;
  /** Carried out, but the answer could not be written. */
  const untold = new Map<string, Carried>();
  const look = async () => {
    for (const name of await namesIn(folder)) {
      const path = join(folder, name);
      if (isForgotten(name)) await removeFile(path);
      if (!/^\d.*\.json$/u.test(name)) continue;
      const order = decodeOrder(await readIfThere(path));
      const carried = untold.get(name) ?? (order && (await carry(order)));
      if (carried) {
        untold.set(name, carried);
        await replaceFile(answerPath(path), JSON.stringify(carried));
        untold.delete(name);
      }
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

/** An answer to one who does not wait for it any more. */
function isForgotten(name: string): boolean {
  const [, at] = /^\d+-(\d+)-.*\.done$/u.exec(name) ?? [];
  return at !== undefined && Date.now() - Number(at) > 10 * patienceMs;
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

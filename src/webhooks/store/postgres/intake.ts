import type { Database } from '../../../database/postgres.ts';
import type { InboxStore } from '../inbox-store.ts';
import { type Added, type Arrival, isRebuilt } from '../line.ts';
import { keyOf } from './rows.ts';
import { rowsTaken } from './schema.ts';
import { store } from './storing.ts';

type Adding = {
  readonly arrival: Arrival;
  readonly done: (added: Added) => void;
  readonly failed: (error: unknown) => void;
};

/** The most in one statement, and their bytes: what it compares grows with their square. */
const most = 200;
const mostBytes = 8 * 1024 * 1024;
/** How many ids are remembered, so that most repeats cost no question. */
const remembered = 10_000;

/** What comes while the database is busy goes to it together: one statement, one commit. */
export function createIntake(database: Database, prepared: () => Promise<void>): Pick<InboxStore, 'has' | 'add'> {
  const queue: Adding[] = [];
  const known = new Set<string>();
  let working = false;
  const remember = (id: string) => {
    if (id.length > 200) return;
    known.add(id);
    for (const oldest of known) {
      if (known.size <= remembered) break;
      known.delete(oldest);
    }
  };
  const work = async () => {
    working = true;
    // What comes in the same turn of the event loop goes together.
    await new Promise((resolve) => setImmediate(resolve));
    for (let batch = batchOf(queue); batch.length > 0; batch = batchOf(queue)) {
      try {
        await prepared();
        const arrivals = batch.map(({ arrival }) => arrival);
        const stored = await store(database, arrivals);
        const told = new Set<string>();
        for (const { arrival, done, failed } of batch) {
          const key = keyOf(arrival.id).toString('hex');
          if (!stored.fresh.has(key) && !stored.there.has(key)) {
            failed(rowsTaken('inbox'));
            continue;
          }
          remember(arrival.id);
          // The second of two in one batch is a repeat.
          done(stored.fresh.has(key) && !told.has(key) ? 'stored' : 'repeat');
          told.add(key);
        }
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    working = false;
  };
  return {
    has: (id) => known.has(id),
    add: (arrival) =>
      new Promise((done, failed) => {
        queue.push({ arrival, done, failed });
        if (!working) void work();
      }),
  };
}

function batchOf(queue: Adding[]): Adding[] {
  let bytes = 0;
  let count = 0;
  for (const { arrival } of queue) {
    bytes += arrival.body.length;
    // The statement does not see its own rows: one of each kind for the same record would both be stored.
    if (isRebuilt(arrival.id) !== isRebuilt(queue[0]?.arrival.id ?? '')) break;
    if (count >= most || (count > 0 && bytes > mostBytes)) break;
    count++;
  }
  return queue.splice(0, count);
}

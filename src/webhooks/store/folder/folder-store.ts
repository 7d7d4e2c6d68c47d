import { type Held, isOurs } from '../../../disk/lock/lock.ts';
import { Failure } from '../../../errors.ts';
import type { InboxStore, Settled, Waiting } from '../inbox-store.ts';
import { damagedOutcome } from '../outcome-words.ts';
import { probeFolder } from '../recovery.ts';
import { unusable } from './file.ts';
import { type InboxOptions, openInbox } from './inbox.ts';
import { holderOf, takeInbox } from './lock.ts';
import { inFile, watchRequests } from './requests.ts';

type Opening = Pick<InboxOptions, 'limit' | 'onDamage'> & {
  readonly folder: string;
  readonly now: () => Date;
  /** For tests: a disk that is slow, fills up, or fails, and an index of few lines. */
  readonly disk?: Pick<InboxOptions, 'openFile' | 'writeNow' | 'indexedAfter'>;
};

/** The inbox in a folder: one instance, which holds the folder's lock. */
export async function openFolder({ folder, limit, now, onDamage, disk }: Opening): Promise<InboxStore> {
  const lock = await lockOf(folder);
  const inbox = await openInbox(folder, { limit, held: lock, onDamage, ...disk }).catch(async (error: unknown) => {
    await lock.release();
    throw unusable(folder, error, otherFolder);
  });
  const closing = new AbortController();
  const held = AbortSignal.any([closing.signal, lock.lost]);
  const mayDeliver = () => isOurs(lock) && !held.aborted;
  const requests = watchRequests(folder, async (request) => {
    lock.check();
    return inFile(inbox, request, now());
  });
  return {
    place: folder,
    isShared: false,
    lost: lock.lost,
    has: (id) => inbox.has(id),
    add: inbox.add,
    async take(sink, most, except) {
      if (!mayDeliver()) return undefined;
      const waiting: Waiting[] = [];
      const lost: Settled[] = [];
      for (const { id, tries, since } of inbox.queues.first(sink, most, except)) {
        const found = await inbox.read(id);
        if (found) waiting.push({ arrival: found.arrival, tries, since });
        // What is lost would hold up all that come after it. One that somebody gave up meanwhile is none of them.
        else if (inbox.queues.waits(sink, id))
          lost.push({ id, outcome: { ...damagedOutcome, tries: 0, to: sink, at: now().toISOString() } });
      }
      return { waiting, lost, held, mayDeliver, waits: (id) => inbox.queues.waits(sink, id) };
    },
    async settle(_sink, settled) {
      await Promise.all(settled.map(({ id, outcome }) => inbox.settle(id, outcome)));
    },
    leave: async () => {},
    counts: async () => inbox.queues.counts(),
    async probe() {
      lock.check();
      await probeFolder(folder);
    },
    // It does so by itself, as it grows.
    trim: async () => {},
    async close() {
      await requests.end();
      closing.abort();
      await inbox.close();
      await lock.release();
    },
  };
}

const otherFolder = 'Fix that, or name another folder with inbox: in the configuration.';
const severalHint = 'A folder is for one instance. For several, set inbox: to a Postgres database.';
const lostHint = `If it was moved or removed, put it back: without it svc starts with an empty one. ${severalHint}`;

async function lockOf(folder: string): Promise<Held> {
  try {
    const held = await takeInbox(folder, lostHint);
    if (held) return held;
  } catch (error) {
    throw unusable(folder, error, otherFolder);
  }
  const pid = (await holderOf(folder)) ?? 'unknown';
  throw new Failure('failed', `The inbox in ${folder} is in use by another svc (process ${pid}).`, {
    hint: severalHint,
  });
}

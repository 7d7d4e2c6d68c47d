import type { Context } from '../../context.ts';
import { type Held, isOurs } from '../../disk/lock/lock.ts';
import { messageOf } from '../../errors.ts';
import { post } from '../deliver/post.ts';
import { type Sink, single } from '../deliver/sink.ts';
import { startDeliveryWorker } from '../deliver/worker.ts';
import type { DeliveryWorker } from '../deliver/worker-state.ts';
import type { Inbox } from '../store/folder/inbox.ts';
import type { Forwarding } from '../store/forwarding.ts';
import type { Settled, Waiting } from '../store/inbox-store.ts';
import type { Outcome } from '../store/line.ts';
import { damagedOutcome } from '../store/outcome-words.ts';

export type Forwarder = ReturnType<typeof createForwarder>;

export type ForwardOptions = Pick<Context, 'exchange' | 'clock'> & {
  readonly inbox: Pick<Inbox, 'read' | 'settle'>;
  readonly timeoutMs: number;
  /** How long to try while nothing listens there; undefined: for as long as svc runs. */
  readonly retryMs?: number;
  /** Of the inbox: whoever has it passes on what is in it. */
  readonly held: Pick<Held, 'check' | 'lost'>;
  readonly report: (id: string, event: string | null, forwarding: Forwarding) => void;
};

type Queued = { readonly id: string; readonly event: string | null; readonly tries: number };

/** What waits for one URL, in the order in which it came. */
type Queue = {
  readonly to: string;
  readonly waiting: Map<string, Queued>;
  /** How the last try went, while nothing answers there. */
  down: Forwarding | undefined;
};

type Lane = { readonly queue: Queue; readonly worker: DeliveryWorker };

const retry = {
  attempts: Number.POSITIVE_INFINITY,
  maxAgeMs: Number.POSITIVE_INFINITY,
  pauseMs: 250,
  longestPauseMs: 3_000,
};

/** A delivery worker for each URL, so that they do not wait for each other. */
export function createForwarder(options: ForwardOptions) {
  const lanes = new Map<string, Lane>();
  return {
    enqueue(id: string, event: string | null, to: string): void {
      const lane = lanes.get(to) ?? startLane(options, to);
      lanes.set(to, lane);
      const { queue, worker } = lane;
      queue.waiting.set(id, { id, event, tries: 0 });
      if (queue.down) options.report(id, event, { ...queue.down, ms: null, tries: 0 });
      worker.wake();
    },
    /** It was sent there by hand, so that it is through. False where it waits for another URL. */
    passed(id: string, outcome: Outcome): boolean {
      const waiting = [...lanes.values()].find(({ queue }) => queue.waiting.has(id));
      if (!waiting) return true;
      if (waiting.queue.to !== outcome.to) return false;
      settle(options, waiting.queue, { id, outcome: { ...outcome, state: 'delivered' } });
      waiting.worker.wake();
      return true;
    },
    /** How many are not through yet. */
    depth: (): number => [...lanes.values()].reduce((sum, { queue }) => sum + queue.waiting.size, 0),
    /**
     * Lets an app that answers have what is queued, for `graceMs`; what is cut off is forwarded twice, so nothing is begun
     * that would not be over by then. What is left stays owed in the inbox.
     */
    async stop(graceMs: number): Promise<void> {
      await Promise.all([...lanes.values()].map(({ worker }) => worker.drain(graceMs)));
    },
  };
}

function startLane(options: ForwardOptions, to: string): Lane {
  const { clock, inbox, held } = options;
  const queue: Queue = { to, waiting: new Map(), down: undefined };
  const mayDeliver = () => isOurs(held);
  const worker = startDeliveryWorker({
    sink: appSink(to, options),
    store: {
      isShared: false,
      take: async (_, most) =>
        mayDeliver() ? { ...(await readAll(options, queue, most)), held: held.lost, mayDeliver } : undefined,
      // A failure here only means that it is forwarded once more after a restart.
      settle: async (_, settled) => void (await Promise.all(settled.map((one) => store(inbox, one).catch(() => {})))),
      leave: async () => {},
    },
    retry,
    clock,
    unwrittenAtMost: 1,
    onSettled: (_, settled) => settle(options, queue, settled),
    // What cannot be read is asked for again. Where the inbox fails the receiver says so.
    onProblem: () => {},
  });
  return { queue, worker };
}

/** Rejects where the disk does not answer: what was accepted is not given up for it. */
async function readAll({ inbox, clock }: ForwardOptions, { to, waiting }: Queue, most: number) {
  const [found, lost]: [Waiting[], Settled[]] = [[], []];
  for (const { id, tries } of [...waiting.values()].slice(0, most)) {
    const at = clock.now().toISOString();
    const received = await inbox.read(id);
    if (received) found.push({ arrival: received.arrival, tries, since: received.arrival.at });
    else lost.push({ id, outcome: { ...damagedOutcome, tries: 1, to, at } });
  }
  return { waiting: found, lost, waits: (id: string) => waiting.has(id) };
}

/** An inbox of `listen` has one app for each event, so its outcomes have no state. What is tried again stays owed. */
async function store(inbox: ForwardOptions['inbox'], { id, outcome }: Settled): Promise<void> {
  const { state, ...rest } = outcome;
  if (state !== 'failed') await inbox.settle(id, rest);
}

function settle({ report }: ForwardOptions, queue: Queue, { id, outcome }: Settled): void {
  const { state, status = null, error = null, ms, tries } = outcome;
  const queued = queue.waiting.get(id);
  if (!queued) return;
  const about = { to: queue.to, status, error, ms, tries };
  if (state !== 'failed') {
    queue.waiting.delete(id);
    queue.down = undefined;
    report(id, queued.event, { ...about, state: state === 'delivered' ? 'answered' : 'failed' });
    return;
  }
  const forwarding: Forwarding = { ...about, state: 'waiting' };
  queue.waiting.set(id, { ...queued, tries });
  if (!queue.down) for (const one of queue.waiting.values()) report(one.id, one.event, forwarding);
  queue.down = forwarding;
}

/** An app that breaks or hangs on one event gets it this often; then it must not hold up the others for ever. */
const brokenTries = 5;

/** The app of somebody who develops: any status is its answer, and while it is down it is tried without end. */
function appSink(url: string, { exchange, clock, timeoutMs, retryMs }: ForwardOptions): Sink {
  /** The event that it is tried with, since when (ticks), and how often the app broke on it. */
  let current = { id: '', since: 0, broken: 0 };
  return single(url, async (event, cut) => {
    if (current.id !== event.id) current = { id: event.id, since: clock.ticks(), broken: 0 };
    try {
      const answer = await post(exchange, event, { to: url, timeoutMs, signal: cut });
      if (!('lost' in answer)) return { how: 'taken', status: answer.status };
      const { lost, reason } = answer;
      if (reason === 'aborted') return { how: 'cut' };
      if (lost === 'after-sending') current.broken++;
      // Of the first two the app has it, and its answer will be no better next time.
      const isFinal =
        reason === 'too-large' ||
        reason === 'unreadable' ||
        current.broken >= brokenTries ||
        (retryMs !== undefined && clock.ticks() - current.since >= retryMs);
      return { how: 'refused', error: reason, isFinal };
    } catch (error) {
      return { how: 'refused', error: messageOf(error).slice(0, 200), isFinal: true };
    }
  });
}

import type { Context, HttpResponse, Lost } from '../../context.ts';
import type { Inbox, Received } from '../inbox/inbox.ts';
import type { Outcome } from '../inbox/line.ts';
import type { Headers } from '../receiving/judge.ts';

/** How passing a delivery on stands. `answered`: the app gave a status, whichever. */
export type Forwarding = {
  /** Null while only the next listener knows it. */
  readonly to: string | null;
  readonly state: 'answered' | 'waiting' | 'failed';
  readonly status: number | null;
  readonly error: string | null;
  /** Of the last attempt. */
  readonly ms: number | null;
  readonly tries: number;
};

export type Forwarder = {
  enqueue(id: string, event: string | null, to: string): void;
  /** Sends at once, beside the queue, and says how it went. Undefined where the inbox has no such delivery. */
  replay(id: string, to: string): Promise<Forwarding | undefined>;
  /** How many are not through yet. */
  depth(): number;
  /** Lets an app that answers have what is queued, begun within `graceMs`; what is left stays owed in the inbox. */
  stop(graceMs: number): Promise<void>;
};

export type ForwardOptions = Pick<Context, 'exchange' | 'clock'> & {
  readonly inbox: Pick<Inbox, 'read' | 'settle'>;
  readonly timeoutMs: number;
  /** How long to try while nothing listens there; undefined: for as long as svc runs. */
  readonly retryMs?: number;
  readonly report: (id: string, event: string | null, forwarding: Forwarding) => void;
};

type Sent = Forwarding & { readonly to: string };

/** One delivery after the other: the app sees them in the order in which they came. */
type Queued = { readonly id: string; readonly event: string | null };
type Lane = { readonly to: string; readonly queue: Queued[]; running?: Promise<void>; down?: Sent };

/** An app that breaks or hangs on one delivery gets it this often; then it must not hold up the others for ever. */
const brokenTries = 5;

/** What a forwarder works with. */
type State = ForwardOptions & {
  readonly lanes: Map<string, Lane>;
  /** svc is told to end: what is not through is not tried again. */
  readonly ending: AbortController;
  /** The time for that is over: also what is under way is cut off. */
  readonly cutting: AbortController;
  /** Once svc ends: when nothing more is begun, in ticks. */
  lastBegin: number;
};

export function createForwarder(options: ForwardOptions): Forwarder {
  const { clock, inbox, report } = options;
  const lanes = new Map<string, Lane>();
  const [ending, cutting] = [new AbortController(), new AbortController()];
  const state: State = { ...options, lanes, ending, cutting, lastBegin: Number.POSITIVE_INFINITY };
  return {
    enqueue(id, event, to) {
      const lane = lanes.get(to) ?? { to, queue: [] };
      lanes.set(to, lane);
      lane.queue.push({ id, event });
      if (lane.down) report(id, event, { ...lane.down, ms: null, tries: 0 });
      lane.running ??= run(state, lane);
    },
    async replay(id, to) {
      const received = await inbox.read(id);
      if (!received) return undefined;
      const forwarding = await attempt(state, received, to).then(
        ({ answer, ms }) => stand(to, answer, ms, 1),
        (error) => unsendable(to, error),
      );
      const settled: Sent = forwarding.state === 'waiting' ? { ...forwarding, state: 'failed' } : forwarding;
      await inbox.settle(id, { ...outcomeOf(settled, clock.now()), replay: true }).catch(() => {});
      return settled;
    },
    depth: () => [...lanes.values()].reduce((sum, lane) => sum + lane.queue.length, 0),
    stop: (graceMs) => stop(state, graceMs),
  };
}

/** What is under way has as long again: what is cut off is forwarded twice. */
async function stop(state: State, graceMs: number): Promise<void> {
  const { clock, lanes, ending, cutting } = state;
  state.lastBegin = clock.ticks() + graceMs;
  ending.abort();
  const idle = Promise.all([...lanes.values()].map((lane) => lane.running));
  const over = new AbortController();
  await Promise.race([idle, clock.sleep(graceMs, over.signal)]);
  await Promise.race([idle, clock.sleep(graceMs, over.signal)]);
  over.abort();
  cutting.abort();
  await idle;
}

async function run(state: State, lane: Lane): Promise<void> {
  const isOver = () => state.cutting.signal.aborted || state.clock.ticks() > state.lastBegin;
  for (let next = lane.queue[0]; next && !isOver(); next = lane.queue[0]) {
    if (!(await handle(state, lane, next))) break;
    lane.queue.shift();
  }
  lane.running = undefined;
}

/** False where svc ends before it is through. Never rejects: one event must not end svc, at this start or the next. */
async function handle(state: State, lane: Lane, { id, event }: Queued): Promise<boolean> {
  const { clock, inbox, report } = state;
  const received = await readSurely(state, id);
  if (received === 'ending') return false;
  const forwarding = received
    ? await pass(state, received, lane).catch((error) => unsendable(lane.to, error))
    : unsendable(lane.to, 'its line in the inbox is damaged, and what it held is lost');
  if (!forwarding) return false;
  lane.down = undefined;
  // A failure here only means that it is forwarded once more after a restart.
  await inbox.settle(id, outcomeOf(forwarding, clock.now())).catch(() => {});
  report(id, event, forwarding);
  return true;
}

/** A disk that does not answer is asked again: what was accepted is not given up for it. */
async function readSurely({ inbox, clock, ending }: State, id: string): Promise<Received | undefined | 'ending'> {
  for (;;) {
    try {
      return await inbox.read(id);
    } catch {
      await clock.sleep(1_000, ending.signal);
      if (ending.signal.aborted) return 'ending';
    }
  }
}

/** Undefined where svc ends before the app has answered. */
async function pass(state: State, received: Received, lane: Lane): Promise<Sent | undefined> {
  const { clock, ending, report, retryMs } = state;
  const since = clock.ticks();
  let broken = 0;
  for (let tries = 1; ; tries++) {
    const { answer, ms } = await attempt(state, received, lane.to);
    const forwarding = stand(lane.to, answer, ms, tries);
    if (!('lost' in answer)) return forwarding;
    if (answer.reason === 'aborted') return undefined;
    if (answer.lost === 'after-sending') broken++;
    // The app has it, and its answer will be no better next time.
    if (isHopeless(answer)) return { ...forwarding, state: 'failed' };
    const late = retryMs !== undefined && clock.ticks() - since >= retryMs;
    if (late || broken >= brokenTries) return { ...forwarding, state: 'failed' };
    if (ending.signal.aborted) return undefined;
    if (!lane.down) for (const { id, event } of lane.queue) report(id, event, forwarding);
    lane.down = forwarding;
    await clock.sleep(Math.min(250 * 2 ** (tries - 1), 3_000), ending.signal);
    if (ending.signal.aborted) return undefined;
  }
}

type Attempt = { readonly answer: HttpResponse | Lost; readonly ms: number };

async function attempt(state: State, { arrival }: Received, to: string): Promise<Attempt> {
  const { clock, exchange, timeoutMs, cutting } = state;
  const start = clock.ticks();
  const answer = await exchange({
    method: 'POST',
    url: to,
    headers: passedOn(arrival.headers),
    body: arrival.body,
    timeoutMs,
    signal: cutting.signal,
  });
  return { answer, ms: Math.round(clock.ticks() - start) };
}

const isHopeless = ({ reason }: Lost): boolean => reason === 'too-large' || reason === 'unreadable';

function unsendable(to: string, error: unknown): Sent {
  const why = error instanceof Error ? error.message : String(error);
  return { to, state: 'failed', status: null, error: why.slice(0, 200), ms: null, tries: 1 };
}

function stand(to: string, answer: HttpResponse | Lost, ms: number, tries: number): Sent {
  if ('lost' in answer) return { to, state: 'waiting', status: null, error: answer.reason, ms, tries };
  return { to, state: 'answered', status: answer.status, error: null, ms, tries };
}

function outcomeOf({ to, status, error, ms, tries }: Sent, at: Date): Outcome {
  return {
    to,
    at: at.toISOString(),
    ...(status !== null && { status }),
    ...(error !== null && { error }),
    ms: ms ?? 0,
    tries,
  };
}

/** Of one connection, not of the message (RFC 9110, 7.6.1); and what the next connection says again. */
const ofTheConnection = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The original headers, so that the app can verify the signature itself. */
export const passedOn = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofTheConnection.has(name)));

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../context.ts';
import { idInInbox, ownedBy } from '../event/account.ts';
import type { Envelope, Headers } from '../event/envelope.ts';
import { happeningOf } from '../event/record-key.ts';
import { type Arrival, textsOf } from '../store/line.ts';
import { answer, cut, tooLarge } from './answers.ts';
import { judge, type Refusal, type Verdict } from './judge.ts';
import { type Limits, receiverLimits } from './limits.ts';
import { bound, close, connectionsAtMost, defaultConnections, listen, loopback } from './listening.ts';
import { isMarked, markHeader } from './own-mark.ts';

export { receiverLimits } from './limits.ts';

/** What the receiver decided about one request to its path. */
export type Receipt = { readonly account?: string } & Told;

type Told =
  | { readonly kind: 'accepted'; readonly arrival: Arrival; readonly envelope: Envelope }
  | { readonly kind: 'unreadable'; readonly arrival: Arrival; readonly why: string }
  | { readonly kind: 'repeat'; readonly at: string; readonly envelope: Envelope }
  | { readonly kind: 'rejected'; readonly at: string; readonly why: Refusal; readonly event: string | null };

/** Where deliveries come in: what comes there is signed with one of these secrets, and is this account's. */
export type Door = { readonly path: string; readonly secrets: readonly string[]; readonly account?: string };

export type ReceiverOptions = {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  readonly port: number;
  /** What to do where the port cannot be had. */
  readonly portHint?: string;
  /** How many connections may be open at once. Default: 512, and fewer where the system gives fewer files. */
  readonly maxConnections?: () => number;
  /**
   * Asked for each request: a tunnel and its subscriptions come while the receiver stands. No secret opens another's path.
   */
  readonly doors: () => readonly Door[];
  /** The id in the inbox. Default: as in one that may be of several accounts. */
  readonly idIn?: typeof idInInbox;
  /** Asked where no secret fits, and then `doors` once more. False: it is not known which secrets there are. */
  readonly readSecrets?: () => Promise<boolean>;
  /** `add` may resolve to `repeat`: several instances share an inbox. */
  readonly inbox: { has(id: string): boolean; add(arrival: Arrival): Promise<void> | Promise<'stored' | 'repeat'> };
  readonly clock: Clock;
  /** An id for a delivery that has none. */
  readonly newId: () => string;
  readonly forwardTo?: (event: string | null) => string | undefined;
  readonly sinksFor?: (event: string | null, account: string | undefined) => readonly string[];
  /** What it sends itself has this mark (`own-mark.ts`), and is not taken: it would count as delivered, and be lost. */
  readonly mark?: string;
  /** After the answer. */
  readonly onReceipt: (receipt: Receipt) => void;
  /** The inbox could not be written; told once until it can be again. */
  readonly onProblem?: (error: unknown) => void;
  /** Shorter in tests. */
  readonly limits?: Partial<Limits>;
};

export type Receiver = {
  readonly port: number;
  /** Without a path. */
  readonly origin: string;
  readonly url: string;
  close(): Promise<void>;
};

/** False where the inbox refused all along. */
type Stored = 'stored' | 'repeat' | false;

/** A receiver at work. */
type Receiving = {
  readonly options: ReceiverOptions;
  readonly limits: Limits;
  /** By id: deliveries on their way to the disk, and whether they got there. */
  readonly storing: Map<string, Promise<Stored>>;
  /** Bytes of bodies in memory. */
  held: number;
  /** Deliveries that wait for the secrets to be read again. */
  doubted: number;
  hasProblem: boolean;
  /** Nobody is left to be answered. */
  isClosed: boolean;
};

/**
 * Takes deliveries on 127.0.0.1. The order is what makes it safe: verify, drop repeats, make durable, answer, and
 * only then pass on. A non-2xx is never redelivered (service.md#delivery-3), so nothing that comes later may be the
 * answer. Where the delivery cannot be stored there is no answer, since only silence makes the service send again (service.md#delivery-2).
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const limits = { ...receiverLimits, ...options.limits };
  const receiving: Receiving = {
    options,
    limits,
    storing: new Map(),
    held: 0,
    doubted: 0,
    hasProblem: false,
    isClosed: false,
  };
  const server = process.getBuiltinModule('node:http').createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.wholeMs,
    connectionsCheckingInterval: Math.min(500, limits.headersMs / 4),
    keepAliveTimeout: 5_000,
  });
  server.on('request', (request, response) => receive(receiving, request, response));
  server.on('checkContinue', (request, response) =>
    receive(receiving, request, response, () => response.writeContinue()),
  );
  bound(server, () => mostConnections(options));
  const host = options.host ?? loopback;
  const hint = options.portHint ?? 'Choose another with --port, or --port 0 for any free one.';
  const port = await listen(server, { host, port: options.port, hint });
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    port,
    origin,
    url: `${origin}${options.doors()[0]?.path ?? ''}`,
    close: () =>
      close(server).finally(() => {
        receiving.isClosed = true;
      }),
  };
}

const mostConnections = ({ maxConnections }: ReceiverOptions): number =>
  connectionsAtMost(maxConnections?.() ?? defaultConnections);

/** The door at that path, as it is now. */
const doorAt = ({ doors }: ReceiverOptions, path: string | undefined): Door | undefined =>
  doors().find((door) => door.path === path);

function receive(
  receiving: Receiving,
  request: IncomingMessage,
  response: ServerResponse,
  goOn: () => void = () => {},
): void {
  const { options, limits } = receiving;
  // A sender who leaves early is no reason to end.
  request.on('error', () => {});
  response.on('error', () => {});
  const path = request.url?.split('?', 1)[0];
  if (!doorAt(options, path)) answer(response, 404);
  else if (request.method !== 'POST') answer(response, 405, { allow: 'POST' });
  else if (options.mark !== undefined && isMarked(request.headers[markHeader], options.mark)) answer(response, 508);
  else if (Number(request.headers['content-length']) > limits.bodyBytes) tooLarge(request);
  else {
    goOn();
    takeBody(receiving, request, response);
  }
}

function takeBody(receiving: Receiving, request: IncomingMessage, response: ServerResponse): void {
  const { limits } = receiving;
  const chunks: Buffer[] = [];
  let length = 0;
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    receiving.held += chunk.length;
    if (length > limits.bodyBytes) {
      request.removeAllListeners('data').removeAllListeners('end');
      chunks.length = 0;
      tooLarge(request);
    } else if (receiving.held > limits.heldBytes) {
      // Cut off without an answer, it counts as a failed connection and comes again.
      request.destroy();
    } else chunks.push(chunk);
  });
  request.on('end', () => {
    const [only, ...more] = chunks;
    const raw = only && more.length === 0 ? only : Buffer.concat(chunks);
    const path = request.url?.split('?', 1)[0];
    void decide(receiving, { headers: textsOf(request.headers), raw, response, path });
  });
  response.on('close', () => {
    receiving.held -= length;
  });
}

type Came = {
  readonly headers: Headers;
  readonly raw: Buffer;
  readonly response: ServerResponse;
  readonly path: string | undefined;
};

type Judged = { readonly verdict: Verdict; readonly account: string | undefined };

/** What fits no secret is judged once more with those that were stored meanwhile, for a 401 is never sent again. */
async function decide(receiving: Receiving, came: Came): Promise<void> {
  const { options, storing } = receiving;
  const { headers, raw, response, path } = came;
  const judged = (): Judged => {
    // An account that was taken out of the configuration meanwhile has no secret any more.
    const { account, secrets } = doorAt(options, path) ?? { account: undefined, secrets: [] };
    const isThere = (given: string): boolean => {
      const id = idOf(options, account, given);
      return options.inbox.has(id) || storing.has(id);
    };
    return { verdict: judge(headers, raw, secrets, isThere), account };
  };
  const first = judged();
  if (first.verdict.kind !== 'rejected' || first.verdict.why !== 'no-match' || !options.readSecrets) {
    take(receiving, came, first);
    return;
  }
  // Forged ones that wait may never keep out the good ones.
  const isCrowded = receiving.doubted >= mostConnections(options) / 2;
  receiving.doubted++;
  const isRead = !isCrowded && (await options.readSecrets());
  receiving.doubted--;
  if (!isRead || receiving.isClosed) cut(response);
  else take(receiving, came, judged());
}

const idOf = ({ idIn = idInInbox }: ReceiverOptions, account: string | undefined, id: string): string =>
  idIn(account, id);

function take(receiving: Receiving, { headers, raw, response }: Came, { verdict, account }: Judged): void {
  const { options, storing } = receiving;
  const at = options.clock.now().toISOString();
  const of = account === undefined ? {} : { account };
  if (verdict.kind === 'rejected') {
    answer(response, 401);
    options.onReceipt({ ...of, ...verdict, at, event: headers['x-svc-event'] ?? null });
    return;
  }
  if (verdict.kind === 'repeat') {
    // Its first copy may still be on the way to the disk, and may yet fail to get there.
    const { envelope } = verdict;
    void (storing.get(idOf(options, account, envelope.id)) ?? Promise.resolve('repeat' as const)).then((stored) => {
      finish(response, stored, () => options.onReceipt({ ...of, kind: 'repeat', at, envelope }));
    });
    return;
  }
  const event = verdict.kind === 'accepted' ? verdict.envelope.event : verdict.event;
  const id = idOf(options, account, verdict.kind === 'accepted' ? verdict.envelope.id : options.newId());
  const to = options.forwardTo?.(event);
  const sinks = options.sinksFor?.(event, account);
  const happened = verdict.kind === 'accepted' ? happeningOf(verdict.envelope) : undefined;
  const arrival: Arrival = {
    id,
    ...of,
    event,
    at,
    headers,
    body: raw,
    ...(verdict.kind === 'unreadable' && { unreadable: verdict.why }),
    ...(to !== undefined && { to }),
    ...(sinks && { sinks }),
    happening: happened === undefined ? null : ownedBy(account, happened),
  };
  const receipt: Receipt =
    verdict.kind === 'accepted'
      ? { ...of, kind: 'accepted', arrival, envelope: verdict.envelope }
      : { ...of, kind: 'unreadable', arrival, why: verdict.why };
  const stored = store(receiving, arrival);
  storing.set(id, stored);
  void stored.then((done) => {
    storing.delete(id);
    const isRepeat = done === 'repeat' && verdict.kind === 'accepted';
    const told: Receipt = isRepeat ? { ...of, kind: 'repeat', at, envelope: verdict.envelope } : receipt;
    finish(response, done, () => options.onReceipt(told));
  });
}

/** Tries until the service has given up on this attempt. */
async function store(receiving: Receiving, arrival: Arrival): Promise<Stored> {
  const { options, limits } = receiving;
  const { clock, inbox } = options;
  const until = clock.ticks() + limits.stallMs;
  for (;;) {
    try {
      const stored = await inbox.add(arrival);
      receiving.hasProblem = false;
      return stored === 'repeat' ? 'repeat' : 'stored';
    } catch (error) {
      if (!receiving.hasProblem) options.onProblem?.(error);
      receiving.hasProblem = true;
      if (receiving.isClosed || clock.ticks() >= until) return false;
      await clock.sleep(250);
    }
  }
}

function finish(response: ServerResponse, stored: Stored, then: () => void): void {
  if (!stored) {
    cut(response);
    return;
  }
  answer(response, 204);
  then();
}

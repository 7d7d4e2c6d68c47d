import { randomBytes } from 'node:crypto';
import type { WebhookEvent } from '../api/webhooks.ts';
import { noSuchPath, tooManyRequests } from './answer.ts';
import { answerApi } from './api.ts';
import { type Control, createControl } from './control.ts';
import { createDeliveries, type Deliveries, type SendOptions } from './deliveries.ts';
import { answerInstead, brokenPage, createFaults, type Fault } from './faults.ts';
import { addressLimit, createLimiter, generalLimit, type LimitMode, type Verdict } from './limits.ts';
import { createLog } from './log.ts';
import { answerOAuth } from './oauth.ts';
import type { Rows } from './records.ts';
import { seedRows } from './seed.ts';
import { deliveryStore, oauthOf, type State, stateOf } from './state.ts';
import type { StateFile } from './state-file.ts';

export type SandboxRequest = {
  readonly method: string;
  /** A path with its query, or a whole URL. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Uint8Array;
  /** Undefined where no socket is involved. */
  readonly remoteAddress?: string;
};

export type SandboxResponse = {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /**
   * A fault cuts the connection: `before` the request was processed, `after` it was, in both cases without an
   * answer; `half` sends the first half of the body only.
   */
  readonly cut?: 'before' | 'after' | 'half';
};

export type SandboxOptions = {
  readonly seed?: 'demo' | 'empty' | Partial<Rows>;
  readonly rateLimit?: LimitMode;
  readonly now?: () => Date;
  readonly random?: (bytes: number) => Uint8Array;
  readonly consent?: 'page' | 'auto';
  readonly allowHttpTargets?: boolean;
  readonly latencyMs?: number;
  /** Keeps the state beyond this process; without one it lives in memory. */
  readonly stateFile?: Pick<StateFile, 'state' | 'commit' | 'replace'>;
  readonly sleep?: (ms: number) => Promise<void>;
};

export type Sandbox = {
  handle(request: SandboxRequest): Promise<SandboxResponse>;
  /** Writes what has changed to the state file, as every request does before its answer. */
  keep(): Promise<void>;
  /** Ends what goes on by itself: webhook deliveries. */
  close(): Promise<void>;
  /** The sandbox's clock, which `POST clock` moves. */
  now(): Date;
};

/** All that one sandbox holds; `POST reset` fills it anew. */
export type World = {
  state: State;
  /** The whole state is another one, which the state file does not know yet. */
  isReplaced: boolean;
  seed: NonNullable<SandboxOptions['seed']>;
  readonly limiter: ReturnType<typeof createLimiter>;
  readonly log: ReturnType<typeof createLog>;
  readonly faults: ReturnType<typeof createFaults>;
  readonly now: () => Date;
  readonly random: (bytes: number) => Uint8Array;
  /** Webhooks on their way; of the present state, like all else. */
  deliveries: Deliveries;
  readonly emit: (event: WebhookEvent, account: number | undefined, data: object, options?: SendOptions) => number;
  /** As freshly started. */
  reset(): Promise<void>;
};

/** The whole service offline (product.md, section 10), without a socket: a request goes in, a response comes out. */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const realNow = options.now ?? (() => new Date());
  const sleep = options.sleep ?? ((ms: number) => new Promise<void>((done) => setTimeout(done, ms)));
  const seed = options.seed ?? 'empty';
  const world: World = {
    state: options.stateFile?.state ?? stateOf(seedRows(seed, realNow())),
    isReplaced: options.stateFile !== undefined && options.stateFile.state === undefined,
    seed,
    limiter: createLimiter(options.rateLimit ?? 'on'),
    log: createLog(),
    faults: createFaults(),
    now: () => new Date(realNow().getTime() + world.state.clockAheadMs),
    random: options.random ?? randomBytes,
    deliveries: undefined as unknown as Deliveries,
    emit(event, account, data, sending) {
      let count = 0;
      for (const subscription of world.state.rows.subscriptions.values()) {
        if (!subscription.is_active || subscription.event_type !== event) continue;
        if (account !== undefined && subscription.account_id !== account) continue;
        world.deliveries.send(subscription, event, data, sending);
        count++;
      }
      return count;
    },
    async reset() {
      await world.deliveries.stop();
      world.state = stateOf(seedRows(world.seed, realNow()));
      world.isReplaced = true;
      world.deliveries = deliver();
      world.limiter.clear();
      world.faults.clear();
      world.log.clear();
    },
  };
  const deliver = () =>
    createDeliveries({
      store: deliveryStore(world, keepSoon),
      now: world.now,
      random: world.random,
      allowHttpTargets: options.allowHttpTargets ?? false,
      isActive: (id) => world.state.rows.subscriptions.get(id)?.is_active ?? false,
    });
  world.deliveries = deliver();
  world.deliveries.resume();
  const control: Control = createControl(world);
  const formKey = Buffer.from(world.random(32)).toString('hex');

  async function handle(request: SandboxRequest): Promise<SandboxResponse> {
    try {
      const response = await answer(request);
      await keep();
      return response;
    } catch (error) {
      // The document's shape for a server failure; never a stack trace.
      const told = error instanceof Error ? error.message : String(error);
      return respond({ status: 500, body: { error: `The sandbox failed: ${told}` } }, quiet);
    }
  }

  /** Nobody is answered before what they did is kept. */
  async function keep(): Promise<void> {
    const { state } = world;
    if (options.stateFile && world.isReplaced) {
      world.isReplaced = false;
      await options.stateFile.replace(state);
    } else if (state.changed.size > 0) {
      if (options.stateFile) await options.stateFile.commit(state);
      else state.changed.clear();
    }
  }

  /** Deliveries end when no request is there to wait for them. */
  let isKeeping = false;
  function keepSoon(): void {
    if (isKeeping) return;
    isKeeping = true;
    setImmediate(() => {
      isKeeping = false;
      // A failure shows in the next request, which has to keep this too.
      keep().catch(() => {});
    });
  }

  async function answer(request: SandboxRequest): Promise<SandboxResponse> {
    const { path, search } = split(request.url);
    const body = typeof request.body === 'string' ? request.body : decode(request.body);
    if (path.startsWith('/_sandbox/')) {
      return respond(await control({ ...request, path, body }), quiet);
    }

    const fault = world.faults.meet(request.method, path);
    const waitMs = (options.latencyMs ?? 0) + (fault?.action === 'delay' ? (fault.ms ?? 0) : 0);
    if (waitMs > 0) await sleep(waitMs);
    const note = (status: number | null, credential: string | null) =>
      world.log.add({
        at: world.now().toISOString(),
        method: request.method,
        path,
        query: search,
        status,
        credential,
        body,
        fault: fault?.action,
      });

    if (fault?.action === 'drop-before') {
      note(null, null);
      return { status: 0, headers: {}, body: '', cut: 'before' };
    }
    if (fault?.action === 'status' || fault?.action === 'rate-limit') {
      const answer = answerInstead(fault);
      note(answer.status, null);
      return respond(answer, quiet);
    }

    const address = request.remoteAddress ?? 'local';
    if (path.startsWith('/oauth/platform/')) {
      const verdict = world.limiter.take([{ key: `oauth ${address}`, limit: addressLimit }], world.now().getTime());
      const answer = verdict.retryAfter === undefined ? oauth(request, body) : tooMany(verdict.retryAfter);
      note(answer.status, null);
      return spoil(respond(answer, verdict), fault);
    }

    const answer = await answerApi(
      {
        state: world.state,
        limiter: world.limiter,
        now: world.now(),
        emit: world.emit,
        random: world.random,
        allowHttpTargets: options.allowHttpTargets ?? false,
      },
      { method: request.method, path, search, headers: request.headers, body, address },
    );
    note(answer.status, answer.credential?.kind ?? null);
    return spoil(respond(answer, answer.verdict), fault);
  }

  function oauth(request: SandboxRequest, body: string) {
    const answer = answerOAuth(
      oauthOf(world.state),
      {
        method: request.method,
        url: absolute(request),
        headers: request.headers,
        body: typeof request.body === 'string' ? encoder.encode(body) : (request.body ?? new Uint8Array()),
      },
      {
        now: world.now(),
        random: world.random,
        accounts: [...world.state.rows.accounts.values()],
        consent: options.consent ?? 'page',
        formKey,
      },
    );
    return answer ?? { status: 404, body: noSuchPath.body };
  }

  /** Rate headers are on every response; the Date is the sandbox's own, as are all times in its bodies. */
  function respond(
    answer: { status: number; body: object | string; headers?: Readonly<Record<string, string>> },
    { limit, remaining }: Verdict,
  ): SandboxResponse {
    return {
      status: answer.status,
      headers: {
        'content-type': 'application/json',
        date: httpDate(world.now()),
        'x-ratelimit-limit': String(limit),
        'x-ratelimit-remaining': String(remaining),
        ...answer.headers,
      },
      body: typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body),
    };
  }

  return {
    handle,
    keep,
    now: world.now,
    async close() {
      await world.deliveries.stop();
      await keep();
    },
  };
}

/** For answers that no limit was asked about. */
const quiet: Verdict = { limit: generalLimit, remaining: generalLimit };

function spoil(response: SandboxResponse, fault: Fault | undefined): SandboxResponse {
  switch (fault?.action) {
    case 'drop-after':
      return { ...response, cut: 'after' };
    case 'truncate':
      return { ...response, cut: 'half' };
    case 'malformed':
      return { ...response, status: fault.status ?? response.status, body: `{"oops": ${response.body.slice(0, 20)}` };
    case 'html': {
      const headers = { ...response.headers, 'content-type': 'text/html; charset=utf-8' };
      return { status: fault.status ?? response.status, headers, body: brokenPage };
    }
    default:
      return response;
  }
}

function split(url: string): { path: string; search: string } {
  const from = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
  const mark = url.indexOf('?', from);
  if (from < 0) return { path: '/', search: mark < 0 ? '' : url.slice(mark + 1) };
  const end = url.indexOf('#', from);
  const last = end < 0 ? url.length : end;
  if (mark < 0 || mark > last) return { path: url.slice(from, last), search: '' };
  return { path: url.slice(from, mark), search: url.slice(mark + 1, last) };
}

const tooMany = (retryAfter: number) => {
  const { refused, body, headers } = tooManyRequests(retryAfter);
  return { status: refused, body, headers };
};

/** Some clients send a Host that is none. */
function absolute({ url, headers: { host = '' } }: SandboxRequest): URL {
  const base = `http://${host}`;
  return new URL(url, URL.canParse(base) ? base : 'http://127.0.0.1');
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const decode = (body: Uint8Array | undefined): string => (body === undefined ? '' : decoder.decode(body));

let lastSecond = 0;
let lastDate = '';
function httpDate(now: Date): string {
  const second = Math.floor(now.getTime() / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastDate = now.toUTCString();
  }
  return lastDate;
}

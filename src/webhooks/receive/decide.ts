import type { IncomingMessage, ServerResponse } from 'node:http';
import { idInInbox, ownedBy } from '../event/account.ts';
import { accountOf, type Headers } from '../event/envelope.ts';
import { happeningOf } from '../event/record-key.ts';
import type { Arrival } from '../store/line.ts';
import type { Refusing } from '../store/recovery.ts';
import { judge, type Verdict } from './judge.ts';
import type { Limits } from './limits.ts';
import { doorAt, mostConnections, type Receipt, type ReceiverOptions } from './options.ts';

/** False where the inbox refused all along. */
type Stored = 'stored' | 'repeat' | false;

/** A receiver at work. */
export type Receiving = {
  readonly options: ReceiverOptions;
  readonly limits: Limits;
  /** By id: deliveries on their way to the disk, and whether they got there. */
  readonly storing: Map<string, Promise<Stored>>;
  /** Bytes of bodies in memory. */
  held: number;
  /** Deliveries that wait for the secrets to be read again. */
  doubted: number;
  hasProblem: boolean;
  /** When a delivery was not taken last, by the clock's ticks; and how many are being tried again. */
  refusedAt: number;
  refused: number;
  /** Nobody is left to be answered. */
  isClosed: boolean;
};

type Came = {
  readonly headers: Headers;
  readonly raw: Buffer;
  readonly response: ServerResponse;
  readonly path: string;
};

type Judged = { readonly verdict: Verdict; readonly account: string | undefined };

/** What fits no secret is judged once more with those that were stored meanwhile, for a 401 is never sent again. */
export function decide(receiving: Receiving, came: Came): void {
  const first = judged(receiving, came);
  const isDoubtful = first.verdict.kind === 'rejected' && first.verdict.why === 'no-match';
  if (isDoubtful && receiving.options.readSecrets) void decideAgain(receiving, came, receiving.options.readSecrets);
  else take(receiving, came, first);
}

async function decideAgain(
  receiving: Receiving,
  came: Came,
  readSecrets: NonNullable<ReceiverOptions['readSecrets']>,
): Promise<void> {
  // Forged ones that wait may never keep out the good ones.
  const isCrowded = receiving.doubted >= mostConnections(receiving.options) / 2;
  receiving.doubted++;
  const isRead = !isCrowded && (await readSecrets());
  receiving.doubted--;
  if (!isRead || receiving.isClosed) cut(came.response);
  else take(receiving, came, judged(receiving, came));
}

function judged({ options, storing }: Receiving, { headers, raw, path }: Came): Judged {
  // An account that was taken out of the configuration meanwhile has no secret any more.
  const { account, secrets } = doorAt(options, path) ?? { account: undefined, secrets: [] };
  const isThere = (given: string): boolean => {
    const id = idOf(options, account, given);
    return options.inbox.has(id) || storing.has(id);
  };
  return { verdict: ofAccount(options, judge(headers, raw, secrets, isThere)), account };
}

/** A subscription outlives its login, and its secret stays: what comes by it later is not for the app of another account. */
function ofAccount({ account }: ReceiverOptions, verdict: Verdict): Verdict {
  const theirs = 'envelope' in verdict ? accountOf(verdict.envelope) : undefined;
  const isOther = account !== undefined && theirs !== undefined && theirs !== account;
  return isOther ? { kind: 'rejected', why: 'other-account' } : verdict;
}

const idOf = ({ idIn = idInInbox }: ReceiverOptions, account: string | undefined, id: string): string =>
  idIn(account, id);

function take(receiving: Receiving, { headers, raw, response }: Came, { verdict, account }: Judged): void {
  const { options, storing } = receiving;
  const at = options.clock.now().toISOString();
  if (verdict.kind === 'rejected') {
    answer(response, 401);
    options.onReceipt({ account, ...verdict, at, event: headers['x-svc-event'] ?? null });
    return;
  }
  if (verdict.kind === 'repeat') {
    // Its first copy may still be on the way to the disk, and may yet fail to get there.
    const { envelope } = verdict;
    void (storing.get(idOf(options, account, envelope.id)) ?? Promise.resolve('repeat' as const)).then((stored) => {
      finish(response, stored, () => options.onReceipt({ account, kind: 'repeat', at, envelope }));
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
    ...(account !== undefined && { account }),
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
      ? { account, kind: 'accepted', arrival, envelope: verdict.envelope }
      : { account, kind: 'unreadable', arrival, why: verdict.why };
  const stored = store(receiving, arrival);
  storing.set(id, stored);
  void stored.then((done) => {
    storing.delete(id);
    const isRepeat = done === 'repeat' && verdict.kind === 'accepted';
    const told: Receipt = isRepeat ? { account, kind: 'repeat', at, envelope: verdict.envelope } : receipt;
    finish(response, done, () => options.onReceipt(told));
  });
}

/** Tries until the service has given up on this attempt. */
async function store(receiving: Receiving, arrival: Arrival): Promise<Stored> {
  const { options, limits } = receiving;
  const { clock, inbox } = options;
  const until = clock.ticks() + limits.stallMs;
  let isRefused = false;
  try {
    for (;;) {
      try {
        const stored = await inbox.add(arrival);
        // A large one may still find no room.
        if (receiving.refused === (isRefused ? 1 : 0)) noProblem(receiving);
        return stored === 'repeat' ? 'repeat' : 'stored';
      } catch (error) {
        receiving.refusedAt = clock.ticks();
        if (!isRefused) receiving.refused++;
        isRefused = true;
        if (!receiving.hasProblem) options.onProblem?.(error, refusing(receiving));
        receiving.hasProblem = true;
        if (receiving.isClosed || clock.ticks() >= until) return false;
        await clock.sleep(250);
      }
    }
  } finally {
    if (isRefused) receiving.refused--;
  }
}

function noProblem(receiving: Receiving): void {
  receiving.hasProblem = false;
  receiving.refusedAt = Number.NEGATIVE_INFINITY;
}

/** So long after the last one that was not taken the inbox counts as one that refuses. */
const refusingMs = 3_000;

const refusing = (receiving: Receiving): Refusing => ({
  isOn: () => receiving.refused > 0 || receiving.options.clock.ticks() - receiving.refusedAt < refusingMs,
  over: () => noProblem(receiving),
});

function finish(response: ServerResponse, stored: Stored, then: () => void): void {
  if (!stored) {
    cut(response);
    return;
  }
  answer(response, 204);
  then();
}

export function answer(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, headers).end();
}

/** Without an answer it counts as a failed connection and comes again (service.md#delivery-2). */
function cut(response: ServerResponse): void {
  response.socket?.destroy();
}

/** Answers while the sender is still sending: closing at once would reset the connection and lose the answer. */
export function tooLarge(request: IncomingMessage): void {
  const { socket } = request;
  request.resume();
  socket.end('HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  setTimeout(() => socket.destroy(), 1_000).unref();
}

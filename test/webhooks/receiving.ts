import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sign } from '../../src/api/signature.ts';
import type { Receipt, ReceiverOptions } from '../../src/webhooks/receive/options.ts';
import { startReceiver } from '../../src/webhooks/receive/receiver.ts';
import type { Arrival } from '../../src/webhooks/store/line.ts';

export const secret = 'sample-secret';
/** Whoever starts something here calls `endAfterEach` with it. */
export const endings: (() => unknown)[] = [];

/** A receiver on a free port, and what it did. */
export async function receiver(more: Partial<ReceiverOptions> = {}) {
  const stored = new Map<string, Arrival>();
  const receipts: Receipt[] = [];
  const problem: unknown[] = [];
  let ids = 0;
  const running = await startReceiver({
    port: 0,
    doors: () => [{ path: '/', secrets: [secret] }],
    inbox: {
      has: (id) => stored.has(id),
      add: async (arrival) => {
        stored.set(arrival.id, arrival);
      },
    },
    clock: { now: () => new Date(), ticks: () => performance.now(), sleep: (ms) => sleep(ms) as Promise<void> },
    newId: () => `unreadable_${++ids}`,
    onReceipt: (receipt) => receipts.push(receipt),
    onProblem: (error) => problem.push(error),
    ...more,
  });
  endings.push(() => running.close());
  return { ...running, stored, receipts, problem };
}

export const envelope = (id: string, more: object = {}) =>
  JSON.stringify({
    event: 'ticket.created',
    id,
    created_at: '2026-01-02T03:04:05+00:00',
    data: { ticket_id: 7 },
    ...more,
  });

/** A delivery as it goes over the wire; a header that is empty is left out. */
export function post(
  body: string | Uint8Array,
  headers: Record<string, string> = {},
  { method = 'POST', path = '/' } = {},
) {
  const bytes = Buffer.from(body as string);
  const all: Record<string, string> = {
    host: 'example.com',
    'content-type': 'application/json',
    'x-svc-event': 'ticket.created',
    'x-svc-signature': sign(secret, bytes),
    'content-length': String(bytes.length),
    ...headers,
  };
  const lines = Object.entries(all)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), bytes]);
}

/** A raw connection: what came so far, and when it ended. */
export function dial(port: number) {
  const socket = connect(port, '127.0.0.1');
  endings.push(() => socket.destroy());
  const state = { text: '', closed: false };
  socket.on('data', (chunk) => {
    state.text += chunk;
  });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      state.closed = true;
      resolve();
    });
  });
  const statuses = () => [...state.text.matchAll(/HTTP\/1\.1 (\d+)/gu)].map((match) => Number(match[1]));
  const answered = async (count = 1) => {
    while (statuses().length < count && !state.closed) await sleep(5);
    return statuses();
  };
  return { socket, closed, statuses, answered, state };
}

export async function send(port: number, request: Uint8Array): Promise<number | undefined> {
  const line = dial(port);
  line.socket.write(request);
  const [status] = await line.answered();
  line.socket.destroy();
  return status;
}

/** An inbox that stores nothing before it is told to, and how many deliveries have come to it. */
export function holding() {
  const asked: string[] = [];
  let begun: () => void = () => {};
  const begins = new Promise<void>((resolve) => {
    begun = resolve;
  });
  let [store, refuse]: [() => void, (error: Error) => void] = [() => {}, () => {}];
  const inbox: ReceiverOptions['inbox'] = {
    has(id) {
      asked.push(id);
      return false;
    },
    add: () =>
      new Promise<void>((resolve, reject) => {
        [store, refuse] = [resolve, reject];
        begun();
      }),
  };
  return { inbox, asked, begins, store: () => store(), refuse: (error: Error) => refuse(error) };
}

export const trickle = (socket: Socket, bytes: Uint8Array, everyMs: number) => {
  let at = 0;
  const timer = setInterval(() => {
    if (socket.destroyed || at >= bytes.length) clearInterval(timer);
    else socket.write(bytes.subarray(at, ++at));
  }, everyMs);
  endings.push(() => clearInterval(timer));
};

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from '../../context.ts';
import { Failure, orElse } from '../../errors.ts';
import { closedNow } from '../../promise/closed.ts';
import { isSameSecret } from '../../text/digest.ts';
import { isTaken } from '../deliver/post.ts';
import { replay, replayOutcome } from '../deliver/replay.ts';
import { parseTarget } from '../deliver/routes.ts';
import { mainFields } from '../event/main-fields.ts';
import { listen } from '../receive/listening.ts';
import { deliveryOf } from '../store/delivery.ts';
import { type EventLine, type Line, pastLine } from '../store/event-line.ts';
import type { Inbox } from '../store/folder/inbox.ts';
import type { Replayed } from '../store/folder/requests.ts';
import client from './client.js?raw';
import html from './page.html?raw';
import style from './style.css?raw';

export type InspectorOptions = Pick<Context, 'exchange' | 'clock'> & {
  readonly port: number;
  /** Made for this run, and part of the page's address: otherwise every user of this machine could open it. */
  readonly key: string;
  /** Called when a browser has got the page. */
  readonly visited?: () => void;
  readonly inbox: Pick<Inbox, 'read' | 'latest' | 'settle'>;
  /** Whether a replay that was taken ended what waited there. */
  readonly passed?: (replayed: Replayed) => Promise<boolean>;
  /** For a replay. */
  readonly timeoutMs: number;
  /** Where an event goes by default. */
  readonly target: (event: string | null) => string | undefined;
  /** The receiver's URL, to show. */
  readonly listening: string;
  readonly watch: (watcher: (line: Line) => void) => void;
};

/** How much of the past a page begins with. */
const history = 500;
/** A page that does not keep up is cut off; it connects again and starts from scratch. */
const mostUnsent = 8 * 1024 * 1024;
/** Larger payloads are fetched when somebody looks at them. */
const largestInline = 16 * 1024;

/** An inspector at work. */
type Inspecting = InspectorOptions & {
  /** The open streams, and of one that is still being told of the past what came meanwhile. */
  readonly pages: Map<ServerResponse, Slim[] | undefined>;
  /** Cuts off what is being replayed. */
  readonly closing: AbortController;
  /** What the Host of a request may be: known once it listens. */
  own: readonly string[];
};

/** The page that shows deliveries as they come. For this machine's own browser alone. */
export async function startInspector(options: InspectorOptions): Promise<{ url: string; close(): Promise<void> }> {
  const server = process.getBuiltinModule('node:http').createServer();
  const inspecting: Inspecting = { ...options, pages: new Map(), closing: new AbortController(), own: [] };
  const { pages } = inspecting;

  server.on('request', (request, response) => {
    // A page that has gone while it was written to must not end svc.
    response.on('error', () => {});
    serve(inspecting, request, response).catch((error) => {
      if (response.headersSent) response.destroy();
      else if (error instanceof Failure) json(response, 422, { error: error.message });
      else json(response, 500, { error: 'That did not work.' });
    });
  });
  options.watch((line) => {
    const slimmed = slim(line);
    for (const [page, waiting] of pages) {
      if (waiting) waiting.push(slimmed);
      else if (page.writableLength > mostUnsent) page.destroy();
      else tell(page, 'line', slimmed);
    }
  });
  // Keeps the connection, and shows the page that svc has gone.
  const heartbeat = setInterval(() => {
    for (const page of pages.keys()) page.write(': \n\n');
  }, 15_000);
  heartbeat.unref();

  const port = await listenNear(server, options.port);
  inspecting.own = [`127.0.0.1:${port}`, `localhost:${port}`];
  return {
    url: `http://127.0.0.1:${port}/?key=${options.key}`,
    close() {
      inspecting.closing.abort();
      clearInterval(heartbeat);
      return closedNow(server);
    },
  };
}

async function serve(inspecting: Inspecting, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { own, key } = inspecting;
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (!isOwn(request, own, pathname)) return plain(response, 403, 'Only the inspector page may do this.');
  if (!isSameSecret(searchParams.get('key') ?? '', key)) return plain(response, 403, keyless);
  const asset = assets[pathname];
  const [, kind, id = '', action] = pathname.split('/').map((part) => orElse(() => decodeURIComponent(part), part));
  if (asset && request.method === 'GET') {
    send(response, 200, asset.type, asset.text(key));
    if (pathname === '/') inspecting.visited?.();
  } else if (pathname === '/stream' && request.method === 'GET') await stream(inspecting, response);
  else if (kind === 'deliveries' && action === undefined && request.method === 'GET') {
    await show(inspecting, response, id);
  } else if (kind === 'deliveries' && action === 'replay' && request.method === 'POST') {
    await replayTo(inspecting, response, id, await readJson(request));
  } else plain(response, asset ? 405 : 404, 'Nothing here.');
}

async function stream({ inbox, listening, pages }: Inspecting, response: ServerResponse): Promise<void> {
  response.writeHead(200, { ...security, 'content-type': 'text/event-stream; charset=utf-8' });
  const waiting: Slim[] = [];
  pages.set(response, waiting);
  response.on('close', () => pages.delete(response));
  const past = await Promise.all((await inbox.latest(history)).map((id) => inbox.read(id)));
  const lines = past.flatMap((received) => (received ? [slim(pastLine(received))] : []));
  tell(response, 'hello', { listening, lines });
  const known = new Set(past.map((received) => received?.arrival.id));
  const isTold = (line: Slim) => line.kind === 'event' && isStored(line) && known.has(line.id ?? undefined);
  for (const line of waiting) if (!isTold(line)) tell(response, 'line', line);
  if (pages.has(response)) pages.set(response, undefined);
}

const isStored = ({ verdict }: Pick<EventLine, 'verdict'>): boolean =>
  verdict === 'accepted' || verdict === 'unreadable';

async function show({ inbox, target }: Inspecting, response: ServerResponse, id: string): Promise<void> {
  const received = await inbox.read(id);
  if (!received) return json(response, 404, { error: 'This event is no longer in the inbox.' });
  const to = target(received.arrival.event) ?? received.outcomes.at(-1)?.to ?? null;
  json(response, 200, { ...deliveryOf(received), to });
}

async function replayTo(
  { inbox, passed, target, exchange, clock, timeoutMs, closing }: Inspecting,
  response: ServerResponse,
  id: string,
  asked: { readonly to?: unknown },
): Promise<void> {
  const received = await inbox.read(id);
  if (!received) return json(response, 404, { error: 'This event is no longer in the inbox.' });
  const given = typeof asked.to === 'string' && asked.to.trim() !== '' ? parseTarget(asked.to, 'The URL') : undefined;
  const to = given ?? target(received.arrival.event) ?? received.outcomes.at(-1)?.to;
  if (to === undefined) return json(response, 422, { error: 'Where to? Give a URL.' });
  const replayed = await replay({ exchange, clock }, received, { to, timeoutMs, signal: closing.signal });
  const { replay: byHand, ...outcome } = replayOutcome(replayed, clock.now());
  const isPassed = isTaken(replayed) && (await passed?.({ id, outcome }).catch(() => false));
  if (!isPassed) await inbox.settle(id, { ...outcome, replay: byHand }).catch(() => {});
  json(response, 200, replayed);
}

/** The port that was asked for, or any free one: the page's address is printed. */
function listenNear(server: Parameters<typeof listen>[0], port: number): Promise<number> {
  const hint = 'Choose another with --inspect-port.';
  return listen(server, { port, hint }).catch((error) => {
    if (port === 0) throw error;
    return listen(server, { port: 0, hint });
  });
}

/**
 * Only a page that this server gave may ask: a name that was made to point here (DNS rebinding) shows in Host, another
 * site in Origin, and browsers tell by themselves where a request without Origin comes from. The page itself, which
 * holds nothing, may be opened from elsewhere: the file that leads a browser here is another site for it.
 */
function isOwn({ headers, method }: IncomingMessage, own: readonly string[], pathname: string): boolean {
  const { host = '', origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = headers;
  if (!own.includes(host.toLowerCase())) return false;
  if (origin !== undefined && origin !== `http://${host.toLowerCase()}`) return false;
  const opensPage = method === 'GET' && pathname === '/' && mode === 'navigate' && destination === 'document';
  if (opensPage) return true;
  return site === undefined || site === 'same-origin' || site === 'none';
}

const keyless = 'Open the address that svc webhooks listen printed: it holds the key of this run.';

const security = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

const send = (response: ServerResponse, status: number, type: string, text: string): void => {
  response.writeHead(status, { ...security, 'content-type': type }).end(text);
};
const plain = (response: ServerResponse, status: number, text: string): void =>
  send(response, status, 'text/plain; charset=utf-8', `${text}\n`);
const json = (response: ServerResponse, status: number, value: unknown): void =>
  send(response, status, 'application/json; charset=utf-8', JSON.stringify(value));

/** JSON has no line breaks of its own, so one data line holds it. */
const tell = (page: ServerResponse, event: string, value: unknown): void => {
  page.write(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`);
};

type Slim = ReturnType<typeof slim>;

/** With the fields that a person looks for; without a payload that is large. */
function slim(line: Line) {
  if (line.kind !== 'event') return line;
  const isLarge = (JSON.stringify(line.data)?.length ?? 0) > largestInline;
  return { ...line, summary: mainFields(line.event, line.data).slice(0, 300), ...(isLarge && { data: null }) };
}

async function readJson(request: IncomingMessage): Promise<{ readonly to?: unknown }> {
  let text = '';
  for await (const chunk of request) {
    text += chunk;
    if (text.length > 8_192) throw new Failure('usage', 'The request is too large.');
  }
  try {
    return (text === '' ? {} : JSON.parse(text)) ?? {};
  } catch {
    throw new Failure('usage', 'That is not JSON.');
  }
}

/** What the inspector's page is made of, for the key of this run. Everything comes from here: it needs no network. */
const assets: Readonly<Record<string, { readonly type: string; readonly text: (key: string) => string }>> = {
  '/': { type: 'text/html; charset=utf-8', text: (key) => html.replaceAll('?key', `?key=${encodeURIComponent(key)}`) },
  '/client.js': { type: 'text/javascript; charset=utf-8', text: () => client },
  '/style.css': { type: 'text/css; charset=utf-8', text: () => style },
};

import { readdir, readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import type { Stored } from '../../src/auth/credentials.ts';
import { type Keyring, openStore } from '../../src/auth/store-file.ts';
import type { Clock, Exchange, HttpRequest, HttpResponse, Lost } from '../../src/context.ts';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/app.ts';
import { clients } from '../../src/sandbox/store/seed.ts';
import { freePort } from '../free-port.ts';
import { createWorld, type Ran, type RunOptions, svc, type World } from '../svc.ts';

export const origin = 'https://service.test';

/** Short waits pass at once; the five minutes of a login only when the test lets them pass. */
type LoginClock = Clock & {
  advance(ms: number): void;
  /** Somebody sets the wall clock by so much; time itself goes on as before. */
  set(ms: number): void;
  /** Resolves once somebody waits for long. */
  readonly longWait: Promise<void>;
};

function loginClock(): LoginClock {
  let now = Date.parse('2026-03-01T12:00:00.000Z');
  let wallAhead = 0;
  let begun: () => void = () => {};
  const longWait = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const waiting = new Set<{ at: number; wake: () => void }>();
  return {
    now: () => new Date(now + wallAhead),
    ticks: () => now,
    longWait,
    async sleep(ms, signal) {
      if (ms < 60_000) {
        // Of several that sleep at once, each wakes at its own time: their sleeps do not add up.
        const end = now + ms;
        await new Promise<void>((resolve) => setImmediate(resolve));
        now = Math.max(now, end);
        return;
      }
      await new Promise<void>((resolve) => {
        const one = { at: now + ms, wake: resolve };
        waiting.add(one);
        begun();
        signal?.addEventListener('abort', () => resolve(), { once: true });
      });
    },
    set(ms) {
      wallAhead += ms;
    },
    advance(ms) {
      now += ms;
      for (const { at, wake } of waiting) if (at <= now) wake();
    },
  };
}

type Answer = HttpResponse | Lost | undefined;

export type AuthWorld = World & {
  readonly clock: LoginClock;
  readonly redirectUri: string;
  /** `METHOD /path credential`, in order. */
  readonly sent: { readonly what: string; readonly authorization: string | undefined; readonly body: string }[];
  /** Answers in place of the service what it does not return undefined for. */
  override: ((request: HttpRequest) => Answer | Promise<Answer>) | undefined;
  /** Told of each request before the service. */
  watch: ((request: HttpRequest) => Promise<void>) | undefined;
  control(name: string, body?: unknown): Promise<Record<string, unknown>>;
  /** All that the service holds. */
  state(): Promise<Record<string, unknown>>;
  /** The consent page's redirect: where the browser is sent to. */
  consent(url: URL): Promise<URL>;
  svc(argv: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Everything below the config and state folders, as one text. */
  written(): Promise<string>;
};

/** svc beside a sandbox that consents by itself, with a registered redirect URI on a port that is free. */
export async function authWorld(options: SandboxOptions = {}): Promise<AuthWorld> {
  const clock = loginClock();
  const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
  const seed = { clients: clients.map((client) => ({ ...client, redirect_uris: [redirectUri] })) };
  const sandbox = createSandbox({ seed, now: () => clock.now(), consent: 'auto', rateLimit: 'off', ...options });
  const sent: AuthWorld['sent'] = [];
  const through: Exchange = async ({ method, url, headers, body }) => {
    const path = url.replace(origin, '');
    const { cut, ...answer } = await sandbox.handle({
      method,
      url: path,
      headers: { host: 'service.test', ...headers },
      body,
    });
    return cut ? { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' } : answer;
  };
  const exchange: Exchange = async (request) => {
    const { method, url, headers, body } = request;
    sent.push({
      what: `${method} ${url.replace(origin, '')}`,
      authorization: headers.authorization,
      body: String(body ?? ''),
    });
    await world.watch?.(request);
    return (await world.override?.(request)) ?? through(request);
  };
  const world: AuthWorld = {
    ...createWorld(exchange, { clock, env: { SVC_BASE_URL: origin, SVC_AUTH_URL: origin, ...client } }),
    clock,
    redirectUri,
    sent,
    override: undefined,
    watch: undefined,
    async control(name, body) {
      const answer = await sandbox.handle({
        method: 'POST',
        url: `/_sandbox/${name}`,
        headers: { host: '127.0.0.1', 'content-type': 'application/json' },
        body: JSON.stringify(body ?? {}),
      });
      if (answer.status >= 300) throw new Error(`${name}: ${answer.status} ${answer.body}`);
      return JSON.parse(answer.body) as Record<string, unknown>;
    },
    async state() {
      const headers = { host: '127.0.0.1' };
      return JSON.parse((await sandbox.handle({ method: 'GET', url: '/_sandbox/state', headers })).body);
    },
    async consent(url) {
      const answer = await sandbox.handle({
        method: 'GET',
        url: url.pathname + url.search,
        headers: { host: url.host },
      });
      return new URL(answer.headers.location ?? `${answer.status} ${answer.body}`);
    },
    svc: (argv, given) => svc(world, argv, given),
    written: () => contents(world.folder),
  };
  return world;
}

export const lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' } as const;

/** The service does what it is asked to, and that comes in place of its answer. Returns how often it was asked. */
export function loseAnswersOf(world: AuthWorld, path: string, instead: Answer = lost): () => number {
  let [asked, isUnderWay] = [0, false];
  world.override = async (request) => {
    if (isUnderWay || !request.url.endsWith(path)) return undefined;
    asked += 1;
    isUnderWay = true;
    await world.exchange(request).finally(() => {
      isUnderWay = false;
    });
    return instead;
  };
  return () => asked;
}

export const storeOf = ({ folder, clock }: AuthWorld, keyring?: Keyring) =>
  openStore({
    folder: `${folder}/config`,
    clock,
    random: (bytes) => new Uint8Array(bytes),
    warn: () => {},
    ...(keyring && { keyring }),
  });

export const loginOf = async (world: AuthWorld): Promise<Stored<'oauth'> | undefined> => {
  const text = await storeOf(world).read('profile/default/oauth');
  return text === undefined ? undefined : JSON.parse(text);
};

/** A profile with a login that came an hour ago less `left` seconds. */
export async function loggedIn({ left = 3600, scopes = ['identity', 'contacts:read'] } = {}): Promise<AuthWorld> {
  const world = await authWorld();
  const grant = await world.control('tokens', { account_id: 1, scopes });
  const issued = world.clock.now().getTime();
  const login = {
    base_url: origin,
    auth_url: origin,
    client_id: 'sandbox_cli',
    access_token: grant.access_token,
    refresh_token: grant.refresh_token,
    issued_at: new Date(issued).toISOString(),
    expires_at: new Date(issued + 3600_000).toISOString(),
    scopes,
  };
  const client = { auth_url: origin, client_id: 'sandbox_cli', client_secret: 'sandbox_secret' };
  const store = storeOf(world);
  await store.update('profile/default/oauth', async () => JSON.stringify(login));
  await store.update('profile/default/client', async () => JSON.stringify(client));
  world.clock.advance((3600 - left) * 1000);
  return world;
}

const client = { SVC_CLIENT_ID: 'sandbox_cli', SVC_CLIENT_SECRET: 'sandbox_secret' };

export type Seen = { readonly status: number; readonly headers: Record<string, unknown>; readonly body: string };

/** What a browser, or a stranger, would see at that address. */
export function visit(url: URL | string, { method = 'GET', headers = {} } = {}): Promise<Seen> {
  return new Promise((resolve, reject) => {
    get(url, { method, headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    }).once('error', reject);
  });
}

async function contents(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map(async (path) => `${path}\n${await readFile(path, 'utf8')}`))).join('\n');
}

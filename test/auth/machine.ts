import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../src/auth/store-file.ts';
import { createSandbox } from '../../src/sandbox/app.ts';
import { serve } from '../../src/sandbox/server.ts';

type Ended = { readonly code: number | null; readonly stderr: string };
export type Started = { readonly child: ChildProcess; readonly ended: Promise<Ended>; readonly stderr: () => string };

/** A home for real processes of svc, and the service that they ask. */
export type Machine = {
  /** The config folder. */
  readonly config: string;
  /** Requests to the token endpoint so far. */
  asked: number;
  /** What each answer of the token endpoint waits for. The service has acted by then. */
  beforeAnswer: () => Promise<unknown>;
  /** Holds the answers of the token endpoint back, until what this returns is called. */
  holdAnswers(): () => void;
  control(method: string, name: string, body?: unknown): Promise<Readonly<Record<string, unknown>>>;
  /** Saves a login whose access token has ended. */
  expiredLogin(): Promise<void>;
  start(command: string, ...args: readonly string[]): Started;
  /** Ends every process that was started, and the service. */
  close(): Promise<void>;
};

export async function openMachine(within: string): Promise<Machine> {
  const sandbox = createSandbox({ rateLimit: 'off' });
  const server = await serve({ ...sandbox, handle }, 0);
  const origin = `http://127.0.0.1:${server.port}`;
  const home = await mkdtemp(join(within, 'home-'));
  const config = join(home, 'config');
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    SVC_CONFIG_DIR: config,
    SVC_STATE_DIR: join(home, 'state'),
    SVC_TOKEN_STORE: 'file',
    SVC_BASE_URL: origin,
    SVC_AUTH_URL: origin,
  };
  const children: ChildProcess[] = [];
  const ends: Promise<Ended>[] = [];
  const machine: Machine = {
    config,
    asked: 0,
    beforeAnswer: async () => {},
    holdAnswers() {
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      machine.beforeAnswer = () => released;
      return release;
    },
    async control(method, name, body) {
      const answer = await sandbox.handle({
        method,
        url: `/_sandbox/${name}`,
        headers: { host: '127.0.0.1', 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      return JSON.parse(answer.body);
    },
    async expiredLogin() {
      const grant = await machine.control('POST', 'tokens', { account_id: 1, expires_in: 0 });
      await save(config, origin, grant);
    },
    start(command, ...args) {
      const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
      children.push(child);
      let stderr = '';
      child.stderr.on('data', (text) => {
        stderr += text;
      });
      const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, stderr })));
      ends.push(ended);
      return { child, ended, stderr: () => stderr };
    },
    async close() {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(ends);
      await server.close();
    },
  };
  return machine;

  async function handle(request: Parameters<typeof sandbox.handle>[0]) {
    const isRefresh = request.url.endsWith('/oauth/platform/token');
    if (isRefresh) machine.asked++;
    // The service acts at once; only its answer is late.
    const answer = await sandbox.handle(request);
    if (isRefresh) await machine.beforeAnswer();
    return answer;
  }
}

async function save(config: string, origin: string, grant: Readonly<Record<string, unknown>>): Promise<void> {
  const store = openStore({
    folder: config,
    clock: { sleep: (ms) => sleep(ms), ticks: () => performance.now() },
    random: () => new Uint8Array(6),
    warn: () => {},
  });
  const login = {
    base_url: origin,
    auth_url: origin,
    client_id: 'sandbox_cli',
    access_token: grant.access_token,
    refresh_token: grant.refresh_token,
    issued_at: '2020-01-01T00:00:00.000Z',
    expires_at: '2020-01-01T01:00:00.000Z',
    scopes: [],
  };
  const client = { auth_url: origin, client_id: 'sandbox_cli', client_secret: 'sandbox_secret' };
  await store.update('profile/default/oauth', async () => JSON.stringify(login));
  await store.update('profile/default/client', async () => JSON.stringify(client));
}

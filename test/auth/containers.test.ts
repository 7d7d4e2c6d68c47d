import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openStore } from '../../src/auth/store-file.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/app.ts';
import { type Server, serve } from '../../src/sandbox/server.ts';
import { type Built, buildSvc } from '../built.ts';
import { allowed } from '../real-machine.ts';

const container = ['--pid', '--fork', '--mount-proc', '--kill-child'] as const;
const inContainers = allowed('A PID namespace', 'unshare', ...container, 'true');

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

let sandbox: Sandbox;
let server: Server;
let env: Record<string, string>;
let config: string;
let children: ChildProcess[];
/** Requests to the token endpoint so far, and how long each answer takes. */
let asked: number;
let answerLate: number;

beforeEach(async () => {
  const service = createSandbox({ rateLimit: 'off' });
  asked = 0;
  answerLate = 0;
  sandbox = {
    ...service,
    async handle(request) {
      const isRefresh = request.url.endsWith('/oauth/platform/token');
      if (isRefresh) asked++;
      // The service acts at once; only its answer is late.
      const answer = await service.handle(request);
      if (isRefresh) await sleep(answerLate);
      return answer;
    },
  };
  server = await serve(sandbox, 0);
  const folder = await mkdtemp(join(built.folder, 'home-'));
  config = join(folder, 'config');
  children = [];
  const origin = `http://127.0.0.1:${server.port}`;
  env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    SVC_CONFIG_DIR: config,
    SVC_STATE_DIR: join(folder, 'state'),
    SVC_TOKEN_STORE: 'file',
    SVC_BASE_URL: origin,
    SVC_AUTH_URL: origin,
  };
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await server.close();
});

async function control<T>(method: string, name: string, body?: unknown): Promise<T> {
  const answer = await sandbox.handle({
    method,
    url: `/_sandbox/${name}`,
    headers: { host: '127.0.0.1', 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return JSON.parse(answer.body) as T;
}

async function expiredLogin(): Promise<void> {
  const grant = await control<Record<string, string>>('POST', 'tokens', { account_id: 1, expires_in: 0 });
  const origin = env.SVC_BASE_URL ?? '';
  const store = openStore({
    folder: config,
    clock: { sleep: (ms) => sleep(ms) as Promise<void>, ticks: () => performance.now() },
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

type Ended = { readonly code: number | null; readonly stderr: string };
type Started = { readonly child: ChildProcess; readonly ended: Promise<Ended>; readonly stderr: () => string };

function start(command: string, ...args: string[]): Started {
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  let stderr = '';
  child.stderr?.on('data', (text) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, stderr })));
  return { child, ended, stderr: () => stderr };
}

const here = (...argv: string[]) => start(process.execPath, built.script, ...argv);
const contained = (...argv: string[]) => start('unshare', ...container, process.execPath, built.script, ...argv);

async function until(what: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = performance.now() + 20_000; performance.now() < end; await sleep(10)) if (await what()) return;
  throw new Error('It did not come to that within 20 s.');
}

const tokenRequested = () => until(() => asked > 0);
const held = join('locks', 'profile%2Fdefault%2Foauth');

/** The process inside the namespace: the only child of `unshare`. */
const inside = async ({ child }: Started): Promise<number> =>
  Number((await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim());

inContainers(
  'six containers that share a config folder: one refresh, and all of them succeed, six times',
  async () => {
    for (let round = 1; round <= 6; round++) {
      await expiredLogin();
      answerLate = 300;
      const before = asked;
      const all = await Promise.all(Array.from({ length: 6 }, () => contained('account', 'get').ended));
      expect(all.map(({ code }) => code)).toEqual(Array(6).fill(0));
      expect(asked - before).toBe(1);
    }
  },
  120_000,
);

inContainers(
  'a stopped holder in another container is waited for, and named, and its refresh is not repeated',
  async () => {
    await expiredLogin();
    answerLate = 1500;
    const holder = contained('account', 'get');
    await tokenRequested();
    const pid = await inside(holder);
    process.kill(pid, 'SIGSTOP');
    const gaveUp = await contained('account', 'get', '--max-wait', '2').ended;
    expect(gaveUp.code).toBe(1);
    expect(gaveUp.stderr).toMatch(
      /^Waiting for the login default\/oauth: process 1 in another container .* has it\.$/mu,
    );
    expect(gaveUp.stderr).toMatch(/has had the login default\/oauth for more than 2 s/u);
    expect(gaveUp.stderr).toContain(`rm '${join(config, held)}`);

    const waiting = contained('account', 'get');
    await until(() => waiting.stderr().includes('Waiting for the login'));
    const interruptedAt = performance.now();
    process.kill(await inside(waiting), 'SIGINT');
    expect((await waiting.ended).code).toBe(130);
    expect(performance.now() - interruptedAt).toBeLessThan(1000);

    const patient = contained('account', 'get');
    await until(() => patient.stderr().includes('Waiting for the login'));
    process.kill(pid, 'SIGCONT');
    expect((await holder.ended).code).toBe(0);
    expect((await patient.ended).code).toBe(0);
    expect(asked).toBe(1);
  },
  60_000,
);

inContainers(
  'a holder that was killed in another container is waited for; once its file is removed, svc goes on',
  async () => {
    await expiredLogin();
    answerLate = 60_000;
    const holder = contained('account', 'get');
    await tokenRequested();
    process.kill(await inside(holder), 'SIGKILL');
    await holder.ended;
    const { code, stderr } = await here('account', 'get', '--max-wait', '1.5').ended;
    expect(code).toBe(1);
    const file = /rm '([^']+)'/u.exec(stderr)?.[1] ?? '';
    await rm(file);
    answerLate = 0;
    // The service had acted, and the answer died with the process: no tool can have that pair.
    const after = await here('account', 'get', '--max-wait', '1.5').ended;
    expect(after.code).toBe(4);
    expect(after.stderr).toContain('svc login');
  },
  60_000,
);

test('a stopped holder of this machine is named as stopped; Ctrl-C ends the wait at once', async () => {
  await expiredLogin();
  answerLate = 1500;
  const holder = here('account', 'get');
  await tokenRequested();
  holder.child.kill('SIGSTOP');
  const waiting = here('account', 'get');
  await until(() => waiting.stderr().includes('Waiting'));
  expect(waiting.stderr()).toMatch(new RegExp(`process ${holder.child.pid} on .*, which is stopped, has it`, 'u'));
  waiting.child.kill('SIGTERM');
  expect((await waiting.ended).code).toBe(143);
  holder.child.kill('SIGCONT');
  expect((await holder.ended).code).toBe(0);
  expect(asked).toBe(1);
}, 60_000);

test('Ctrl-C while the refresh is under way is acknowledged, and the new pair is saved', async () => {
  await expiredLogin();
  answerLate = 1000;
  const run = here('account', 'get');
  await tokenRequested();
  run.child.kill('SIGINT');
  await until(() => run.stderr().includes('Stopping once the refreshed login is saved'));
  expect((await run.ended).code).toBe(130);
  expect((await here('account', 'get').ended).code).toBe(0);
  expect(asked).toBe(1);
}, 60_000);

test('an entry that version 0.1.0 left, of a process that is gone, is cleared at once', async () => {
  await expiredLogin();
  const { hostname } = await import('node:os');
  const gone = start('true');
  await gone.ended;
  await writeFile(join(config, held, `${hostname().replaceAll(/[^\w-]/gu, '-')}.${gone.child.pid}.12345.abc`), '');
  expect((await here('account', 'get', '--max-wait', '1').ended).code).toBe(0);
  expect(await readdir(join(config, held))).toEqual([]);
});

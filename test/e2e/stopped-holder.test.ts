// @module-tag long
// Real processes in containers of their own that share a folder: one stands still for longer than its lock lives,
// another takes over, and then the first one goes on. (Its entry is set back in time instead of waiting for 90 s.)
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import { createSandbox, type Sandbox } from '../../src/sandbox/app.ts';
import { type Server, serve } from '../../src/sandbox/server.ts';
import { slots, slotsFolder } from '../../src/webhooks/store/folder/slot.ts';
import { receivedIn } from '../../src/webhooks/store/folder/view.ts';
import { type Built, buildSvc } from '../built.ts';
import { endAfterEach } from '../endings.ts';
import { agedLocks } from '../locks.ts';
import { allowed } from '../real-machine.ts';
import { startApp } from '../webhooks/listening.ts';
import { body, deliver, secret } from '../webhooks/serving.ts';

const container = ['--pid', '--fork', '--mount-proc', '--kill-child'] as const;
const inContainers = allowed('A PID namespace', 'unshare', ...container, 'true');
/** Followed by a program of its own container. */
const enter = ['unshare', ...container] as const;

let built: Built;
let sandbox: Sandbox;
let server: Server;
/** Held up: a write before the service acts on it, and its answer after. */
let onWrite: { before?: () => Promise<void>; after?: () => Promise<void> } = {};
let writes = 0;

beforeAll(async () => {
  built = await buildSvc();
  sandbox = createSandbox({ seed: 'empty', rateLimit: 'off' });
  const handle: Sandbox['handle'] = async (request) => {
    if (request.method !== 'POST' || request.url.startsWith('/_')) return sandbox.handle(request);
    writes++;
    const { before, after } = onWrite;
    await before?.();
    const answer = await sandbox.handle(request);
    await after?.();
    return answer;
  };
  server = await serve({ ...sandbox, handle }, 0);
});
afterAll(async () => {
  await server.close();
  await built.remove();
});
const endings = endAfterEach();

async function control<T>(method: string, name: string): Promise<T> {
  const headers = { host: '127.0.0.1' };
  return JSON.parse((await sandbox.handle({ method, url: `/_sandbox/${name}`, headers })).body);
}

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** A run of svc in a container of its own. */
function contained(folder: string, ...argv: readonly string[]) {
  const [program, ...args] = enter;
  const child: ChildProcess = spawn(program, [...args, process.execPath, built.script, ...argv], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      SVC_BASE_URL: `http://127.0.0.1:${server.port}`,
      SVC_API_KEY: 'key_acme',
      SVC_WEBHOOK_SECRET: secret,
      SVC_TOKEN_STORE: 'file',
      SVC_CONFIG_DIR: join(folder, 'config'),
      SVC_STATE_DIR: join(folder, 'state'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text) => {
      out[name] += text;
    });
  const ended: Promise<Ended> = once(child, 'close').then(([code]) => ({ code, ...out }));
  endings.push(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  /** The process inside the namespace: the only child of `unshare`. */
  const inside = async () => Number((await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim());
  return {
    ended,
    out,
    async until(ready: () => boolean) {
      for (const end = performance.now() + 90_000; !ready(); await sleep(5)) {
        if (child.exitCode !== null || performance.now() > end) throw new Error(`It never happened: ${out.stderr}`);
      }
    },
    signal: async (name: NodeJS.Signals) => process.kill(await inside(), name),
    async pause() {
      const pid = await inside();
      process.kill(pid, 'SIGSTOP');
      while (!/\) T /u.test(await readFile(`/proc/${pid}/stat`, 'utf8'))) await sleep(1);
      // `serve` has another one: it tells other commands that it runs.
      expect(agedLocks(folder)).toBeGreaterThanOrEqual(1);
    },
    goOn: async () => process.kill(await inside(), 'SIGCONT'),
  };
}

const freshFolder = () => mkdtemp(join(built.folder, 'stopped-'));
const tookOver = /^(?:Error: )?Process 1 in another container \(host \S+\) took over .* while this svc stood still\./mu;

/** Pauses the first run at its nth write, lets another one do everything, and lets the first go on. */
async function takenOver(folder: string, argv: readonly string[], at: 'before' | 'after', nth: number) {
  writes = 0;
  const first = contained(folder, ...argv);
  const second = new Promise<Ended>((done, failed) => {
    onWrite = {
      [at]: async () => {
        if (writes !== nth) return;
        onWrite = {};
        await first.pause();
        const ended = contained(folder, ...argv).ended;
        ended.then(done, failed);
        // What was on its way gets there, late.
        await ended;
      },
    };
  });
  const other = await second;
  const before = writes;
  await first.goOn();
  const own = await first.ended;
  return { own, other, sentAfter: writes - before };
}

type State = { readonly tickets: readonly { readonly subject: string }[]; readonly contacts: readonly unknown[] };

const subjects = async (prefix: string) =>
  (await control<State>('GET', 'state')).tickets
    .map(({ subject }) => subject)
    .filter((subject) => subject.startsWith(prefix))
    .sort();

inContainers(
  'a bulk run: paused while its answer comes, it sends nothing more, says who took over, and every row is there once',
  async () => {
    const folder = await freshFolder();
    const rows = Array.from({ length: 60 }, (_, n) => `After ${String(n).padStart(2, '0')}`);
    await writeFile(join(folder, 'rows.csv'), `subject\n${rows.join('\n')}\n`);
    // One at a time: of others it would not be known whether they had left the paused process.
    const argv = ['tickets', 'create', '--from', 'rows.csv', '--results', 'out.csv', '--settle', '1'];
    argv.push('--concurrency', '1');
    const { own, other, sentAfter } = await takenOver(folder, argv, 'after', 20);
    expect(other, other.stderr).toMatchObject({ code: 0 });
    expect(own.stderr).toMatch(tookOver);
    expect({ code: own.code, sentAfter }, own.stderr).toEqual({ code: 1, sentAfter: 0 });
    expect(await subjects('After')).toEqual(rows);
    // The files are those of the run that took over.
    expect((await readFile(join(folder, 'out.csv'), 'utf8')).match(/,done,/gu)?.length).toBe(60);
  },
);

inContainers(
  'a bulk run: paused while its request is on the way, the row is unknown to the other one, and sent by neither again',
  async () => {
    const folder = await freshFolder();
    const rows = Array.from({ length: 30 }, (_, n) => `Before ${String(n).padStart(2, '0')}`);
    await writeFile(join(folder, 'rows.csv'), `subject\n${rows.join('\n')}\n`);
    const argv = ['tickets', 'create', '--from', 'rows.csv', '--settle', '1', '--concurrency', '1'];
    const { own, other, sentAfter } = await takenOver(folder, argv, 'before', 10);
    expect(other, other.stderr).toMatchObject({ code: 9 });
    expect(own.stderr).toMatch(tookOver);
    expect({ code: own.code, sentAfter }, own.stderr).toEqual({ code: 1, sentAfter: 0 });
    expect(await subjects('Before')).toEqual(rows);
    const last = await contained(folder, ...argv).ended;
    expect(last, last.stderr).toMatchObject({ code: 0 });
    expect(await subjects('Before')).toEqual(rows);
  },
);

inContainers('a sync: paused in the middle, it sends nothing more and says who took over', async () => {
  const folder = await freshFolder();
  const rows = Array.from({ length: 3000 }, (_, n) => `paused${n}@example.com`);
  await writeFile(join(folder, 'rows.csv'), `email\n${rows.join('\n')}\n`);
  const argv = ['contacts', 'sync', 'rows.csv', '--concurrency', '1', '--yes'];
  const { own, other, sentAfter } = await takenOver(folder, argv, 'after', 2);
  expect(other, other.stderr).toMatchObject({ code: 0 });
  expect(own.stderr).toMatch(tookOver);
  expect({ code: own.code, sentAfter }, own.stderr).toEqual({ code: 1, sentAfter: 0 });
});

const urlOf = ({ out }: ReturnType<typeof contained>): string => /Listening on (\S+?),?\s/u.exec(out.stderr)?.[1] ?? '';

async function listening(folder: string, ...argv: readonly string[]) {
  const run = contained(folder, ...argv);
  await run.until(() => urlOf(run) !== '');
  return run;
}

inContainers(
  'two webhooks serve on one folder: every accepted event is there and delivered, and the paused one ends with exit 1',
  async () => {
    const folder = await freshFolder();
    const app = await startApp();
    endings.push(() => app.close());
    const config = `listen: { port: 0 }\nkeep: 20\ninbox: inbox\nsinks:\n  - { name: app, http: { url: "${app.url}" } }\n`;
    await writeFile(join(folder, 'svc-webhooks.yaml'), config);
    const argv = ['webhooks', 'serve', '--config', 'svc-webhooks.yaml', '--json'];
    const accepted: string[] = [];
    const send = async (url: string, id: string) => {
      const status = await deliver(url, body(id));
      if (status === 204) accepted.push(id);
      return status;
    };
    const first = await listening(folder, ...argv);
    for (let n = 0; n < 38; n++) expect(await send(urlOf(first), `first-${n}`)).toBe(204);
    await first.pause();
    const second = await listening(folder, ...argv);
    for (let n = 0; n < 50; n++) expect(await send(urlOf(second), `second-${n}`)).toBe(204);
    await first.goOn();
    // Enough for the first one to rewrite its file, if it still believed in it.
    const late = await Promise.all(Array.from({ length: 50 }, (_, n) => send(urlOf(first), `late-${n}`)));
    expect(new Set(late)).toEqual(new Set([undefined]));
    const ended = await first.ended;
    expect(ended.stderr).toContain('Process 1 in another container');
    expect(ended.stderr).toMatch(/took over the inbox in \S+ while this svc stood still/u);
    expect(ended.code).toBe(1);
    for (let n = 0; n < 10; n++) expect(await send(urlOf(second), `end-${n}`)).toBe(204);
    await second.until(() => new Set(app.ids()).size >= accepted.length);
    expect(new Set(app.ids())).toEqual(new Set(accepted));
    await second.signal('SIGTERM');
    expect(await second.ended).toMatchObject({ code: 0 });
  },
);

inContainers(
  'a webhooks serve that nothing is sent to hears by itself that its inbox was taken, and says so once',
  async () => {
    const folder = await freshFolder();
    const sinks = 'sinks:\n  - { name: app, file: { path: events.jsonl } }\n';
    await writeFile(join(folder, 'svc-webhooks.yaml'), `listen: { port: 0 }\ninbox: inbox\n${sinks}`);
    const argv = ['webhooks', 'serve', '--config', 'svc-webhooks.yaml'];
    const first = await listening(folder, ...argv);
    await first.pause();
    const second = await listening(folder, ...argv);
    await first.goOn();
    const ended = await first.ended;
    expect(ended.code, ended.stderr).toBe(1);
    expect(ended.stderr.match(/took over the inbox/gu)).toHaveLength(1);
    expect(await deliver(urlOf(second), body('still'))).toBe(204);
  },
);

inContainers('a listener whose slot was taken passes nothing on any more, and ends with exit 1', async () => {
  const folder = await freshFolder();
  const argv = ['webhooks', 'listen', '--port', '0', '--json'];
  const first = await listening(folder, ...argv);
  for (let n = 0; n < 5; n++) expect(await deliver(urlOf(first), body(`first-${n}`))).toBe(204);
  await first.pause();
  const second = await listening(folder, ...argv);
  expect(await deliver(urlOf(second), body('second'))).toBe(204);
  await first.goOn();
  expect(await deliver(urlOf(first), body('late'))).toBeUndefined();
  const ended = await first.ended;
  expect(ended.stderr).toMatch(/took over the inbox in \S+ while this svc stood still/u);
  expect(ended.code).toBe(1);
  expect(await deliver(urlOf(second), body('end'))).toBe(204);
  await second.signal('SIGTERM');
  await second.ended;
  const root = slotsFolder(join(folder, 'state'), 'default');
  const { seen } = await receivedIn(await slots(root), ({ id }) => id);
  expect(seen.map(({ value }) => value)).toEqual([
    'first-0',
    'first-1',
    'first-2',
    'first-3',
    'first-4',
    'second',
    'end',
  ]);
});

inContainers('a sandbox whose state file was taken ends with exit 1, and what the other one kept stays', async () => {
  const folder = await freshFolder();
  const argv = ['sandbox', 'start', '--port', '0', '--seed', 'empty', '--state', 'kept.state', '--json'];
  const address = (run: ReturnType<typeof contained>) => String(JSON.parse(run.out.stdout).base_url);
  const start = async (...more: string[]) => {
    const run = contained(folder, ...argv.filter((word) => word !== 'empty' && word !== '--seed'), ...more);
    await run.until(() => run.out.stdout.includes('\n'));
    return run;
  };
  const create = async (run: ReturnType<typeof contained>, subject: string) =>
    (
      await fetch(`${address(run)}/tickets`, {
        method: 'POST',
        headers: { authorization: 'Bearer key_acme', 'content-type': 'application/json' },
        body: JSON.stringify({ subject }),
      }).catch(() => ({ status: 0 }))
    ).status;
  const first = await start();
  expect(await create(first, 'first')).toBe(201);
  await first.pause();
  const second = await start();
  expect(await create(second, 'second')).toBe(201);
  await first.goOn();
  expect(await create(first, 'late')).not.toBe(201);
  const ended = await first.ended;
  expect(ended.stderr).toMatch(/took over the state file kept\.state while this svc stood still/u);
  expect(ended.code).toBe(1);
  await second.signal('SIGTERM');
  await second.ended;
  const text = await readFile(join(folder, 'kept.state'), 'utf8');
  expect(['first', 'second', 'late'].map((subject) => text.includes(`"subject":"${subject}"`))).toEqual([
    true,
    true,
    false,
  ]);
});

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../src/context.ts';
import { createExchange } from '../../src/node/exchange.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/app.ts';
import { serve } from '../../src/sandbox/server.ts';
import { type Built, buildSvc } from '../built.ts';
import { createWorld, svc } from '../svc.ts';

// The built tool as a real process, under the Node of SVC_TEST_NODE, against a real sandbox.

export const node = process.env.SVC_TEST_NODE ?? process.execPath;

/** Whether that Node has the SQLite that svc uses; else it is the one made of WebAssembly. */
const ownSqliteIn = (program: string): boolean =>
  execFileSync(program, ['-p', "!!process.getBuiltinModule('node:sqlite')?.DatabaseSync.prototype.setAuthorizer"], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }) === 'true\n';

export const hasOwnSqlite = ownSqliteIn(node);

const clock: Clock = {
  now: () => new Date(),
  ticks: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
};

/** The Node of the tests has the other engine. */
export const otherNode = ownSqliteIn(process.execPath) === hasOwnSqlite ? undefined : process.execPath;

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

type Env = Readonly<Record<string, string>>;

/** As a process would, but in this one where its Node is the tested one: for what no process of its own is the point of. */
export type Ask = (folder: string, argv: readonly string[], env?: Env) => Promise<Ended>;

export type Machine = {
  readonly sandbox: Sandbox;
  readonly built: Built;
  folder(): string;
  /** `program`: another Node. */
  start(folder: string, argv: readonly string[], env?: Env, program?: string): ChildProcess;
  run(folder: string, argv: readonly string[], env?: Env, program?: string): Promise<Ended>;
  readonly ask: Ask;
  /** A folder of its own with a whole copy. */
  pulled(): Promise<string>;
  /** Which service, and with which login. */
  readonly account: Env;
  end(): Promise<void>;
};

export async function machine(): Promise<Machine> {
  const built = await buildSvc();
  const sandbox = createSandbox({ seed: 'demo', rateLimit: 'off' });
  const server = await serve(sandbox, 0);
  const account = { SVC_BASE_URL: `http://127.0.0.1:${server.port}`, SVC_API_KEY: 'key_acme' };
  const start: Machine['start'] = (folder, argv, env = {}, program = node) => {
    return spawn(program, [built.script, ...argv], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        ...account,
        SVC_CONFIG_DIR: join(folder, 'config'),
        SVC_STATE_DIR: join(folder, 'state'),
        ...env,
      },
    });
  };
  const run: Machine['run'] = async (...given) => ended(start(...given));
  const folder = () => mkdtempSync(join(built.folder, 'copy-'));
  const ask = await asking(account.SVC_BASE_URL, run);
  return {
    sandbox,
    built,
    account,
    folder,
    start,
    run,
    ask,
    pulled: pulledFolders(ask, folder),
    async end() {
      await server.close();
      await built.remove();
    },
  };
}

/** `run`: how a process of the tested Node does it. */
export async function asking(baseUrl: string, run: Ask): Promise<Ask> {
  if (node !== process.execPath) return run;
  const exchange = await createExchange({});
  return async (folder, argv, given) => {
    const env = { SVC_BASE_URL: baseUrl, SVC_API_KEY: 'key_acme', ...given };
    const { exitCode, ...said } = await svc(createWorld(exchange, { clock, folder, env }), argv);
    return { code: exitCode, ...said };
  };
}

/** Folders with a whole copy, which is pulled once and handed out as files. */
export function pulledFolders(ask: Ask, newFolder: () => string): () => Promise<string> {
  const pull = async (): Promise<string> => {
    const folder = newFolder();
    const { code, stderr } = await ask(folder, ['mirror', 'pull']);
    if (code !== 0) throw new Error(stderr);
    return folder;
  };
  let first: Promise<string> | undefined;
  return async () => {
    first ??= pull();
    const folder = newFolder();
    cpSync(await first, folder, { recursive: true });
    return folder;
  };
}

export async function ended(child: ChildProcess): Promise<Ended> {
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error('Its streams are not piped.');
  const [out, err, [code]] = await Promise.all([text(stdout), text(stderr), once(child, 'exit')]);
  return { code, stdout: out, stderr: err };
}

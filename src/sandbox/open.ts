import { text } from 'node:stream/consumers';
import { codeOf, Failure, messageOf } from '../errors.ts';
import { nearest } from '../text/near.ts';
import { fieldsIn, textIn } from '../text/record.ts';
import { createSandbox } from './app.ts';
import { type Keys, openKeys, privateKeys, secretIn } from './keys.ts';
import { known } from './known.ts';
import type { SandboxOptions } from './options.ts';
import { serve } from './server.ts';
import type { Row } from './store/records.ts';
import { judgeSeed, parseSeed } from './store/seed-file.ts';
import type { Snapshot } from './store/state.ts';

/** The flags of `sandbox start` and `sandbox exec`. */
export type OpenOptions = {
  readonly port: number;
  /** `demo`, `empty`, a file, or what somebody made (`name`) out of something else. */
  readonly seed?: string | MadeSeed;
  /** A file that keeps everything. */
  readonly state?: string;
  readonly consent?: SandboxOptions['consent'];
  readonly rate_limit?: SandboxOptions['rateLimit'];
  readonly allow_http_targets?: boolean;
  readonly latency?: number;
  readonly cors?: boolean;
  /** Tells of each request in one line. */
  readonly log?: boolean;
  /** Watches what happens, for a comparison afterwards. */
  readonly compare?: boolean;
  /** Ends the wait for a seed that comes through a pipe. */
  readonly signal?: AbortSignal;
};

export type MadeSeed = { readonly name: string; readonly value: unknown };

/** What one needs to know to use a sandbox; the same words with `--json`. */
export type Address = ReturnType<typeof addressOf>;

export type Running = Awaited<ReturnType<typeof openSandbox>>;

/** A sandbox on a port of 127.0.0.1. `notice` gets what the user should know and did not ask for. */
export async function openSandbox(options: OpenOptions, notice: (text: string) => void) {
  const seed = await readSeed(options.seed ?? 'demo', options.signal);
  const comparing = options.compare ? (await import('./compare.ts')).createComparing() : undefined;
  const stateFile =
    options.state === undefined
      ? undefined
      : await (await import('./store/state-file.ts')).openStateFile(options.state);
  const keys = keysFor(options.seed, stateFile?.state ? stateFile.state.rows.clients.values() : clientsIn(seed));
  if (stateFile?.state && options.seed !== undefined) {
    const key = keys.isPrivate ? ' with its API key, Authorization: Bearer KEY' : '';
    notice(`${options.state} already holds a state, so --seed was not used. To start over: POST /_sandbox/reset${key}`);
  }
  try {
    const sandbox = createSandbox({
      seed,
      keys,
      stateFile,
      consent: options.consent,
      rateLimit: options.rate_limit,
      allowHttpTargets: options.allow_http_targets,
      latencyMs: options.latency,
      cors: options.cors,
      onRequest: options.log ? notice : undefined,
      ...comparing?.watches,
    });
    await sandbox.keep();
    const before = comparing && sandbox.rows();
    const server = await serve(sandbox, options.port).catch((error) => {
      throw codeOf(error) === 'EADDRINUSE' ? busy(options.port) : error;
    });
    return {
      address: addressOf(server.port, sandbox.rows(), keys),
      /** Fires once another sandbox has the state file; `reason` says who. */
      lost: stateFile?.lost,
      /** What happened since the start, where that was asked for. */
      compared: before && (() => comparing.compare(before, sandbox.rows())),
      async close() {
        await server.close();
        await sandbox.close().finally(() => stateFile?.close());
      },
    };
  } catch (error) {
    await stateFile?.close();
    throw error;
  }
}

type Seed = NonNullable<SandboxOptions['seed']>;

async function readSeed(named: string | MadeSeed, signal = new AbortController().signal): Promise<Seed> {
  if (typeof named !== 'string') return judgeSeed(named.value, named.name);
  if (named === 'demo' || named === 'empty') return named;
  return parseSeed(await readSeedFile(named, signal), named);
}

async function readSeedFile(named: string, signal: AbortSignal): Promise<string> {
  const { openUserInput } = await import('../disk/place/user-input.ts');
  try {
    const opened = await openUserInput(named, signal);
    return await text(opened.kind === 'once' ? opened.bytes : opened.handle.createReadStream());
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (codeOf(error) === 'ENOENT') {
      const meant = nearest(named, ['demo', 'empty', 'mirror']);
      throw new Failure('usage', `There is no file ${named}.`, {
        hint: `${meant === undefined ? '' : `Did you mean ${meant}? `}--seed takes demo, empty, mirror (the copy of your account), or a JSON file.`,
      });
    }
    throw new Failure('usage', `The seed ${named} cannot be read: ${messageOf(error)}.`);
  }
}

const busy = (port: number): Failure =>
  new Failure('failed', `Port ${port} of 127.0.0.1 is in use.`, {
    hint: 'Name another with --port, or take a free one with --port 0.',
  });

const clientsIn = (seed: Seed) => (typeof seed === 'string' ? undefined : seed.clients);

/** Random ones where it holds what `svc mirror` has read, also where that came by way of a state file or a seed. */
function keysFor(named: OpenOptions['seed'], clients: Iterable<Row<'clients'>> | undefined): Keys {
  const secret = secretIn(clients);
  return typeof named === 'object' || secret !== undefined ? privateKeys(secret) : openKeys;
}

/** The keys are under the names of the two accounts in the demo; `accounts` has this one's names. */
function addressOf(port: number, rows: Snapshot, { apiKeys, clientSecret, m2mToken }: Keys) {
  const url = `http://127.0.0.1:${port}`;
  const nameOf = (account: number) => textIn(fieldsIn(rows.get('accounts')?.get(account)).name);
  const keys = [
    { account_id: 1, name: 'Acme', api_key: apiKeys[0] },
    { account_id: 2, name: 'Globex', api_key: apiKeys[1] },
  ];
  return {
    base_url: url,
    auth_url: url,
    port,
    accounts: keys.map((key) => ({ ...key, name: nameOf(key.account_id) ?? key.name })),
    api_keys: Object.fromEntries(keys.map(({ name, api_key }) => [name, api_key])),
    client_id: known.clientId,
    client_secret: clientSecret,
    redirect_uri: known.redirectUri,
    m2m_token: m2mToken,
    control_url: `${url}/_sandbox/`,
  };
}

import { createRequire } from 'node:module';
import type { Clock } from '../context.ts';
import { dependencyOf, ownRoot, wantedVersion } from '../disk/place/own-package.ts';
import type { Env } from '../env.ts';
import { fieldsIn } from '../text/record.ts';
import type { Keyring } from './store-file.ts';

type Options = {
  readonly env: Env;
  readonly platform: NodeJS.Platform;
  readonly clock: Pick<Clock, 'ticks'>;
  /** How long a keyring may take on Linux, where a locked one blocks for 25 s and a dead bus for over 60. */
  readonly timeoutMs?: number;
};

type Request = { readonly act: 'read' | 'write' | 'remove'; readonly entry: string; readonly secret?: string };

/** The name of all our entries, as the keyring's own window shows it. */
const serviceName = 'svc';

/** A login has several secrets: a silent keyring gets its time once for all of them. A receiver runs for months. */
const silenceMs = 60_000;

/** What Windows' Credential Manager holds per entry, in bytes. */
const windowsLimit = 2560;

/** The keyring of the platform: macOS' keychain, Windows' Credential Manager, a Secret Service on Linux. */
export function systemKeyring({ env, platform, clock, timeoutMs = 3000 }: Options): Keyring {
  let silentUntil = Number.NEGATIVE_INFINITY;
  const act = async (request: Request): Promise<string | undefined> => {
    if (clock.ticks() < silentUntil) throw tooSlow(timeoutMs);
    // Asking without a bus would end in a refusal anyway; this says it in better words and at no cost.
    if (platform === 'linux' && !env.DBUS_SESSION_BUS_ADDRESS && !env.XDG_RUNTIME_DIR) {
      throw new Error('There is no system keyring here.');
    }
    const path = locate(platform);
    if (platform !== 'linux') return actHere(path, request);
    const answer = await actInChild(path, request, env, timeoutMs);
    if (answer !== 'silent') return answer.value;
    silentUntil = clock.ticks() + silenceMs;
    throw tooSlow(timeoutMs);
  };
  return {
    read: (entry) => act({ act: 'read', entry }),
    async write(entry, secret) {
      if (platform === 'win32' && Buffer.byteLength(secret) > windowsLimit) {
        throw new Error('The login is too long for the Windows Credential Manager.');
      }
      await act({ act: 'write', entry, secret });
    },
    async remove(entry) {
      await act({ act: 'remove', entry });
    },
  };
}

/**
 * The package is optional: where no binary fits the platform, svc works without it. The single executable brings none, and
 * looks for none around it.
 */
function locate(platform: NodeJS.Platform): string {
  const path = process.getBuiltinModule('node:sea').isSea() ? undefined : keyringOf(import.meta.filename, platform);
  if (path === undefined) throw new Error('The part of svc that speaks to the system keyring is not installed.');
  return path;
}

const packageName = '@napi-rs/keyring';

/**
 * The folder of its binary for this platform, for a svc of which that is a file. The package's own script is left out: it
 * asks for binaries by names that nobody publishes, in every folder above it.
 */
export function keyringOf(file: string, platform: NodeJS.Platform, arch: string = process.arch): string | undefined {
  const root = ownRoot(file);
  const version = root && wantedVersion(root, packageName);
  const keyring = root && version && dependencyOf(root, packageName, version);
  if (!keyring) return undefined;
  const binary = (end: string) => dependencyOf(keyring, `${packageName}-${platform}-${arch}${end}`, version);
  const fitting = endings(platform, arch).flatMap((end) => binary(end) ?? []);
  // Some installers bring those of both C libraries.
  return fitting.length > 1 && hasMusl() ? fitting.at(-1) : fitting[0];
}

function endings(platform: NodeJS.Platform, arch: string): readonly string[] {
  if (platform === 'win32') return ['-msvc'];
  if (platform !== 'linux') return [''];
  return arch === 'arm' ? ['-gnueabihf', '-musleabihf'] : ['-gnu', '-musl'];
}

const hasMusl = (): boolean => fieldsIn(fieldsIn(process.report.getReport()).header).glibcVersionRuntime === undefined;

/**
 * Runs in a child as well, as text: so it may use nothing from around it. `secret-service`, because the library's own
 * choice may be kernel memory, which a reboot empties; and bytes, because passwords are halved on Windows.
 */
const operate = (
  keyring: typeof import('@napi-rs/keyring'),
  service: string,
  { act, entry, secret }: Request,
): string | undefined => {
  const held = new keyring.Entry(service, entry, { linux: { store: 'secret-service' } });
  if (act === 'write') held.setSecret(Buffer.from(secret ?? ''));
  if (act === 'remove') held.deleteCredential();
  const bytes = act === 'read' ? held.getSecret() : undefined;
  return bytes ? Buffer.from(bytes).toString() : undefined;
};

function actHere(path: string, request: Request): string | undefined {
  try {
    return operate(createRequire(import.meta.url)(path), serviceName, request);
  } catch (error) {
    throw refusal(error instanceof Error ? error.message : String(error));
  }
}

/** The request, with its secret, goes in by standard input: arguments can be read by everyone on the machine. */
const childSource = `
let text = '';
process.stdin.on('data', (chunk) => { text += chunk; }).on('end', () => {
  const { path, service, request } = JSON.parse(text);
  let answer;
  try { answer = { value: (${operate.toString()})(require(path), service, request) }; }
  catch (error) { answer = { error: String(error && error.message) }; }
  process.stdout.write(JSON.stringify(answer));
});`;

/** A native call that hangs holds its whole process, also at exit; only SIGKILL from outside ends it. */
async function actInChild(
  path: string,
  request: Request,
  env: Env,
  timeoutMs: number,
): Promise<{ readonly value?: string } | 'silent'> {
  const { spawn } = await import('node:child_process');
  const child = spawn(process.execPath, ['-e', childSource], {
    // Nothing of ours that the child does not need, and no options meant for us.
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !/^(SVC_|NODE_)/u.test(name))),
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  let answer = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify({ path, service: serviceName, request }));
  const end = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(signal ?? (code === 0 ? undefined : `exit code ${code}`)));
  });
  if (end === 'SIGKILL') return 'silent';
  if (end !== undefined) throw refusal(end);
  const { value, error }: { value?: string; error?: string } = JSON.parse(answer);
  if (error !== undefined) throw refusal(error);
  return { value };
}

const tooSlow = (timeoutMs: number): Error =>
  new Error(`The system keyring did not answer within ${timeoutMs / 1000} seconds.`);

/** The library's own words, in one line. */
const refusal = (why: string): Error =>
  new Error(`The system keyring cannot be used (${why.replaceAll(/\s+/gu, ' ').replace(/\.$/u, '')}).`);

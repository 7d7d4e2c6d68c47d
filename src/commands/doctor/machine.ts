import { basename, join } from 'node:path';
import { probeName } from '../../auth/store-contents.ts';
import { strangeVariables } from '../../config/environment-names.ts';
import { proxiesIn } from '../../config/proxies.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { kindOfPlace } from '../../database/place.ts';
import { readIfThere } from '../../disk/file/atomic-file.ts';
import { diskWords } from '../../disk/file/disk-failure.ts';
import { whatIsWrongWith } from '../../disk/place/folder-check.ts';
import { asNamed, homeFolder } from '../../disk/place/home.ts';
import { codeOf, Failure, interruption, messageOf } from '../../errors.ts';
import { canListen } from '../../login/loopback.ts';
import { unknownZone } from '../../text/own-zone.ts';
import { sanitize } from '../../text/sanitize.ts';
import { type Check, fine, wrong } from './check.ts';

/** What can be seen without the service. */
export async function machineChecks(ctx: Context, settings: Settings): Promise<readonly Check[]> {
  const checks = [
    node(),
    await folder('config folder', () => ctx.files.config, 'SVC_CONFIG_DIR'),
    await folder('state folder', () => ctx.files.state, 'SVC_STATE_DIR'),
    ...(['SVC_MIRROR_DB', 'SVC_DRAFTS_DB'] as const).flatMap((name) => misplaced(name, ctx.env[name])),
    await store(ctx),
    proxy(ctx.env, settings),
    await callback(settings),
    await completions(ctx.env),
    ...recording(settings),
    ...zone(ctx.env),
    ...strangeVariables(ctx.env).map((said) => ({ ...fine('environment', sanitize(said)), isNeutral: true })),
  ];
  // A keyring that does not answer is given its time.
  if (ctx.signal.aborted) throw interruption(ctx.signal);
  return checks;
}

function node(): Check {
  const { node: version } = process.versions;
  return fine('node', `Node ${version} on ${process.platform}.`);
}

async function folder(name: string, find: () => string, variable: string): Promise<Check> {
  const path = orWrong(name, find);
  if (typeof path !== 'string') return path;
  const trouble = await whatIsWrongWith(path);
  return trouble
    ? wrong(name, `${path}: ${trouble}.`, `Fix it, or set ${variable} to another folder.`)
    : fine(name, path);
}

/** A place that the environment names for a file, and that is none. */
function misplaced(name: string, place: string | undefined): readonly Check[] {
  if (!place || kindOfPlace(place) !== 'file') return [];
  const named = orWrong('environment', () => asNamed(place, name));
  return typeof named === 'string' ? [] : [named];
}

function orWrong<T>(name: string, find: () => T): T | Check {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return wrong(name, error.message, error.hint ?? '');
  }
}

/** Keeps a word and forgets it again: a keyring that is there may still not answer. */
async function store({ tokens, env }: Context): Promise<Check> {
  try {
    await tokens.update(probeName, async () => 'probe');
    const place = await tokens.where(probeName);
    await tokens.update(probeName, async () => undefined);
    if (place === 'keyring') return fine('store', 'Secrets go to the system keyring, and it answers.');
    const chosen = env.SVC_TOKEN_STORE === 'file' ? 'as SVC_TOKEN_STORE asks' : 'since no system keyring takes one now';
    return fine('store', `Secrets go to a file that only you can read, ${chosen}.`);
  } catch (error) {
    return wrong('store', messageOf(error), 'Fix the config folder, or move the named file away and log in again.');
  }
}

function proxy(env: Context['env'], { baseUrl }: Settings): Check {
  const found = orWrong('proxy', () => proxiesIn(env));
  if ('ok' in found) return found;
  const used = found.https ?? found.http;
  if (!used) return fine('proxy', 'None is set.');
  const past = baseUrl ? `; see NO_PROXY for ${new URL(baseUrl).host}` : '';
  return fine('proxy', `${used.name} names ${used.url.host}${past}.`);
}

async function callback({ redirectUri }: Settings): Promise<Check> {
  if (!URL.canParse(redirectUri) || !canListen(redirectUri)) {
    return fine('callback', `${redirectUri} is not on this machine; log in with --no-browser.`);
  }
  const { hostname, port } = new URL(redirectUri);
  const { createServer } = process.getBuiltinModule('node:net');
  const trouble = await new Promise<Error | undefined>((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host: hostname.replace(/^\[|\]$/gu, ''), port: Number(port || 80) }, () =>
      server.close(() => resolve(undefined)),
    );
  });
  if (!trouble) return fine('callback', `Port ${port || 80} for svc login is free.`);
  const isTaken = codeOf(trouble) === 'EADDRINUSE';
  const reason = isTaken ? 'another program listens on it' : (diskWords[codeOf(trouble) ?? ''] ?? trouble.message);
  return wrong(
    'callback',
    `svc login cannot listen on port ${port || 80} of ${hostname}: ${reason}.`,
    `${isTaken ? 'Stop the program that uses it' : 'Allow it'}, or give svc login another registered --redirect-uri.`,
  );
}

/** Whoever switched it off may have meant it: it is told, and nothing wrong. */
const recording = ({ audit }: Settings): readonly Check[] =>
  audit === 'off'
    ? [{ ...fine('audit', 'No record of writes is kept. To keep one: svc config set audit on'), isNeutral: true }]
    : [];

/** Said only where it is wrong. */
function zone(env: Context['env']): readonly Check[] {
  const unknown = unknownZone(env);
  if (unknown === undefined) return [];
  const message = `TZ=${sanitize(unknown)} is no time zone that is known, so svc may take and show local times as UTC.`;
  return [wrong('time zone', message, 'Set TZ to a name such as Europe/Berlin or UTC.')];
}

/** Where each shell would load them from, and the line of `svc completion --help` that puts them there. */
const completionFiles: Readonly<Record<string, readonly [file: string, line: string]>> = {
  bash: ['.bashrc', "echo 'source <(svc completion bash)' >> ~/.bashrc"],
  zsh: ['.zshrc', "echo 'source <(svc completion zsh)' >> ~/.zshrc"],
  fish: [
    '.config/fish/completions/svc.fish',
    'mkdir -p ~/.config/fish/completions && svc completion fish > ~/.config/fish/completions/svc.fish',
  ],
};

/** A convenience: without it nothing is wrong, so the line that installs it is a message and no fix. */
async function completions(env: Context['env']): Promise<Check> {
  const shell = basename(env.SHELL ?? '');
  const [file, line] = completionFiles[shell] ?? [];
  if (!file)
    return { ...fine('completions', 'Run svc completion --help to install them for your shell.'), isNeutral: true };
  const text = await readIfThere(join(homeFolder(env) ?? '/', file)).catch(() => undefined);
  const installed = shell === 'fish' ? text !== undefined : text?.includes('svc completion');
  if (installed) return fine('completions', `Installed for ${shell}.`);
  return { ...fine('completions', `Not installed for ${shell}. To have them: ${line}`), isNeutral: true };
}

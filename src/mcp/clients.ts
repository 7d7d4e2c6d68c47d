import { posix, resolve, win32 } from 'node:path';
import { sendModes } from '../config/settings.ts';
import { customFolder, homeFolder, thisMachine } from '../disk/place/home.ts';
import type { Env } from '../env.ts';
import { changedJson } from '../text/exact-json.ts';
import { type Fields, isRecord } from '../text/record.ts';

export const clients = ['claude', 'claude-code', 'cursor', 'vscode'] as const;

export type Client = (typeof clients)[number];

export const titles: Readonly<Record<Client, string>> = {
  claude: 'the Claude desktop app',
  'claude-code': 'Claude Code',
  cursor: 'Cursor',
  vscode: 'VS Code',
};

/** How a client starts a server. Nothing secret is in it: svc finds the credential of the profile by itself. */
export type ServerEntry = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

/** The file in which a client keeps the servers of this user; Claude Code: those of the project in this folder. */
export function configFileOf(client: Client, env: Env, machine = thisMachine): string | undefined {
  if (client === 'claude-code') return resolve('.mcp.json');
  const { join } = machine.platform === 'win32' ? win32 : posix;
  if (client === 'cursor') {
    const home = homeFolder(env, machine);
    return home && join(home, '.cursor', 'mcp.json');
  }
  const data = dataFolder(env, machine);
  if (data === undefined) return undefined;
  return client === 'claude'
    ? join(data, 'Claude', 'claude_desktop_config.json')
    : join(data, 'Code', 'User', 'mcp.json');
}

/** Where the programs of this platform keep their data. */
function dataFolder(env: Env, machine: typeof thisMachine): string | undefined {
  if (machine.platform !== 'darwin') return customFolder('config', env, machine);
  const home = homeFolder(env, machine);
  return home && posix.join(home, 'Library', 'Application Support');
}

/**
 * The configuration with our server in it. `was`: what stood there below its name. `set` and `kept`: of its env, which
 * variables of ours changed, and which stay as they were. `out`: what was taken out of the entry of a stranger, and
 * `theirs`: which of its variables speak to svc, and stay.
 */
export type Configured = {
  readonly text: string;
  readonly was: 'absent' | 'same' | 'other' | 'foreign';
  readonly set: readonly string[];
  readonly kept: readonly string[];
  readonly out: readonly string[];
  readonly theirs: readonly string[];
};

/** Where an entry goes. `isOwn`: into the user's own file; one that came with a project may be a stranger's. */
export type Into = { readonly client: Client; readonly name: string; readonly isOwn: boolean };

/** What of a stranger's entry decides nothing about the program that is started. */
const harmless = new Set(['command', 'args', 'type', 'env', 'timeout', 'disabled', 'description']);

/** A variable such as NODE_OPTIONS, or a folder, runs code of its own in whatever is started. */
function withoutStrange(entry: Fields) {
  const env = isRecord(entry.env) ? entry.env : {};
  const isStrange = (name: string) => !name.startsWith('SVC_');
  const strange = Object.keys(env).filter(isStrange);
  const keys = Object.keys(entry).filter((key) => !harmless.has(key));
  const kept = Object.fromEntries(Object.entries(entry).filter(([key]) => harmless.has(key)));
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !isStrange(name)));
  return { entry: 'env' in entry ? { ...kept, env: own } : kept, out: [...keys, ...strange] };
}

/** Somebody wrote the rules of an entry, or where its drafts wait: it is never made looser by the way. */
function staysOf(ours: Env, theirs: Fields): Fields {
  const isKept = (name: string): boolean => {
    const [our, their] = [ours[name], theirs[name]];
    if (!our || !their || our === their) return false;
    // One that svc does not know makes it refuse to start: nothing is stricter.
    const modes: readonly unknown[] = sendModes;
    return name !== 'SVC_SENDS' || !modes.includes(their) || modes.indexOf(their) > modes.indexOf(our);
  };
  const names = ['SVC_SENDS', 'SVC_POLICY', 'SVC_DRAFTS_DB'].filter(isKept);
  return Object.fromEntries(names.map((name) => [name, theirs[name]]));
}

/**
 * Other servers and settings stay, each number as it is written; of the entry of this name everything but what starts it,
 * such as its `env`, in which ours is written; of a stranger's only what speaks to svc. One that starts no program (`foreign`) is replaced. Undefined where the text is no JSON object.
 */
export function withServer(
  { client, name, isOwn }: Into,
  text: string | undefined,
  entry: ServerEntry,
): Configured | undefined {
  const key = client === 'vscode' ? 'servers' : 'mcpServers';
  const shown = client === 'vscode' ? { type: 'stdio', ...entry } : entry;
  let was: Configured['was'] = 'absent';
  let set: string[] = [];
  let stays: string[] = [];
  let out: string[] = [];
  let others: string[] = [];
  const changed = changedJson(text?.replace(/^\u{feff}/u, '').trim() || '{}', (config) => {
    if (!isRecord(config)) return undefined;
    const servers = config[key] ?? {};
    if (!isRecord(servers)) return undefined;
    const before = Object.hasOwn(servers, name) ? servers[name] : undefined;
    const found = isRecord(before) && typeof before.command === 'string' ? before : undefined;
    const looked = found && !isOwn ? withoutStrange(found) : undefined;
    const kept = looked?.entry ?? found;
    out = looked?.out ?? [];
    const theirs = isRecord(kept?.env) ? kept.env : {};
    const staying = staysOf(entry.env ?? {}, theirs);
    const env = { ...theirs, ...entry.env, ...staying };
    stays = Object.keys(staying);
    set = Object.keys(entry.env ?? {}).filter((key) => env[key] !== theirs[key]);
    others = isOwn ? [] : Object.keys(theirs).filter((key) => !(key in staying) && entry.env?.[key] !== env[key]);
    const after = { ...kept, ...shown, ...(entry.env && { env }) };
    if (found) was = JSON.stringify(found) === JSON.stringify(after) ? 'same' : 'other';
    else if (before !== undefined) was = 'foreign';
    return { ...config, [key]: { ...servers, [name]: after } };
  });
  return changed === undefined ? undefined : { text: `${changed}\n`, was, set, kept: stays, out, theirs: others };
}

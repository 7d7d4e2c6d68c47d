import { userInfo } from 'node:os';
import { posix, win32 } from 'node:path';
import type { Env } from '../../env.ts';
import { Failure, orElse } from '../../errors.ts';

export type Machine = {
  readonly platform: NodeJS.Platform;
  /** The home by the password database, which no variable changes; undefined for a user who is not in it. */
  readonly accountHome: () => string | undefined;
};

export const thisMachine: Machine = {
  platform: process.platform,
  accountHome: () => orElse(() => userInfo().homedir, undefined),
};

/**
 * A path that means the same wherever svc is started. Any other would lead into the working folder, which may be a
 * stranger's: then it is as if the variable were not set (so the XDG base directory specification, too).
 */
function whole(path: string | undefined, platform: NodeJS.Platform): string | undefined {
  if (path === undefined) return undefined;
  // On Windows `\folder` is on the drive that one happens to work on.
  const isWhole = platform === 'win32' ? /^(?:[a-z]:[\\/]|[\\/]{2}[^\\/])/iu.test(path) : posix.isAbsolute(path);
  return isWhole ? path : undefined;
}

/** The user's own folder; undefined where neither the environment nor the password database has a whole path for it. */
export function homeFolder(env: Env, { platform, accountHome } = thisMachine): string | undefined {
  const names = platform === 'win32' ? ['USERPROFILE', 'HOME'] : ['HOME'];
  const named = names.map((name) => whole(env[name], platform)).find((path) => path !== undefined);
  return named ?? whole(accountHome(), platform);
}

type Custom = readonly [variable: string | undefined, ...below: string[]];

/** Where programs keep what, by the custom of the platform: in the folder of a variable, else below the home. */
const customs = {
  linux: { config: ['XDG_CONFIG_HOME', '.config'], state: ['XDG_STATE_HOME', '.local', 'state'] },
  darwin: { config: [undefined, 'Library', 'Preferences'], state: [undefined, 'Library', 'Logs'] },
  win32: { config: ['APPDATA', 'AppData', 'Roaming'], state: ['LOCALAPPDATA', 'AppData', 'Local'] },
} as const satisfies Record<string, Record<string, Custom>>;

/** What programs of this platform call the folder for `what`; undefined without a home. */
export function customFolder(what: 'config' | 'state', env: Env, machine = thisMachine): string | undefined {
  const { platform } = machine;
  const [variable, ...below] = customs[platform === 'win32' || platform === 'darwin' ? platform : 'linux'][what];
  const named = variable && whole(env[variable], platform);
  const home = named ? undefined : homeFolder(env, machine);
  return named || (home && (platform === 'win32' ? win32 : posix).join(home, ...below));
}

const ownNames = { config: 'SVC_CONFIG_DIR', state: 'SVC_STATE_DIR' } as const;

/**
 * A place that the user named, or a usage Failure where it begins with what only a shell reads. A systemd unit, a file of
 * variables and quotes leave that as it is, and it would become a folder of the working folder. `./~` is one that is meant.
 */
export function asNamed(place: string, by: string): string {
  if (!/^[~$%"'`\s]|\s$/u.test(place)) return place;
  throw new Failure(
    'usage',
    `${by} cannot be used: svc takes a path as it is written, so a ~, a $, a %, quotes and blanks around it stay in it.`,
    { hint: 'Write the whole path, like /home/ada/svc.', isHeld: true },
  );
}

/** Whether a variable of the shell says where svc keeps what, which a program that is started elsewhere may not have. */
export function isNamedByShell(what: 'config' | 'state', env: Env, { platform } = thisMachine): boolean {
  const isOfCustom = platform !== 'win32' && platform !== 'darwin';
  return Boolean(env[ownNames[what]] || (isOfCustom && whole(env[customs.linux[what][0]], platform)));
}

/** Windows has one folder for all that a program keeps. */
const windowsNames = { config: 'Config', state: 'Log' } as const;

/** A folder of svc's own: the one that the user named, as it is, else the platform's. Throws where there is no home, and for what is no place. */
export function ownFolder(what: 'config' | 'state', env: Env, machine = thisMachine): string {
  const named = env[ownNames[what]];
  if (named) return asNamed(named, ownNames[what]);
  const custom = customFolder(what, env, machine);
  if (custom === undefined) {
    throw new Failure('usage', 'svc does not know where your home folder is, so it has no place for its files.', {
      hint: 'Set HOME to a whole path, or SVC_CONFIG_DIR and SVC_STATE_DIR.',
    });
  }
  return machine.platform === 'win32' ? win32.join(custom, 'svc', windowsNames[what]) : posix.join(custom, 'svc');
}

/**
 * What to set, and with undefined what to take away, so that no program and no library that svc starts takes a folder of
 * the user's for one below the working folder: some read `.pgpass` and the like there where HOME is empty.
 */
export function soundPlaces(env: Env, machine = thisMachine): Readonly<Record<string, string | undefined>> {
  const { platform } = machine;
  const home = homeFolder(env, machine);
  const isWindows = platform === 'win32';
  const needed = isWindows ? ['USERPROFILE', 'APPDATA', 'LOCALAPPDATA'] : ['HOME'];
  const meant: Readonly<Record<string, string | undefined>> = isWindows
    ? {
        USERPROFILE: home,
        APPDATA: customFolder('config', env, machine),
        LOCALAPPDATA: customFolder('state', env, machine),
      }
    : { HOME: home };
  const optional = isWindows ? ['HOME'] : Object.keys(env).filter((name) => /^XDG_\w+_HOME$/u.test(name));
  return Object.fromEntries(
    [...needed, ...optional]
      .filter((name) => whole(env[name], platform) === undefined && env[name] !== meant[name])
      .map((name) => [name, meant[name]]),
  );
}

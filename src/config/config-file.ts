import { join } from 'node:path';
import type { Context } from '../context.ts';
import { readRulesIfThere, replaceFile } from '../disk/file/atomic-file.ts';
import { diskFailure } from '../disk/file/disk-failure.ts';
import { orElsewhere } from '../disk/place/elsewhere.ts';
import { Failure, messageOf } from '../errors.ts';
import { jsonIn } from '../text/json.ts';
import { type Fields, isRecord } from '../text/record.ts';
import type { Config, ProfileConfig } from './settings.ts';

type ConfigPorts = Pick<Context, 'files' | 'clock'> & Partial<Pick<Context, 'signal' | 'progress' | 'notice'>>;

export const configPath = (files: Context['files']): string => join(files.config, 'config.json');

/** What is configured; nothing where there is no file. */
export async function readConfig(files: Context['files']): Promise<Config> {
  const path = configPath(files);
  const text = await readRulesIfThere(path).catch((error: unknown) => {
    const failure = diskFailure(error, `The configuration in ${path} cannot be read`);
    throw failure instanceof Failure
      ? failure
      : new Failure('usage', `The configuration cannot be read: ${messageOf(error)}.`);
  });
  return text === undefined ? {} : parseConfig(text, path);
}

/** Changes the file under a lock, so that two runs of svc at once lose nothing of each other's. Unknown keys stay. */
export async function updateConfig(ctx: ConfigPorts, change: (config: Config) => Config): Promise<Config> {
  const folder = ctx.files.config;
  try {
    const { waitingFor, withLock } = await import('../disk/lock/lock.ts');
    return await withLock(join(folder, 'locks', 'config'), waitingFor(ctx, 'the configuration'), async (held) => {
      const config = change(await readConfig(ctx.files));
      held.check();
      await replaceFile(configPath(ctx.files), `${JSON.stringify(config, null, 2)}\n`);
      return config;
    });
  } catch (error) {
    throw diskFailure(error, `The configuration cannot be saved in ${folder}`, orElsewhere('SVC_CONFIG_DIR'));
  }
}

/** Sets keys of one profile; a key that is undefined is removed. */
export function updateProfile(ctx: ConfigPorts, profile: string, change: Partial<ProfileConfig>): Promise<Config> {
  return updateConfig(ctx, (config) => {
    const profiles = config.profiles ?? {};
    const own = Object.hasOwn(profiles, profile) ? profiles[profile] : {};
    return { ...config, profiles: { ...profiles, [profile]: { ...own, ...change } } };
  });
}

export function parseConfig(text: string, path: string): Config {
  const broken = (why: string) =>
    new Failure('usage', `The configuration in ${path} cannot be read: ${why}.`, {
      hint: 'Repair the file by hand, or move it away; it holds no secrets. svc does not overwrite it.',
    });
  const value = jsonIn(text.replace(/^\uFEFF/u, ''));
  if (value === undefined) throw broken('it is not valid JSON');
  if (!isRecord(value)) throw broken('it must be a JSON object');
  const requireTexts = (held: Fields, keys: readonly string[], of: string) => {
    const key = keys.find((one) => held[one] !== undefined && typeof held[one] !== 'string');
    if (key !== undefined) throw broken(`"${key}"${of} must be a text`);
  };
  requireTexts(value, ['default_profile', 'output', 'color', 'pager', 'audit', 'hold', 'drafts'], '');
  const { profiles = {}, aliases = {} } = value;
  if (!isRecord(aliases)) throw broken('"aliases" must be an object');
  for (const [name, command] of Object.entries(aliases)) {
    if (typeof command !== 'string') throw broken(`alias "${name}" must be a text`);
  }
  if (!isRecord(profiles)) throw broken('"profiles" must be an object');
  for (const [name, profile] of Object.entries(profiles)) {
    if (!isRecord(profile)) throw broken(`profile "${name}" must be an object`);
    requireTexts(profile, ['base_url', 'auth_url', 'client_id', 'redirect_uri', 'sends'], ` of profile "${name}"`);
  }
  // The texts were checked above. Whether `output` and `color` are known words is checked where they are used.
  return value as Config;
}

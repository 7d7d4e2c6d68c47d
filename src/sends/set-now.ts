import { readConfig } from '../config/config-file.ts';
import { holdMs } from '../config/given-texts.ts';
import { type SendMode, type Settings, sendsOf } from '../config/settings.ts';
import type { Context } from '../context.ts';

// What runs for long, an inbox or an assistant's server, obeys what was set after it began; it never gets looser.

type Ports = Pick<Context, 'files' | 'env'>;

export async function modeNow({ files, env }: Ports, { profile }: Pick<Settings, 'profile'>): Promise<SendMode> {
  return sendsOf(await readConfig(files), profile, env);
}

/** How long a send is held, in milliseconds. */
export async function holdNow({ files }: Pick<Ports, 'files'>, begun: Pick<Settings, 'holdMs'>): Promise<number> {
  const { hold } = await readConfig(files);
  return Math.max(begun.holdMs ?? 0, hold === undefined ? 0 : holdMs(hold, 'hold in config.json'));
}

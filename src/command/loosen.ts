import { readConfig } from '../config/config-file.ts';
import { type Config, profileConfig, type SendMode, type Settings, sendMode, stricter } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';

type Asking = Pick<Settings, 'profile' | 'noInput'>;

/** Before the profile's mode becomes that text; undefined is none. Throws where nobody agrees. */
export async function agreeToMode(ctx: Context, settings: Asking, text: string | undefined): Promise<void> {
  const now = modeOf(await readConfig(ctx.files), settings.profile);
  await agreeToLoosen(ctx, settings, { now, next: sendMode(text ?? 'allow', 'sends') });
}

/** Before another profile becomes the default, whose mode holds for a credential from the environment. Throws where nobody agrees. */
export async function agreeToDefault(ctx: Context, settings: Asking, profile = 'default'): Promise<void> {
  const config = await readConfig(ctx.files);
  const now = modeOf(config, config.default_profile ?? 'default');
  await agreeToLoosen(ctx, settings, { now, next: modeOf(config, profile) });
}

const modeOf = (config: Config, profile: string): SendMode =>
  sendMode(profileConfig(config, profile).sends ?? 'allow', `sends of profile ${profile}`);

/** What holds sends back is taken away by a person at a terminal alone, whatever --yes says. */
async function agreeToLoosen(
  { ask }: Context,
  { noInput }: Asking,
  { now, next }: { readonly now: SendMode; readonly next: SendMode },
): Promise<void> {
  if (stricter(now, next) === next) return;
  if (!ask.canAsk || noInput) {
    throw new Failure('usage', `sends is ${now}, and ${next} is looser: that asks a person at a terminal.`, {
      hint: 'Nothing was changed. --yes does not answer this.',
    });
  }
  const isAgreed = await ask.confirm(`The mode of sends is ${now}. Change it to ${next}?`);
  if (!isAgreed) throw new Failure('failed', 'Declined. Nothing was changed.');
}

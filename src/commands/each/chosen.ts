import { environmentKinds, variablesOf } from '../../auth/at-hand.ts';
import { heldByProfile } from '../../auth/credentials.ts';
import { readConfig } from '../../config/config-file.ts';
import { profileConfig, type Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';

/** A saved login, and whose it is where svc knows. */
export type Login = {
  readonly profile: string;
  readonly account: { readonly id: number; readonly name: string } | null;
};

type Wanted = { readonly globs: readonly string[]; readonly all: boolean };

/**
 * The profiles that are meant, in the order of their names.
 *
 * @throws Failure `usage` where none is, and where the environment or a flag names another login
 */
export async function chosenLogins(ctx: Context, settings: Settings, { globs, all }: Wanted): Promise<Login[]> {
  if (all === globs.length > 0) {
    throw new Failure('usage', 'Give either --profiles GLOB or --all.', { hint: 'To see the profiles: svc auth list' });
  }
  const given = environmentKinds(ctx.env);
  if (given.length > 0) {
    const variables = variablesOf(given);
    throw new Failure('usage', `${variables} is set, so every profile would use it; nothing was run.`, {
      hint: `Unset ${variables}: svc each uses the saved logins.`,
    });
  }
  if (settings.profileNamed) {
    throw new Failure('usage', 'A profile was named by --profile or SVC_PROFILE; nothing was run.', {
      hint: 'Leave it out: --profiles GLOB or --all says which are meant.',
    });
  }
  const saved = [...(await heldByProfile(ctx.tokens)).keys()].sort();
  const patterns = globs.flatMap((text) => text.split(',')).map((text) => text.trim());
  for (const pattern of patterns) {
    if (saved.some((name) => matcher(pattern).test(name))) continue;
    throw new Failure('usage', `No profile is called "${pattern}"; nothing was run.`, {
      hint: saved.length > 0 ? `Saved: ${saved.join(', ')}.` : 'No login is saved.',
    });
  }
  const names = all ? saved : saved.filter((name) => patterns.some((pattern) => matcher(pattern).test(name)));
  if (names.length === 0)
    throw new Failure('auth', 'No login is saved.', { hint: 'To log in: svc login --profile NAME' });
  const config = await readConfig(ctx.files);
  return names.map((profile) => ({ profile, account: profileConfig(config, profile).account ?? null }));
}

/** `*` is any text, `?` any one character. */
const matcher = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|[\]\\]/gu, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    'u',
  );

import { environmentKinds, variablesOf } from '../../auth/at-hand.ts';
import { heldByProfile } from '../../auth/credentials.ts';
import { readConfig } from '../../config/config-file.ts';
import { type Config, profileConfig, type Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { counted } from '../../text/number.ts';

/** A saved login, and whose it is where svc knows. `of`: the service and the account in it; undefined where it does not. */
export type Login = ReturnType<typeof loginOf>;

const toLogIn = 'To log in: svc login --profile NAME';

type Wanted = { readonly globs: readonly string[]; readonly all: boolean };

/**
 * The profiles that are meant.
 *
 * @throws Failure `usage` where none is, and where the environment or a flag names another login
 */
export async function chosenLogins(ctx: Context, settings: Settings, { globs, all }: Wanted) {
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
  const patterns = globs.flatMap((text) => text.split(',')).map((text) => matcher(text.trim()));
  for (const { text, fits } of patterns) {
    if (saved.some(fits)) continue;
    throw new Failure('usage', `No profile is called "${text}"; nothing was run.`, {
      hint: saved.length > 0 ? `Saved: ${saved.join(', ')}.` : `No login is saved. ${toLogIn}`,
    });
  }
  const isMeant = (name: string) => all || patterns.some(({ fits }) => fits(name));
  const names = saved.filter(isMeant);
  if (names.length === 0) throw new Failure('auth', 'No login is saved.', { hint: toLogIn });
  const config = await readConfig(ctx.files);
  return {
    /** In the order of their names. */
    logins: names.map((profile) => loginOf(config, profile)),
    /** Whether a profile is meant that may not be saved any more. */
    isMeant,
  };
}

function loginOf(config: Config, profile: string) {
  const { account = null, base_url: baseUrl } = profileConfig(config, profile);
  return { profile, account, of: account === null || !baseUrl ? undefined : `${baseUrl} ${account.id}` };
}

/** Profiles that log in to one account, of each account with several such. */
export function sharing(logins: readonly Login[]): readonly (readonly string[])[] {
  const accounts = new Set(logins.flatMap(({ of }) => of ?? []));
  return [...accounts]
    .map((of) => logins.filter((login) => login.of === of).map(({ profile }) => profile))
    .filter((same) => same.length > 1);
}

/** Accounts only where svc knows that each is another one: else what is counted are profiles. */
export function countedLogins(logins: readonly Login[]): string {
  const accounts = new Set(logins.map(({ of }) => of));
  const areAccounts = logins.length === 1 || (accounts.size === logins.length && !accounts.has(undefined));
  return counted(logins.length, areAccounts ? 'account' : 'profile');
}

/** `*` is any text, `?` any one character. */
function matcher(text: string): { readonly text: string; readonly fits: (name: string) => boolean } {
  const pattern = text
    .replaceAll(/[.+^${}()|[\]\\]/gu, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const whole = new RegExp(`^${pattern}$`, 'u');
  return { text, fits: (name) => whole.test(name) };
}

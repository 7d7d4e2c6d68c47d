import { heldByProfile, loginCommand, readStored, type Stored } from '../../auth/credentials.ts';
import { defineCommand } from '../../command/command.ts';
import { param, withFallback } from '../../command/param.ts';
import { advised, typeable } from '../../config/advice.ts';
import { readConfig } from '../../config/config-file.ts';
import { profileConfig, type Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure, interruption, isInterruption } from '../../errors.ts';
import { counted } from '../../text/number.ts';

/** How long the service keeps a refresh token that nobody uses (docs/service.md#oauth-5). */
const lifeMs = 30 * 86_400_000;

const hourMs = 3_600_000;

/** What became of one login. `ends_at`: when its refresh token ends, by this machine's clock. */
type Kept = {
  readonly profile: string;
  readonly account: { readonly id: number; readonly name: string } | null;
  readonly outcome: 'refreshed' | 'failed' | 'unknown';
  readonly ends_at: string | null;
  readonly message: string | null;
};

export const authKeep = defineCommand({
  name: 'keep',
  summary: 'Refresh every saved login that would end soon, for cron',
  details:
    'A login that lies idle for 30 days ends. svc auth keep refreshes those of all profiles that would end within the time given, one line each; with --profile only that one. ' +
    'API keys do not end. Exit 8 where some could not be refreshed, 4 where none could, 9 where it is known of none. A lost answer is told as unknown, not as done: ' +
    'the login is kept, and the next run tries again.',
  flags: {
    within: withFallback(
      param.text('Logins that end within this time, such as 7d or 12h (default 7d)', { placeholder: 'SPAN' }),
      '7d',
    ),
  },
  needs: 'OAuth logins: svc login',
  examples: ['svc auth keep', 'svc auth keep --within 14d --json'],
  async run(ctx, { flags, settings }) {
    const withinMs = spanOf(flags.within);
    const profiles = await loginsIn(ctx, settings);
    const config = await readConfig(ctx.files);
    const kept: Kept[] = [];
    for (const profile of profiles) {
      if (ctx.signal.aborted) throw interrupted(ctx, kept);
      ctx.progress(`Keeping ${profile}`);
      const account = profileConfig(config, profile).account ?? null;
      const result = await keep(ctx, settings, profile, withinMs).catch((error: unknown) => {
        if (error instanceof Failure && isInterruption(error)) throw interrupted(ctx, kept);
        if (error instanceof Failure) return failed(advised(error, { profile }));
        throw error;
      });
      if (result) kept.push({ profile, account, ...result });
    }
    if (ctx.signal.aborted) throw interrupted(ctx, kept);
    const missed = kept.filter(({ outcome }) => outcome !== 'refreshed');
    return {
      data: {
        shape: 'list',
        records: kept,
        columns: [
          'profile',
          { path: 'account.name', header: 'Account' },
          { path: 'outcome', as: 'status' },
          { path: 'ends_at', header: 'Ends', as: 'time' },
          'message',
        ],
        fields: ['profile', 'account', 'outcome', 'ends_at', 'message'],
        empty: profiles.length === 0 ? undefined : `No login ends within ${flags.within}.`,
      },
      // Also in a pipe, so that cron tells of a machine where nobody is logged in, or of another home.
      notes:
        profiles.length === 0
          ? ['No OAuth login is saved here, so there is nothing to keep. To see what is: svc auth list']
          : [],
      ...(missed.length > 0 && missed.length < kept.length && { outcome: 'partial' as const }),
      ...(missed.length > 0 && missed.length === kept.length && { failure: noneOf(missed) }),
    };
  },
});

/** Of all profiles, or of the one that was named. */
async function loginsIn(ctx: Context, { profile: named, profileNamed }: Settings): Promise<string[]> {
  const held = await heldByProfile(ctx.tokens);
  if (profileNamed && !held.get(named)?.includes('oauth')) {
    const hint = typeable(`To log in: ${loginCommand('oauth', named)}`, { profile: named });
    throw new Failure('auth', `The profile ${named} has no OAuth login to keep.`, { hint });
  }
  if (profileNamed) return [named];
  return [...held].flatMap(([profile, kinds]) => (kinds.includes('oauth') ? [profile] : [])).sort();
}

/** That one of them is unknown says more than that the others failed. */
function noneOf(missed: readonly Kept[]): Failure {
  const logins = counted(missed.length, 'login');
  return missed.some(({ outcome }) => outcome === 'unknown')
    ? new Failure('unknown', `None of ${logins} is known to be refreshed.`)
    : new Failure('auth', `None of ${logins} could be refreshed.`);
}

/** Undefined where it does not end soon. */
async function keep(
  ctx: Context,
  settings: Settings,
  profile: string,
  withinMs: number,
): Promise<Omit<Kept, 'profile' | 'account'> | undefined> {
  const held = await readStored(ctx.tokens, profile, 'oauth');
  if (!held) return undefined;
  if (held.refresh_token === undefined) {
    const hint = `It came without a refresh token. Log in again: ${loginCommand('oauth', profile)}`;
    return { outcome: 'failed', ends_at: held.expires_at, message: typeable(hint, { profile }) };
  }
  const now = ctx.clock.now().getTime();
  // A time that cannot be read counts as past, and so does one that lies ahead: this clock or the one it was told by is wrong.
  const isAhead = Date.parse(held.issued_at) > now + hourMs;
  if (!isAhead && endOf(held) - now > withinMs) return undefined;
  const { liveLogin } = await import('../../auth/refresh.ts');
  const login = await liveLogin(ctx, settings.profileNamed ? settings : among(settings, profile), {
    force: true,
  }).catch(async (error: unknown) => {
    // An answer that had begun to come is saved before svc ends.
    const isEnded = error instanceof Failure && isInterruption(error);
    const now = isEnded ? await readStored(ctx.tokens, profile, 'oauth').catch(() => undefined) : undefined;
    if (!now || now.refresh_token === held.refresh_token) throw error;
    return now;
  });
  // Another process has logged it out meanwhile.
  if (!login) return { outcome: 'failed', ends_at: null, message: 'It is logged out.' };
  return { outcome: 'refreshed', ends_at: new Date(endOf(login)).toISOString(), message: null };
}

/** An address that was named is meant for the profile that was named, and here are many. */
function among({ authUrl: _, ...others }: Settings, profile: string): Settings {
  return { ...others, profile, authUrlNamed: false };
}

const endOf = ({ issued_at: issued }: Stored<'oauth'>): number => (Date.parse(issued) || 0) + lifeMs;

const failed = ({ kind, message, hint }: Failure): Omit<Kept, 'profile' | 'account'> => ({
  outcome: kind === 'unknown' ? 'unknown' : 'failed',
  ends_at: null,
  message: [message, hint].filter(Boolean).join(' '),
});

function interrupted(ctx: Context, kept: readonly Kept[]): Failure {
  const done = kept.filter(({ outcome }) => outcome === 'refreshed').map(({ profile }) => profile);
  return interruption(ctx.signal, `Interrupted. Refreshed: ${done.length > 0 ? done.join(', ') : 'none'}.`);
}

const units = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

function spanOf(text: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([mhdw])$/u.exec(text.trim().toLowerCase()) ?? [];
  if (count === undefined) throw new Failure('usage', `--within must be a time like 7d, 12h or 2w, not "${text}".`);
  return Number(count) * units[unit as keyof typeof units];
}

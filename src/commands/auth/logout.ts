import type { CredentialKind } from '../../api/operation.ts';
import { environmentKinds, variablesOf } from '../../auth/at-hand.ts';
import { heldByProfile, nameOf } from '../../auth/credentials.ts';
import { mayLiveOn } from '../../auth/refresh.ts';
import { defineCommand } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure, interruption } from '../../errors.ts';
import { traced } from '../../http/call/call.ts';
import type { LoggedOut } from '../../login/logout.ts';
import { capital } from '../../text/capital.ts';
import { listed } from '../../text/listed.ts';
import { nearHint } from '../../text/near.ts';
import { number } from '../../text/number.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { KeptHere } from './kept-here.ts';

export const authLogout = defineCommand({
  name: 'logout',
  summary: 'Revoke a login at the service and forget it',
  details:
    'If the service cannot be reached, svc keeps the login so that you can try again; --local-only forgets it ' +
    'anyway. svc cannot revoke an API key: it forgets the key, which stays valid in the account. --all asks first.\n\n' +
    'What svc keeps of the account on this machine stays: its copy, drafts, and webhook events. svc names them. The ' +
    'signing secrets of its webhook subscriptions stay too, for svc webhooks listen, serve, trigger and catch-up, unless you give --secrets: the service shows them only once.',
  flags: {
    all: param.toggle('Every profile'),
    secrets: param.toggle('Forget the signing secrets of its webhook subscriptions too'),
    localOnly: param.toggle('Forget it on this machine; do not tell the service'),
  },
  examples: ['svc logout', 'svc logout --profile work', 'svc logout --all --local-only --yes'],
  async run(outer, { flags, settings }) {
    if (flags.all && settings.profileNamed) {
      throw new Failure('usage', `--all and the profile ${settings.profile} cannot be used together.`, {
        hint: 'Leave out --profile (SVC_PROFILE) or --all.',
      });
    }
    const ctx = await traced(outer, settings);
    const { secretsByProfile } = await import('../../webhooks/subscriptions/secrets.ts');
    const profiles = flags.all ? [...(await heldByProfile(ctx.tokens)).keys()] : [settings.profile];
    const signing = [...(await secretsByProfile(ctx.tokens))].filter(
      ([name]) => flags.all || name === settings.profile,
    );
    if (profiles.length === 0) ctx.notice('No login is saved, so there is nothing to log out of.');
    const logout = { ctx, settings, flags, profiles, signing };
    if (flags.all) await agreed(logout);
    const { records, failed } = await logOutEach(logout);
    await dealWithSecrets(logout, records);
    for (const text of told(records, flags)) ctx.notice(text);
    for (const text of await whichThereAre(logout, records)) ctx.notice(text);
    if (failed) throw ofAll(failed);
    const doubtful = records.filter(({ mayLiveOn }) => mayLiveOn).map(({ profile }) => profile);
    if (doubtful.length > 0) throw notAllRevoked(doubtful);
    const variables = variablesOf(environmentKinds(ctx.env));
    const notes = variables ? [`${variables} is set and stays in use.`] : await whatIsUsedNow(logout);
    return {
      data: {
        shape: 'list',
        records: records.map(({ profile, forgotten }) => ({ profile, forgotten })),
        columns: ['profile', 'forgotten'],
      },
      human: () => '',
      plain: () => '',
      notes,
    };
  },
});

type Logout = {
  readonly ctx: Context;
  readonly settings: Settings;
  readonly flags: { readonly all: boolean; readonly secrets: boolean; readonly localOnly: boolean };
  readonly profiles: readonly string[];
  /** The subscriptions of which signing secrets are kept, by profile. */
  readonly signing: readonly (readonly [profile: string, ids: readonly number[]])[];
};

type Ended = LoggedOut & { readonly profile: string; readonly kept: KeptHere | undefined };

async function agreed({ ctx, settings, flags, profiles, signing }: Logout): Promise<void> {
  const count = signing.reduce((sum, [, ids]) => sum + ids.length, 0);
  const logins = profiles.length > 0 ? [`log out of every profile (${profiles.join(', ')})`] : [];
  const secrets = flags.secrets && count > 0 ? [`forget ${secretsOf(count)}`] : [];
  const all = [...logins, ...secrets];
  if (all.length > 0) await confirmed(ctx, settings, `${capital(all.join(' and '))}?`);
}

/** With --all one service that is away must not keep the others' logins. */
async function logOutEach({ ctx, settings, flags, profiles }: Logout) {
  const [{ logout }, { offerRemoval }, { keptHere }] = await Promise.all([
    import('../../login/logout.ts'),
    import('./subscriptions.ts'),
    import('./kept-here.ts'),
  ]);
  const records: Ended[] = [];
  let failed: Failure | undefined;
  for (const profile of profiles) {
    try {
      const own = { ...settings, profile, authUrlNamed: settings.authUrlNamed && !flags.all };
      if (!flags.localOnly) await offerRemoval(ctx, own);
      const kept = await keptHere(ctx, own, {
        named: profile === settings.profile ? '' : ` -p ${profile}`,
        // Those before it are logged out, or stay.
        leaving: profiles.slice(profiles.indexOf(profile)),
      });
      records.push({ profile, kept, ...(await logout(ctx, own, flags)) });
    } catch (error) {
      if (!(error instanceof Failure) || !flags.all) throw error;
      if (failed) ctx.notice(error.message);
      failed ??= error;
    }
    // Whoever pressed Ctrl-C wants to keep the others.
    if (ctx.signal.aborted && profile !== profiles.at(-1)) {
      if (failed) ctx.notice(failed.message);
      failed = interruption(ctx.signal, `Interrupted. Not logged out: ${listed(stillIn(profiles, records))}.`);
      break;
    }
  }
  return { records, failed };
}

const stillIn = (profiles: readonly string[], records: readonly Ended[]): readonly string[] =>
  profiles.filter((one) => records.every(({ profile }) => profile !== one));

/** Of a name that no profile has: the profile that is meant stays logged in. */
async function whichThereAre({ ctx, settings }: Logout, [only]: readonly Ended[]): Promise<string[]> {
  const { profile, profileNamed, profiles } = settings;
  if (!profileNamed || profiles.includes(profile) || (only?.forgotten.length ?? 0) > 0) return [];
  const saved = [...(await heldByProfile(ctx.tokens)).keys()].sort();
  if (saved.length === 0) return [];
  return [[nearHint(profile, saved), `Saved: ${saved.join(', ')}.`].filter(Boolean).join(' ')];
}

/** Where the profile that svc uses without --profile is the one that has no login now. */
async function whatIsUsedNow({ ctx, settings: { profile, profileNamed } }: Logout): Promise<string[]> {
  const saved = [...(await heldByProfile(ctx.tokens)).keys()];
  const [one = '', ...others] = saved;
  if (profileNamed || saved.length === 0 || saved.includes(profile)) return [];
  const next = others.length === 0 ? shellWord(one) : `NAME (${listed(saved, 'or')})`;
  return [`Without --profile svc still uses ${profile}. To change that: svc auth switch ${next}`];
}

/** A login that is kept needs its secrets. */
async function dealWithSecrets({ ctx, settings, flags, profiles, signing }: Logout, records: readonly Ended[]) {
  const { forgetSecret } = await import('../../webhooks/subscriptions/secrets.ts');
  const left = stillIn(profiles, records);
  for (const [profile, ids] of signing.filter(([name]) => !left.includes(name))) {
    const of = `${secretsOf(ids.length)} of profile ${profile}`;
    if (!flags.secrets) {
      const named = settings.profileNamed ? ` --profile ${shellWord(profile)}` : '';
      const own = flags.all ? ' --all' : named;
      ctx.notice(`On this machine svc keeps ${of}. To forget what is kept: svc logout --secrets${own}`);
      continue;
    }
    for (const id of ids) await forgetSecret(ctx.tokens, profile, id);
    ctx.notice(`Forgot ${of}.`);
  }
}

/** What was forgotten, what of it may still be good at the service, and what of the accounts stays on this machine. */
function told(records: readonly Ended[], flags: Logout['flags']): string[] {
  const ended = records.map(({ profile, forgotten }) => {
    const what = forgotten.map(nameOf).join(' and ');
    return what
      ? `Logged out of profile ${profile}: the ${what} ${forgotten.length > 1 ? 'are' : 'is'} forgotten.`
      : `Profile ${profile} is not logged in.`;
  });
  const kinds = new Set(records.flatMap(({ forgotten }) => forgotten));
  if (!records.some(({ mayLiveOn, forgotten }) => !mayLiveOn && forgotten.includes('oauth'))) kinds.delete('oauth');
  const kept = records.flatMap((one) => (one.kept && one.forgotten.length > 0 ? [one.kept] : []));
  // Two profiles may be of one account, which has one copy.
  const stays = [...new Set(kept.map(({ name }) => name))].flatMap((name) => {
    const things = new Set(kept.flatMap((one) => (one.name === name ? one.kept : [])));
    return things.size > 0 ? [`Of ${name} this stays on this machine: ${listed([...things])}.`] : [];
  });
  return [...ended, ...remaining(kinds, flags), ...stays];
}

const secretsOf = (count: number): string =>
  count === 1
    ? '1 signing secret of a webhook subscription'
    : `${number(count)} signing secrets of webhook subscriptions`;

const notAllRevoked = (profiles: readonly string[]): Failure =>
  new Failure(
    'unknown',
    `What svc had of the login of profile ${listed(profiles)} is revoked and forgotten. ${mayLiveOn}`,
    // What was revoked before is part of it.
    { isWhole: true },
  );

/** Its own hint would forget one profile, and leave the others. */
const ofAll = (failed: Failure): Failure =>
  new Failure(failed.kind, failed.message, {
    ...failed,
    hint: 'Try again, or forget them on this machine alone: svc logout --all --local-only',
  });

/** What of the forgotten ones is still good at the service (service.md#oauth-5), and how it ends there. */
function remaining(forgotten: ReadonlySet<CredentialKind>, { localOnly }: { readonly localOnly: boolean }): string[] {
  const texts: string[] = [];
  if (forgotten.has('oauth') && localOnly) {
    texts.push(
      'The OAuth login was not revoked: whoever has its tokens can use them for up to 30 days. To end it now, disconnect the app in the account.',
    );
  } else if (forgotten.has('oauth')) texts.push('The OAuth login was revoked at the service.');
  const kept = [...forgotten].filter((kind) => kind !== 'oauth').map(nameOf);
  if (kept.length > 0) {
    const [is, it, stays] = kept.length > 1 ? ['were', 'them', 'They stay'] : ['was', 'it', 'It stays'];
    texts.push(
      `The ${kept.join(' and ')} ${is} not revoked, which svc cannot do. ${stays} valid until you delete ${it} in the account.`,
    );
  }
  return texts;
}

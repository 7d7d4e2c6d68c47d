import type { CredentialKind } from '../../api/operation.ts';
import { readConfig } from '../../config/config-file.ts';
import { originOf } from '../../config/service-url.ts';
import { profileConfig, type Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { type Client, titles } from '../../mcp/clients.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { sanitize } from '../../text/sanitize.ts';

type Entered = {
  readonly client: Client | 'print';
  /** Variables that are not written down. */
  readonly left: readonly string[];
};

/** Warnings: what this shell has, and the svc that an assistant starts will not. */
export async function lacksOf(ctx: Context, settings: Settings, { client, left }: Entered): Promise<string[]> {
  const { isWithinOne } = await import('../../sandbox/environment.ts');
  return [
    ...(isWithinOne(ctx.env) ? [endsWithSandbox] : []),
    ...left.map(
      (name) => `Warning: ${name} may hold a password, so it is not written: set it where the assistant starts svc.`,
    ),
    ...(await lacksLogin(ctx, settings, client === 'print' ? 'the assistant' : titles[client])),
  ];
}

const endsWithSandbox =
  'Warning: this shell is within svc sandbox exec. The entry leads to that sandbox, which is gone once the shell ends. ' +
  'For your account, run this in another shell.';

/** The client starts svc without the credentials of this shell: only what the profile keeps is there. */
async function lacksLogin(ctx: Context, settings: Settings, title: string): Promise<string[]> {
  const { heldByProfile, loginCommand, nameOf } = await import('../../auth/credentials.ts');
  const { environmentKinds, variablesOf } = await import('../../auth/at-hand.ts');
  const { profile } = settings;
  const held = (await heldByProfile(ctx.tokens)).get(profile) ?? [];
  const kinds = environmentKinds(ctx.env);
  const lacked = `${title} will not have your ${variablesOf(kinds)}`;
  if (held.length === 0) {
    const login = loginCommand(kinds[0] ?? 'oauth', profile);
    return [
      `Warning: profile ${profile} holds no login${kinds.length > 0 ? `, and ${lacked}` : ''}. To log in: ${login}`,
    ];
  }
  const strange = await ofOtherOrigin(ctx, settings, held);
  if (strange) return [`Warning: ${strange}`];
  if (kinds.length === 0) return [];
  const { account } = profileConfig(await readConfig(ctx.files), profile);
  const whose = account ? ` of account ${account.id} (${sanitize(account.name)})` : '';
  return [`Warning: ${lacked}: it acts with the ${held.map(nameOf).join(' and ')} of profile ${profile}${whose}.`];
}

/** A login that the address of the entry does not get: svc would stop before anything is sent. */
async function ofOtherOrigin(
  { tokens }: Context,
  { profile, baseUrl, baseUrlNamed }: Settings,
  held: readonly CredentialKind[],
): Promise<string | undefined> {
  if (!baseUrlNamed || !baseUrl) return undefined;
  const { loginCommand, nameOf, newProfile, readStored } = await import('../../auth/credentials.ts');
  for (const kind of held) {
    const stored = await readStored(tokens, profile, kind).catch(insteadOf('any', undefined));
    if (!stored || originOf(stored.base_url) === originOf(baseUrl)) continue;
    const login = loginCommand(kind, newProfile(baseUrl), baseUrl);
    return (
      `the ${nameOf(kind)} of profile ${profile} belongs to ${originOf(stored.base_url)}, not to ${originOf(baseUrl)} that ` +
      `the entry names: the assistant is refused. Leave out --base-url (SVC_BASE_URL), or log in there and name that profile: ${login}`
    );
  }
  return undefined;
}

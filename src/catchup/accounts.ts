import { readConfig } from '../config/config-file.ts';
import { credentialNames } from '../config/credential-variables.ts';
import { profileName } from '../config/given-texts.ts';
import { parseServiceUrl } from '../config/service-url.ts';
import { type Config, defaultRedirectUri, profileConfig, type Settings } from '../config/settings.ts';
import { type Context, withContext } from '../context.ts';
import type { Env } from '../env.ts';
import { Failure } from '../errors.ts';
import { ofAccount, withoutAccount } from '../webhooks/event/account.ts';
import type { AccountConfig, ServeConfig } from '../webhooks/serve/config-schema.ts';
import { secretVariables } from '../webhooks/serve/doors.ts';
import type { InboxAdmin } from '../webhooks/store/inbox-store.ts';
import type { Arrival } from '../webhooks/store/line.ts';

/** What the searches for one account see of an inbox: only what is its own, as its own service knows it. */
export function accountAdmin(admin: InboxAdmin, account: string | undefined) {
  return {
    seeAll: (see: (arrival: Arrival) => undefined) =>
      admin.newest((arrival) => (arrival.account === account ? see(withoutAccount(arrival)) : undefined), {}),
    addAll: (arrivals: readonly Arrival[]) => admin.addAll(arrivals.map((arrival) => ofAccount(account, arrival))),
    starts: admin.starts.of(account),
  };
}

/** The run as that profile's: with its login alone. */
export async function asProfile(ctx: Context, settings: Settings, profile: string) {
  const config = await readConfig(ctx.files);
  const own = withContext(ctx, { env: withoutCredentials(ctx.env) });
  return { ctx: own, settings: settingsOfProfile(settings, config, profile) };
}

/** The variables with the signing secrets of the account. */
export const secretsOfAccount = (config: ServeConfig, account: string | undefined): readonly string[] =>
  account === undefined ? secretVariables(config) : (accountIn(config, account)?.secrets.env ?? []);

const accountIn = ({ accounts = [] }: ServeConfig, name: string): AccountConfig | undefined =>
  accounts.find((one) => one.name === name);

/**
 * The account that a command is for: where the configuration has several, one of them has to be named.
 * @throws Failure `usage`
 */
export function chosenAccount(config: ServeConfig | undefined, name: string | undefined): AccountConfig | undefined {
  const names = (config?.accounts ?? []).map((one) => one.name);
  if (name === undefined && names.length === 0) return undefined;
  const found = name !== undefined && config ? accountIn(config, name) : undefined;
  if (found) return found;
  const known = names.length === 0 ? 'The configuration has no accounts.' : `Accounts: ${names.join(', ')}.`;
  if (name !== undefined) throw new Failure('usage', `There is no account ${name}.`, { hint: known });
  throw new Failure('usage', 'The inbox is of several accounts, so --account NAME is needed.', { hint: known });
}

/**
 * The same for another profile, whatever the command line and the environment say of one: that holds for a command that
 * works with several. Its credentials are the profile's own (`withoutCredentials`).
 */
function settingsOfProfile(settings: Settings, config: Config, profile: string): Settings {
  const own = profileConfig(config, profileName({ text: profile, by: 'profile' }));
  const url = (text: string | undefined, key: string): string | undefined =>
    text ? parseServiceUrl(text, `${key} of profile ${profile}`) : undefined;
  return {
    ...settings,
    profile,
    profileNamed: true,
    carried: { ...settings.carried, profile },
    baseUrl: settings.baseUrlNamed ? settings.baseUrl : url(own.base_url, 'base_url'),
    authUrl: settings.authUrlNamed ? settings.authUrl : url(own.auth_url, 'auth_url'),
    clientId: own.client_id || undefined,
    redirectUri: own.redirect_uri || defaultRedirectUri,
  };
}

/** An environment whose credentials are not there: they are of one account, and would be taken for every profile's. */
const withoutCredentials = (env: Env): Env => ({
  ...env,
  ...Object.fromEntries(credentialNames.map((name) => [name, undefined])),
});

import type { Env } from '../env.ts';
import { credentialNames } from './credential-variables.ts';
import { profileName } from './given-texts.ts';
import { parseServiceUrl } from './service-url.ts';
import { type Config, defaultRedirectUri, profileConfig, type Settings } from './settings.ts';

/**
 * The same for another profile, whatever the command line and the environment say of one: that holds for a command that
 * works with several. Its credentials are the profile's own (`withoutCredentials`).
 */
export function settingsOfProfile(settings: Settings, config: Config, profile: string): Settings {
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
export const withoutCredentials = (env: Env): Env => ({
  ...env,
  ...Object.fromEntries(credentialNames.map((name) => [name, undefined])),
});

import { basename, dirname } from 'node:path';
import type { Context } from '../context.ts';
import type { Address } from './open.ts';

/** The user's own settings that must not reach a sandbox, such as a real token. */
const hidden = [
  'SVC_PROFILE',
  'SVC_ACCESS_TOKEN',
  'SVC_M2M_TOKEN',
  'SVC_PARTNER_SEGMENT',
  'SVC_WEBHOOK_SECRET',
  // A pull or a draft inside would write the sandbox's records into the team's database.
  'SVC_MIRROR_DB',
  'SVC_DRAFTS_DB',
];

/** The user's environment, pointed at the sandbox; config and state go into the folder. */
export function environmentFor(
  outer: Context['env'],
  address: Address,
  folder: string,
): Record<string, string | undefined> {
  const direct = [outer.NO_PROXY ?? outer.no_proxy, '127.0.0.1'].filter(Boolean).join(',');
  return {
    ...outer,
    ...Object.fromEntries(hidden.map((name) => [name, undefined])),
    PATH: [`${folder}/bin`, outer.PATH].filter(Boolean).join(process.platform === 'win32' ? ';' : ':'),
    SVC_BASE_URL: address.base_url,
    SVC_AUTH_URL: address.auth_url,
    SVC_API_KEY: address.accounts[0]?.api_key,
    SVC_CLIENT_ID: address.client_id,
    SVC_CLIENT_SECRET: address.client_secret,
    SVC_CONFIG_DIR: `${folder}/config`,
    SVC_STATE_DIR: `${folder}/state`,
    // The system's keyring would outlive the sandbox.
    SVC_TOKEN_STORE: 'file',
    NO_PROXY: direct,
    no_proxy: direct,
  };
}

/** How the folder of a sandbox begins that ends with its command. */
export const ownFolder = 'svc-sandbox-';

/** Whether svc was started by the command of such a sandbox: its address and its folders are gone once that ends. */
export const isWithinOne = ({ SVC_CONFIG_DIR: config = '', SVC_STATE_DIR: state }: Context['env']): boolean =>
  basename(dirname(config)).startsWith(ownFolder) && state === `${dirname(config)}/state`;

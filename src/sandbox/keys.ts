import { randomBytes, timingSafeEqual } from 'node:crypto';
import { known } from './known.ts';
import type { Row } from './store/records.ts';
import { put, type State } from './store/state.ts';

/** The secrets of one sandbox. */
export type Keys = {
  /** In the order of the accounts, 1 and 2. */
  readonly apiKeys: readonly [string, string];
  readonly m2mToken: string;
  readonly clientSecret: string;
  /** It holds the records of real customers: control calls need an API key. */
  readonly isPrivate: boolean;
};

/** Of a sandbox that holds nobody's data. */
const { apiKeys, m2mToken, clientSecret } = known;
export const openKeys: Keys = { apiKeys, m2mToken, clientSecret, isPrivate: false };

const randomKey = (kind: string): string => `${kind}_mirror_${randomBytes(32).toString('base64url')}`;

/**
 * Of a sandbox that holds a copy of a real account: nobody else on this machine may read it. The client's secret stays
 * with the records, and says of a state file or a seed that it came from such a copy.
 */
export const privateKeys = (clientSecret = randomKey('secret')): Keys => ({
  apiKeys: [randomKey('key'), randomKey('key')],
  m2mToken: randomKey('m2m'),
  clientSecret,
  isPrivate: true,
});

/** The secret of the client in records of a real account; undefined in all others. */
export const secretIn = (clients: Iterable<Row<'clients'>> = []): string | undefined =>
  [...clients].find(({ client_secret: secret }) => secret.startsWith('secret_mirror_'))?.client_secret;

/** Gives a client that everyone knows the secret of this sandbox, where that has one of its own. */
export function withHiddenClients(state: State, { clientSecret, isPrivate }: Keys): State {
  for (const client of isPrivate ? state.rows.clients.values() : [])
    if (client.client_secret === known.clientSecret) put(state, 'clients', { ...client, client_secret: clientSecret });
  return state;
}

/** Says which key of the sandbox a token is. Compared in a time that tells its length, and nothing about where it differs. */
export function matcherOf({ apiKeys, m2mToken }: Keys) {
  const kept = [
    { key: { kind: 'm2m' as const }, bytes: Buffer.from(m2mToken) },
    ...apiKeys.map((key, at) => ({ key: { kind: 'api_key' as const, account: at + 1 }, bytes: Buffer.from(key) })),
  ];
  return (token: string) => {
    const given = Buffer.from(token);
    return kept.filter(({ bytes }) => bytes.length === given.length && timingSafeEqual(bytes, given))[0]?.key;
  };
}

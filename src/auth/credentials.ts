import * as v from 'valibot';
import { type CredentialKind, credentialKinds } from '../api/operation.ts';
import { originOf } from '../config/service-url.ts';
import type { TokenStore } from '../context.ts';
import { Failure } from '../errors.ts';
import { jsonIn } from '../text/json.ts';

/** A secret that does not change: an API key or a machine-to-machine token. */
const Static = v.looseObject({
  /** A credential belongs to the service that it was stored for, whatever the config says later. */
  base_url: v.string(),
  token: v.string(),
  account_id: v.optional(v.number()),
});

const OAuth = v.looseObject({
  base_url: v.string(),
  auth_url: v.string(),
  client_id: v.string(),
  access_token: v.string(),
  /** Absent where the service gave none; then the login ends with its access token. */
  refresh_token: v.optional(v.string()),
  /** ISO 8601, by this machine's clock. */
  issued_at: v.string(),
  expires_at: v.string(),
  scopes: v.array(v.string()),
  /** The account that the service named at the login; absent where it did not. */
  account_id: v.optional(v.number()),
  /** See `loginIdOf`. */
  login_id: v.optional(v.string()),
  /** A refresh of it was sent and never answered: the service may have given tokens that svc does not have. */
  unanswered: v.optional(v.boolean()),
});

/** The pre-registered client: its secret is kept like a token, and outlives a login that has ended. */
const Client = v.looseObject({ auth_url: v.string(), client_id: v.string(), client_secret: v.string() });

type Secrets = {
  readonly api_key: v.InferOutput<typeof Static>;
  readonly m2m: v.InferOutput<typeof Static>;
  readonly oauth: v.InferOutput<typeof OAuth>;
  readonly client: v.InferOutput<typeof Client>;
};
export type SecretKind = keyof Secrets;
export type Stored<K extends SecretKind> = Secrets[K];

const schemas: { readonly [K in SecretKind]: v.GenericSchema<unknown, Secrets[K]> } = {
  api_key: Static,
  m2m: Static,
  oauth: OAuth,
  client: Client,
};

export const secretName = (profile: string, kind: SecretKind): string => `profile/${profile}/${kind}`;

export async function readStored<K extends SecretKind>(
  tokens: TokenStore,
  profile: string,
  kind: K,
): Promise<Stored<K> | undefined> {
  return parseStored(await tokens.read(secretName(profile, kind)), profile, kind);
}

/** No message repeats what is stored. */
export function parseStored<K extends SecretKind>(
  text: string | undefined,
  profile: string,
  kind: K,
): Stored<K> | undefined {
  if (text === undefined) return undefined;
  const schema: v.GenericSchema<unknown, Stored<K>> = schemas[kind];
  const parsed = v.safeParse(schema, jsonIn(text));
  if (parsed.success) return parsed.output;
  throw new Failure('auth', `The saved ${nameOf(kind)} of profile ${profile} is damaged.`, {
    hint: `Log in again with: ${loginCommand(kind, profile)}`,
  });
}

/** It is saved durably when this resolves. */
export async function store<K extends SecretKind>(
  tokens: TokenStore,
  { profile, kind, place = 'best' }: { readonly profile: string; readonly kind: K; readonly place?: 'best' | 'file' },
  secret: Stored<K>,
): Promise<void> {
  await tokens.update(secretName(profile, kind), async () => JSON.stringify(secret), place);
}

export async function forget(
  tokens: TokenStore,
  profile: string,
  kind: SecretKind,
  { localOnly = false } = {},
): Promise<void> {
  await tokens.update(secretName(profile, kind), async () => undefined, localOnly ? 'file' : 'best');
}

/** The kinds that each profile holds. Asks the store's index only, never the keyring. */
export async function heldByProfile(tokens: TokenStore): Promise<Map<string, CredentialKind[]>> {
  const held = new Map<string, CredentialKind[]>();
  const names = await tokens.names('profile/');
  for (const kind of credentialKinds) {
    for (const name of names) {
      const [, profile, what] = name.split('/');
      if (profile && what === kind) held.set(profile, [...(held.get(profile) ?? []), kind]);
    }
  }
  return held;
}

export const nameOf = (kind: SecretKind): string =>
  ({ api_key: 'API key', oauth: 'OAuth login', m2m: 'machine-to-machine token', client: 'client secret' })[kind];

/** The command that gets a credential of that kind. */
export function loginCommand(kind: SecretKind, profile: string, baseUrl?: string): string {
  const flag = { api_key: ' --with-api-key', m2m: ' --with-m2m-token', oauth: '', client: '' }[kind];
  return `svc login${profile === 'default' ? '' : ` --profile ${profile}`}${baseUrl ? ` --base-url ${baseUrl}` : ''}${flag}`;
}

/** A name for a profile of its own at that service, so that advice can be typed as it stands. */
export const newProfile = (baseUrl: string): string =>
  new URL(baseUrl).host
    .replaceAll(/[^\w.]+/gu, '-')
    .replace(/^[^A-Za-z0-9]+/u, '')
    .slice(0, 64);

/** A minute before the end, or a tenth of a shorter life: time enough for a request that is on its way. */
export function endsSoon({ issued_at, expires_at }: Stored<'oauth'>, now: Date): boolean {
  const end = Date.parse(expires_at);
  const margin = Math.min(60_000, Math.max(0, end - Date.parse(issued_at)) / 10);
  // A date that cannot be read counts as past.
  return !(now.getTime() < end - margin);
}

/** Whether a kept client secret is that of this client at this service. */
export const isSameClient = (kept: Stored<'client'>, authUrl: string, clientId: string): boolean =>
  kept.client_id === clientId && originOf(kept.auth_url) === originOf(authUrl);

/** What is copied along with a token, or left around it. The token itself is never shown. */
const aroundIt = [
  [
    'a quotation mark at its begin or end',
    /^["'`]|["'`]$/u,
    'docker --env-file, for one, keeps the quotation marks of a file.',
  ],
  ['the name of a variable before it', /^(?:export\s+)?SVC_\w+\s*=/u, 'What stands before the first = is a name.'],
  ['white space in it', /\s/u, 'Two lines or words were given.'],
] as const;

/** A token becomes a header's value: whatever could end the header or start another is refused where it comes in. */
export function checkToken(text: string, what: string): string {
  const token = text.trim();
  const extra = aroundIt.find(([, found]) => found.test(token));
  if (extra)
    throw new Failure('usage', `${what} has ${extra[0]}, which is no part of it; nothing was sent.`, {
      hint: `${extra[2]} Give the secret alone.`,
    });
  if (/^[\x21-\x7e]+$/u.test(token)) return token;
  throw new Failure('usage', token === '' ? `${what} is empty.` : `${what} contains characters that no token has.`, {
    hint: 'Copy it exactly: one line, without spaces or quotes.',
  });
}

/** A client secret may hold anything printable, also spaces (RFC 6749, appendix A.2); it travels in a form. */
export function checkClientSecret(text: string): string {
  const secret = text.replace(/(?<![\r\n])[\r\n]+$/u, '');
  if (/^[\x20-\x7e]+$/u.test(secret)) return secret;
  throw new Failure(
    'usage',
    secret === '' ? 'The client secret is empty.' : 'The client secret is not readable text.',
    { hint: 'Copy it exactly: one line.' },
  );
}

import { scopes as allScopes, type Scope } from '../api/operation.ts';
import { checkClientSecret, isSameClient, readStored } from '../auth/credentials.ts';
import type { Client } from '../auth/token-endpoint.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { isLoopbackHost } from '../text/loopback.ts';
import { type Lines, readSecret } from './stdin-lines.ts';

/** The 14 scopes, or those of `--scope`, which may hold several. */
export function parseScopes(texts: readonly string[]): readonly Scope[] {
  if (texts.length === 0) return allScopes;
  const names = texts.flatMap((text) => text.split(/[\s,]+/u)).filter(Boolean);
  const unknown = names.find((name) => !allScopes.some((scope) => scope === name));
  if (unknown === undefined) return allScopes.filter((scope) => names.includes(scope));
  throw new Failure('usage', `--scope: there is no scope "${unknown}".`, { hint: `There are: ${allScopes.join(' ')}` });
}

/** A redirect URI must match the registered one exactly (OAuth clients), so it is judged but never rewritten. */
export function checkRedirectUri(text: string, by: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const loopback = url && isLoopbackHost(url.hostname);
  const fits = url && !url.hash && (url.protocol === 'https:' || (url.protocol === 'http:' && loopback));
  if (fits) return text;
  throw new Failure('usage', `${by}: "${text}" is not a redirect URI.`, {
    hint: 'It is http:// on this machine (http://127.0.0.1:PORT/callback) or https://, exactly as registered.',
  });
}

type Ports = Pick<Context, 'stdin' | 'ask' | 'env' | 'tokens' | 'notice'>;

type Sought = {
  readonly clientId?: string;
  readonly authUrl: string;
  readonly lines: Lines;
  /** A login of this client is there, so its secret is known: no line of a pipe is needed for it. */
  readonly isRenewal?: boolean;
};

/** The pre-registered client: its id from a flag, the environment or the profile, its secret never from a flag. */
export async function findClient(
  ctx: Ports,
  settings: Settings,
  { clientId, authUrl, lines, isRenewal }: Sought,
): Promise<Client> {
  const id = clientId ?? settings.clientId ?? (await askClientId(ctx, settings));
  const isKept = ctx.stdin.isTTY || isRenewal;
  const secret = ctx.env.SVC_CLIENT_SECRET || (isKept && (await keptSecret(ctx, settings, authUrl, id)));
  const clientSecret = secret || (await readSecret(ctx, 'client secret', lines, settings.noInput));
  return { authUrl, clientId: id, clientSecret: checkClientSecret(clientSecret) };
}

async function askClientId(ctx: Ports, { noInput }: Settings): Promise<string> {
  const canAsk = ctx.ask.canAsk && !noInput;
  if (canAsk) {
    ctx.notice(
      'A login in the browser needs an OAuth client, which is registered with the product beforehand; its id and secret come with the ' +
        'registration. An API key needs none: svc login --with-api-key',
    );
  }
  const id = canAsk ? (await ctx.ask.text('Client id:')).trim() : '';
  if (id) return id;
  throw new Failure('usage', 'The id of the OAuth client is not known.', {
    hint: 'Give --client-id ID or set SVC_CLIENT_ID. Without a client: svc login --with-api-key',
  });
}

/** On a terminal the secret of an earlier login is used again. In a pipe the first line of a new one is always the secret. */
async function keptSecret(
  ctx: Ports,
  { profile }: Settings,
  authUrl: string,
  clientId: string,
): Promise<string | undefined> {
  const kept = await readStored(ctx.tokens, profile, 'client').catch(() => undefined);
  return kept && isSameClient(kept, authUrl, clientId) ? kept.client_secret : undefined;
}

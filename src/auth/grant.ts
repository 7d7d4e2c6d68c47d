import { isRecord } from '../text/record.ts';
import type { Answered } from './token-endpoint.ts';

/** What the token endpoint grants; `scopes` may be fewer than were asked for. */
export type Grant = {
  readonly access_token: string;
  readonly refresh_token?: string;
  /** ISO 8601, by this machine's clock. */
  readonly issued_at: string;
  readonly expires_at: string;
  readonly scopes: string[];
};

/** A good refresh token beside an access token that cannot be sent: with it a whole grant can be had. */
export type RefreshOnly = { readonly refreshOnly: string };

/** Access tokens last one hour (service.md#oauth-5). */
const usualLifetime = 3600;
const longestLifetime = 366 * 24 * 3600;

/**
 * The grant in an answer, or undefined where it holds neither an access token that could be sent nor a refresh token. A refresh token works once:
 * when this answer comes, the old pair is gone, so a new one is kept however odd the rest of the answer is.
 */
export function grantOf({ answer, sentAt }: Answered, asked: readonly string[]): Grant | RefreshOnly | undefined {
  if (answer.status < 200 || answer.status > 299) return undefined;
  const fields = objectIn(answer.body);
  const access_token = tokenIn(fields?.access_token);
  const refresh_token = tokenIn(fields?.refresh_token);
  if (!fields || !access_token) return refresh_token === undefined ? undefined : { refreshOnly: refresh_token };
  return {
    access_token,
    ...(refresh_token && { refresh_token }),
    issued_at: sentAt.toISOString(),
    expires_at: new Date(sentAt.getTime() + lifetimeIn(fields.expires_in) * 1000).toISOString(),
    scopes: scopesIn(fields.scope) ?? [...asked],
  };
}

function objectIn(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.replace(/^\uFEFF/u, ''));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A token must fit into a header and into a form. */
const tokenIn = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[\x21-\x7e]+$/u.test(value) ? value : undefined;

/** Without a sensible lifetime the document's counts. If the token ends sooner, a 401 will tell. */
function lifetimeIn(value: unknown): number {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, longestLifetime) : usualLifetime;
}

/** Undefined where the answer does not tell: then what was asked for was granted (RFC 6749, section 5.1). */
function scopesIn(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.split(/[\s,]+/u).filter(Boolean);
  return Array.isArray(value) ? value.filter((scope) => typeof scope === 'string' && scope !== '') : undefined;
}

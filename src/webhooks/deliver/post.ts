import type { Context, HttpResponse, Lost } from '../../context.ts';
import type { Headers } from '../event/envelope.ts';
import type { Arrival } from '../store/line.ts';

export type Posting = {
  readonly to: string;
  /** For the whole exchange. */
  readonly timeoutMs: number;
  /** Cuts it off. */
  readonly signal?: AbortSignal;
};

/** A stored event to a URL: the same bytes with their original headers. Rejects where it cannot be sent at all. */
export const post = async (
  exchange: Context['exchange'],
  { headers, body, account }: Pick<Arrival, 'headers' | 'body' | 'account'>,
  { to, timeoutMs, signal }: Posting,
): Promise<HttpResponse | Lost> => {
  const told = { ...passedOn(headers), ...(account !== undefined && { [accountHeader]: account }) };
  return exchange({ method: 'POST', url: to, headers: told, body, timeoutMs, signal });
};

/** Only a complete 2xx answer says that the app has taken it. */
export const isTaken = ({ status }: { readonly status: number | null }): boolean =>
  status !== null && status >= 200 && status < 300;

/** Whose it is. Only svc says so: what comes under that name is not passed on, nor what some servers take for it. */
const accountHeader = 'x-svc-account';

/** Of one connection, not of the message (RFC 9110, 7.6.1); and what the next connection says again. */
const ofTheConnection = new Set(
  `connection content-length expect host keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer
  transfer-encoding upgrade`.split(/\s+/u),
);

/** The original headers, so that the app can verify the signature itself. */
export const passedOn = (headers: Headers): Headers =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !ofTheConnection.has(name) && name.replaceAll('_', '-') !== accountHeader,
    ),
  );

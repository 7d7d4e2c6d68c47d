import type { HttpResponse } from '../context.ts';

/** Never less between two tries, whatever the service asks for. */
const shortestMs = 250;

/**
 * `Retry-After` in milliseconds (RFC 9110, section 10.2.3): decimal seconds, or a date read against the answer's own
 * `Date`. Anything else counts as one second. Undefined where there is none.
 */
export function retryAfterMs(headers: HttpResponse['headers']): number | undefined {
  const value = headers['retry-after']?.trim();
  if (value === undefined) return undefined;
  return Math.max(shortestMs, askedFor(value, headers.date));
}

function askedFor(value: string, date = ''): number {
  if (/^\d+(?:\.\d+)?$/u.test(value)) return Number(value) * 1000;
  const ms = Date.parse(value) - Date.parse(date);
  return /[a-z]{3}/iu.test(value) && !Number.isNaN(ms) ? ms : 1000;
}

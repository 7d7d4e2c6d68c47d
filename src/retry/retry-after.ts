import type { HttpResponse } from '../context.ts';

/** Between two tries, whatever the service asks for: what asks for less would be a busy loop. */
const leastMs = 250;
/** For a header that cannot be read. */
const otherwiseMs = 1000;

/**
 * `Retry-After` in milliseconds: decimal seconds, or an HTTP date, read against the answer's own `Date`, because the
 * clock of this machine may be off. Undefined where the answer has no such header.
 */
export function retryAfterMs(headers: HttpResponse['headers']): number | undefined {
  const value = headers['retry-after']?.trim();
  if (value === undefined) return undefined;
  return Math.max(leastMs, /^\d+(\.\d+)?$/u.test(value) ? Number(value) * 1000 : untilDate(value, headers.date));
}

function untilDate(value: string, date: string | undefined): number {
  const [at, now] = [httpDate(value), httpDate(date?.trim() ?? '')];
  return Number.isNaN(at) || Number.isNaN(now) ? otherwiseMs : at - now;
}

/** `Date.parse` takes more than dates ("-5" is a year), so the form is looked at first (RFC 9110, section 5.6.7). */
const httpDate = (text: string): number =>
  /^(?:[A-Z][a-z]{2}, \d{2} |[A-Z][a-z]{5,8}, \d{2}-|[A-Z][a-z]{2} [A-Z][a-z]{2} )/u.test(text)
    ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
    : Number.NaN;

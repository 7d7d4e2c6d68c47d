/**
 * Whether a client may be answered at this address (service.md#oauth-1): exactly as registered, also in
 * its port, or below a registered wildcard host. Text is compared, never parsed URLs: two parsers that disagree about
 * a URL are how codes reach the wrong host.
 */
export const isRegistered = (registered: readonly string[], asked: string): boolean =>
  registered.some((pattern) => (pattern.includes('*') ? matchesWildcard(pattern, asked) : pattern === asked));

const wildcard = /^https:\/\/\*(?<rest>\.[^/*?#@]+\/[^*#]*)$/u;

/** `*` stands for one DNS label, as in a certificate. */
function matchesWildcard(pattern: string, asked: string): boolean {
  const rest = wildcard.exec(pattern)?.groups?.rest;
  if (rest === undefined || !asked.startsWith('https://') || !asked.endsWith(rest)) return false;
  const label = asked.slice('https://'.length, asked.length - rest.length);
  return /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/iu.test(label);
}

/** The address with an answer added to whatever query it has (RFC 6749, 4.1.2 and 4.1.2.1). */
export function withAnswer(redirectUri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(answer).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const query = new URLSearchParams(given).toString();
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`;
}

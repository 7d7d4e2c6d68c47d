/** Names of this machine, as `URL` writes them: the first is the one that histories are kept under. */
const ownNames = ['localhost', '127.0.0.1', '[::1]', '[::ffff:7f00:1]'];

/**
 * Scheme, host and port of a service, the same however its address is written: `URL` sees to the case and to the usual
 * port, a dot at the end of a name says nothing, and on one port this machine is one service under each of its names.
 */
export const serviceName = (url: string): string => spellingsOf(new URL(url).origin)[0] ?? url;

/** The same URL under each name that its service goes by. */
export function spellingsOf(url: string): string[] {
  const { protocol, hostname, port, pathname } = new URL(url);
  const host = hostname.replace(/(?<=[^.])\.$/u, '');
  const hosts = ownNames.includes(host) ? ownNames : [host];
  const path = pathname.replace(/\/+$/u, '');
  return hosts.map((name) => `${protocol}//${name}${port === '' ? '' : `:${port}`}${path}`);
}

import { isLoopbackHost } from '../text/loopback.ts';

/** By these a container reaches the machine that it runs on, and a program any address of it. No site can own them. */
const ofMachine = ['host.docker.internal', 'host.containers.internal', '0.0.0.0'];

/**
 * Whether a request came to an address of this machine. A site may let its own name lead here, and its page could then
 * read the sandbox in a browser as if it were that site.
 */
export function isOwnHost(host: string): boolean {
  const name = host.replace(/:\d+$/u, '').toLowerCase();
  return isLoopbackHost(name) || name.endsWith('.localhost') || ofMachine.includes(name);
}

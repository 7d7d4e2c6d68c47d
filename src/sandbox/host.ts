import { isLoopbackHost } from '../text/loopback.ts';

/** By these a container reaches the machine that it runs on. Nobody can own a name below them. */
const ofContainers = ['host.docker.internal', 'host.containers.internal'];

/**
 * Whether a request came to an address of this machine. A site may let its own name lead here, and its page could then
 * read the sandbox in a browser as if it were that site.
 */
export function isOwnHost(host: string): boolean {
  const name = host.replace(/:\d+$/u, '').toLowerCase();
  return isLoopbackHost(name) || name.endsWith('.localhost') || ofContainers.includes(name);
}

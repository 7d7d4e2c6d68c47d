import type { Env } from '../env.ts';
import { isLoopbackHost } from '../text/loopback.ts';
import type { Sending } from './sending.ts';

/** Through the proxies of the environment; what stays on this machine goes `straight`, whatever they are. */
export function byAddress(env: Env, straight: Sending): Sending {
  let through: Sending | undefined;
  return async (asked, flight) => {
    if (isLoopbackHost(new URL(asked.url).hostname)) return straight(asked, flight);
    const { proxied } = await import('./proxied.ts');
    through ??= proxied(env);
    return through(asked, flight);
  };
}

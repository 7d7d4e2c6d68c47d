import { hostname, userInfo } from 'node:os';
import type { Context } from '../context.ts';
import type { Who } from './entry.ts';

/** Who runs svc, and the program that does so for them. */
export function whoIs({ env, origin }: Pick<Context, 'env' | 'origin'>): Who {
  user ??= userOf(env);
  host ??= hostname();
  return { user, host, client: origin?.client ?? null };
}

let user: string | undefined;
let host: string | undefined;

/** A container may run as somebody whom its system does not know. */
function userOf(env: Context['env']): string {
  try {
    return userInfo().username;
  } catch {
    return env.USER ?? env.USERNAME ?? String(process.getuid?.() ?? '');
  }
}

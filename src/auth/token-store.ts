import type { Context, TokenStore } from '../context.ts';
import { Failure } from '../errors.ts';
import { openStore } from './store-file.ts';
import { systemKeyring } from './store-keyring.ts';

type Parts = Pick<Context, 'env' | 'files' | 'clock' | 'random' | 'notice' | 'progress' | 'signal'> & {
  readonly platform: NodeJS.Platform;
};

/**
 * The store of this run: `SVC_TOKEN_STORE` says which. The keyring falls back to the file with
 * a warning, because a login that was just made, or a pair that was just rotated, must not be lost.
 */
export function tokenStore({ env, files, clock, random, platform, ...ports }: Parts): TokenStore {
  const kind = env.SVC_TOKEN_STORE || 'keyring';
  if (kind !== 'keyring' && kind !== 'file') {
    throw new Failure('usage', `SVC_TOKEN_STORE must be keyring or file, not "${kind}".`);
  }
  const warned = new Set<string>();
  return openStore({
    folder: files.config,
    clock,
    random,
    warn(text) {
      if (!warned.has(text)) ports.notice(`Warning: ${text}`);
      warned.add(text);
    },
    keyring: systemKeyring({ env, platform, clock }),
    newOnes: kind,
    patience: ports,
  });
}

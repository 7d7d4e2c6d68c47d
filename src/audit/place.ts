import { join } from 'node:path';
import { openSession, type Session } from '../auth/session.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { insteadOf } from '../promise/instead-of.ts';

/** The file of a month, below `audit/ACCOUNT/MONTH/` of the state folder. */
export const fileName = 'audit.jsonl';

export const auditRoot = (files: Pick<Context['files'], 'state'>): string => join(files.state, 'audit');

/**
 * The record of one account: `api.example.com-41`. svc does not ask whose a credential of the environment is, so there is
 * one record for all of them at a service.
 */
export function recordName({ baseUrl, from, profile, account }: Pick<Session, Told>): string {
  const { host, pathname } = new URL(baseUrl);
  const service = `${host}${pathname}`.replace(/\/+$/u, '').replaceAll(/[^\w.-]+/gu, '-');
  const id = from === 'profile' ? account?.() : undefined;
  const named = id === undefined ? `profile-${profile}` : String(id);
  return `${service}-${from === 'environment' ? 'environment' : named}`;
}

type Told = 'baseUrl' | 'from' | 'profile' | 'account';

/** That of the account in use, without a request; undefined where nobody is logged in. */
export const nameInUse = (ctx: Context, settings: Settings): Promise<string | undefined> =>
  openSession(ctx, settings)
    .then(recordName)
    .catch(insteadOf(['auth', 'usage'], undefined));

/** The month of a time in ISO 8601. */
export const monthOf = (time: string): string => time.slice(0, 7);

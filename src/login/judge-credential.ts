import { getAccount } from '../api/account.ts';
import { listMeetings } from '../api/meetings.ts';
import type { CredentialKind } from '../api/operation.ts';
import { type Bearer, sessionWith } from '../auth/session.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { call, connect, type Service } from '../http/call/call.ts';
import type { Judged } from './login.ts';

/** Asks the service whether a credential works. Throws only what says nothing about the credential (no network). */
export async function judgeCredential(service: Service, kind: CredentialKind, accountId?: number): Promise<Judged> {
  try {
    if (kind === 'm2m') {
      // The one place that takes it. For an account that is not the token's the answer is 404, for a bad token 401.
      await call(service, listMeetings, { params: { account: accountId ?? 1 } });
      return { valid: true, takenFor: accountId };
    }
    return { valid: true, account: await call(service, getAccount, {}) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.kind === 'auth') return { valid: false, refusal: error };
    // A 403 or 404 comes after the token was accepted.
    if (error.kind === 'forbidden' || (kind === 'm2m' && error.kind === 'not-found')) return { valid: true };
    throw error;
  }
}

/** The same for a credential that is not kept yet. */
export const judgeAt =
  (ctx: Context, settings: Settings, baseUrl: string) =>
  async (bearer: Bearer, accountId: number | undefined): Promise<Judged> => {
    const service = await connect(ctx, settings, sessionWith(bearer, settings, baseUrl));
    return await judgeCredential(service, bearer.kind, accountId);
  };

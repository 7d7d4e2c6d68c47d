import { getAccount } from '../api/account.ts';
import type { Operation } from '../api/operation.ts';
import { readConfig } from '../config/config-file.ts';
import { originOf } from '../config/service-url.ts';
import { profileConfig } from '../config/settings.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call.ts';
import { hexDigestOf } from '../text/digest.ts';

/** Whose rows are sent. */
export type Account = {
  /** Scheme, host and port. */
  readonly service: string;
  /** Its id, whatever the credential; where a token may not ask for it and no login has told it, `profile NAME`. */
  readonly id: string;
  /** `profile NAME` in any case: what the account goes by where its id is not known. */
  readonly profile: string;
  /** How version 0.1.0 named the service and the account: by the credential. */
  readonly formerly: readonly (readonly [service: string, account: string])[];
  /** The service's clock agrees with this machine's. */
  readonly isClockSure: boolean;
};

const dayMs = 24 * 60 * 60 * 1000;

/** One request: `GET /platform/account`. Throws its Failures, but for a scope that is missing. */
export async function accountOf(service: Service, operation: Operation): Promise<Account> {
  const { session, settings, learnt } = service;
  const { baseUrl } = session;
  const profile = `profile ${session.profile}`;
  const id = (await askedId(service)) ?? profile;
  const { kind, token } = await session.bearer(operation);
  const former = [...(kind === 'api_key' ? [hexDigestOf(token)] : []), id, profile];
  const { clockAheadMs } = learnt;
  return {
    service: originOf(baseUrl),
    id,
    profile,
    formerly: [...new Set(former)].map((one) => [baseUrl, one]),
    isClockSure: clockAheadMs !== undefined && Math.abs(clockAheadMs) < dayMs,
  };

  async function askedId(asked: Service): Promise<string | undefined> {
    try {
      const options = { maxWaitMs: settings.maxWaitMs ?? Number.POSITIVE_INFINITY };
      return String((await call(asked, getAccount, {}, options)).account_id);
    } catch (failure) {
      if (!(failure instanceof Failure) || failure.kind !== 'forbidden') throw failure;
      if (session.from !== 'profile') return undefined;
      const own = profileConfig(await readConfig(asked.ctx.files), session.profile).account;
      return own && String(own.id);
    }
  }
}

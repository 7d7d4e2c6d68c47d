import { join } from 'node:path';
import { getAccount } from '../api/account.ts';
import type { Operation } from '../api/operation.ts';
import { loginDigest } from '../auth/login-digest.ts';
import type { Bearer } from '../auth/session.ts';
import { readIfThere, replaceFile } from '../disk/file/atomic-file.ts';
import { Failure } from '../errors.ts';
import { call, patience, type Service } from '../http/call/call.ts';
import { perhapsBetween } from '../http/exchange/answer.ts';
import { hexDigestOf } from '../text/digest.ts';
import { isId } from '../text/record.ts';
import { serviceName, spellingsOf } from './service-name.ts';

/** Whose rows are sent. */
export type Account = Awaited<ReturnType<typeof accountOf>>;

const dayMs = 24 * 60 * 60 * 1000;

/** One request: `GET /platform/account`. Throws its Failures, but for a scope that is missing. */
export async function accountOf(service: Service, operation: Operation) {
  const { session, learnt } = service;
  const { baseUrl } = session;
  const known = await knownId(service);
  const bearer = await session.bearer(operation);
  if (known !== undefined) await requireAccountOfBefore(service, bearer, known);
  const id = known ?? `login ${loginDigest(session, bearer)}`;
  const byProfile = session.from === 'profile' && known !== undefined;
  const former = [
    ...(bearer.kind === 'api_key' ? [hexDigestOf(bearer.token)] : []),
    id,
    ...(byProfile ? [`profile ${session.profile}`] : []),
  ];
  const { clockAheadMs } = learnt;
  return {
    /** Scheme, host and port, the same however the address is written. */
    service: serviceName(baseUrl),
    /** Its id, whatever the credential; where that is not known, `login DIGEST`: of this very login or token. */
    id,
    /** Without it, nobody knows whether another login is of the same account. */
    isKnown: known !== undefined,
    /** How version 0.1.0 named the service and the account: by the credential. */
    formerly: [...new Set([baseUrl, ...spellingsOf(baseUrl)])].flatMap((url) =>
      [...new Set(former)].map((one) => [url, one] as const),
    ),
    /** The service's clock agrees with this machine's. */
    isClockSure: clockAheadMs !== undefined && Math.abs(clockAheadMs) < dayMs,
  };
}

/** Undefined where a login may not ask, and has not been told by another credential of its profile. */
async function knownId(service: Service): Promise<string | undefined> {
  try {
    return String(accountIdIn(await call(service, getAccount, {}, patience(service))));
  } catch (failure) {
    if (!(failure instanceof Failure) || failure.kind !== 'forbidden') throw failure;
    const told = service.session.account?.();
    return told === undefined ? undefined : String(told);
  }
}

/** What names nobody must not pass for an account: the history of every other one would be missing. */
function accountIdIn(json: { readonly account_id?: unknown }): number {
  if (isId(json.account_id)) return json.account_id;
  throw new Failure('failed', 'The service answered with an account that has no id, so svc cannot tell whose it is.', {
    hint: perhapsBetween,
  });
}

/**
 * A credential belongs to one account (service.md#account-1). So where the service names another one than before, one of the
 * two answers was for somebody else, and the history of rows would be looked for in the wrong place.
 *
 * @throws Failure `auth`, as for a profile that was logged in to another account.
 */
async function requireAccountOfBefore(service: Service, bearer: Bearer, id: string): Promise<void> {
  const { session } = service;
  const told = session.account?.();
  if (told !== undefined && String(told) !== id) throw anotherAccount(String(told), id, 'log in again');
  const path = fileOf(service, bearer);
  // Access tokens of the environment last an hour.
  if (path === undefined) return;
  const text = await readIfThere(path).catch(() => undefined);
  const [, before] = /^\{"account":(\d+)\}$/u.exec(text ?? '') ?? [];
  if (before !== undefined && before !== id) throw anotherAccount(before, id, `remove ${path}`);
  // What cannot be remembered is not compared the next time.
  if (before === undefined) await replaceFile(path, `{"account":${id}}`).catch(() => {});
}

/** Named by a digest: no secret is written. */
function fileOf({ ctx, session }: Service, bearer: Bearer): string | undefined {
  const whose = session.loginId?.(bearer) ?? (bearer.kind === 'api_key' ? bearer.token : undefined);
  if (whose === undefined) return undefined;
  const name = hexDigestOf(`svc account\n${serviceName(session.baseUrl)}\n${whose}`);
  return join(ctx.files.state, 'accounts', `${name.slice(0, 24)}.json`);
}

const anotherAccount = (before: string, now: string, way: string): Failure =>
  new Failure(
    'auth',
    `This credential was of account ${before} before, and now the service answers with account ${now}.`,
    {
      hint:
        'A credential belongs to one account, so one of the two answers was for somebody else. Nothing was sent now. ' +
        `Try again, and look with: svc whoami\nIf account ${now} is the right one, look there what was sent before, and ${way}.`,
    },
  );

import { getAccount } from '../api/account.ts';
import type { Operation } from '../api/operation.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call.ts';
import { hexDigestOf } from '../text/digest.ts';

/** The account, as surely as it can be told without asking more than once. */
export async function accountOf(service: Service, operation: Operation): Promise<string> {
  const { kind, token } = await service.session.bearer(operation);
  // A key belongs to exactly one account (general rule 1); its digest names it, and tells nothing.
  if (kind === 'api_key') return hexDigestOf(token);
  try {
    return String((await call(service, getAccount, {})).account_id);
  } catch (failure) {
    if (failure instanceof Failure && failure.kind === 'forbidden') return `profile ${service.session.profile}`;
    throw failure;
  }
}

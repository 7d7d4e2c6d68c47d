import { getAccount } from '../../api/account.ts';
import type { Bearer } from '../../auth/session.ts';
import type { HttpResponse, Lost } from '../../context.ts';
import { isGatewayTimeout, isOwnError, readBody } from '../../retry/own-word.ts';
import { fieldsIn, isId } from '../../text/record.ts';
import type { RequestSpec, Service } from '../exchange/asking.ts';
import type { Wire } from '../exchange/request.ts';
import { type Attempt, exchange } from './attempt.ts';

/**
 * Whether it is in doubt that the service has answered: none of its shapes, or a 404, which any server has for a wrong
 * path. A redirect names its target by itself.
 */
export function isStrange({ exchanged, body, outcome }: Attempt): boolean {
  if ('lost' in exchanged) return false;
  const { status } = exchanged;
  if (status < 300) return outcome.type === 'unsettled';
  // Whoever refuses a credential says nothing of the address.
  if (status < 400 || status === 401 || status === 429) return false;
  return status === 404 || outcome.type === 'unsettled' || !isOwnError(exchanged, body);
}

/**
 * Whether the service is at the base URL. Asked once in a run, where none of its answers has shown it yet: the service
 * answers for the account, whatever the credential may see. Where that cannot be told, it is believed.
 */
export async function isService(service: Service, asked: RequestSpec, { bearer, answer }: Strange): Promise<boolean> {
  const { learnt } = service;
  if (learnt.address !== undefined) return learnt.address === 'service';
  if (asked.id === getAccount.id) return judgedAddress(answer) ?? true;
  learnt.asking ??= askForAccount(service, bearer);
  return learnt.asking;
}

async function askForAccount(service: Service, bearer: Bearer): Promise<boolean> {
  const { learnt } = service;
  const wire: Wire = { method: getAccount.method, path: getAccount.path };
  const isIt = judgedAddress(await exchange(service, { bearer, wire, number: 1 }));
  delete learnt.asking;
  // Meanwhile another request may have met the service.
  if (isIt !== undefined) learnt.address ??= isIt ? 'service' : 'stranger';
  return learnt.address !== 'stranger';
}

/** What an answer for the account says of who is there; undefined where it says nothing. */
function judgedAddress(exchanged: HttpResponse | Lost): boolean | undefined {
  if ('lost' in exchanged) return undefined;
  const { status } = exchanged;
  if (status >= 500 || status === 429 || isGatewayTimeout(status)) return undefined;
  const body = readBody(exchanged.body);
  if (isOwnError(exchanged, body)) return status !== 404;
  if (status >= 300) return status === 401 ? undefined : false;
  return body.form === 'json' && isId(fieldsIn(body.json).account_id);
}

/** An answer that is none of the service's, and the credential of its request. */
export type Strange = { readonly bearer: Bearer; readonly answer: HttpResponse };

/** Throws where the service is not at that address at all. */
export async function throwStranger(service: Service, asked: RequestSpec, strange: Strange): Promise<void> {
  if (await isService(service, asked, strange)) return;
  const { sentToStranger, strangerFailure } = await import('../exchange/endings.ts');
  const { baseUrl } = service.session;
  const { answer } = strange;
  throw asked.safety === 'read' ? strangerFailure(baseUrl, answer) : sentToStranger(asked, baseUrl, answer);
}

import { getAccount } from '../../api/account.ts';
import { hearersOf } from '../../api/hearers.ts';
import { asRead } from '../../as-read.ts';
import { loginDigest } from '../../auth/login-digest.ts';
import type { Hearers, SendRequest } from '../../context.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { jsonOf, readBody } from '../../retry/own-word.ts';
import { fieldsIn, isId, isRecord } from '../../text/record.ts';
import type { RequestSpec, Service } from '../exchange/asking.ts';
import { looselyAt } from '../exchange/raw.ts';
import { readRecord } from '../exchange/record.ts';
import type { Wire } from '../exchange/request.ts';

/**
 * The one gate: every request that may reach a customer or the public comes here before it leaves, whatever the command.
 * Throws the Failure that says that it became a draft, or what forbids it. Returns what may go, where it was judged.
 */
export async function requireGo(service: Service, asked: RequestSpec, wire: Wire): Promise<SendRequest | undefined> {
  const { sends } = service.ctx;
  const hearers = hearersOf(asked);
  if (!sends || (hearers === undefined && asked.id !== '')) return undefined;
  if (hearers === undefined || !isPlain(wire)) {
    await refuseDisguised(service, wire);
    return undefined;
  }
  const request = requestOf(service, asked, wire, hearers);
  const verdict = await sends.judge(request);
  if (verdict !== 'go') throw verdict;
  return request;
}

/** As `requireGo`, of a request that is only shown: what the policy forbids. Nothing is asked, held or counted, and no draft is made. */
export async function requireAllowed(service: Service, asked: RequestSpec, wire: Wire): Promise<void> {
  const { sends } = service.ctx;
  const hearers = hearersOf(asked);
  if (!sends || hearers === undefined || !isPlain(wire) || (await sends.mode()) === 'draft') return;
  const verdict = await sends.judgeAgain(requestOf(service, asked, wire, hearers));
  if (verdict !== 'go') throw verdict;
}

/** With a query, or a body that is no JSON object or says that it is none, a server may read more of a request than a person is shown. */
const isPlain = ({ path, headers = {}, body = '' }: Wire): boolean =>
  !path.includes('?') && (body === '' || isRecord(jsonOf(readBody(body)))) && Object.entries(headers).every(isJsonType);

/** Of a header that names the type of a body: to some servers `content_type` does too. */
const isJsonType = ([name, value]: readonly [string, string]): boolean =>
  !/^content[-_]type$/iu.test(name) ||
  /^application\/(?:[\w.-]+\+)?json(?:\s*;\s*charset="?utf-8"?)?\s*$/iu.test(value);

function requestOf(service: Service, asked: RequestSpec, { method, path, body }: Wire, hearers: Hearers): SendRequest {
  const { kind = '', id } = asked.about ?? {};
  return {
    operation: asked.id,
    hearers,
    method,
    path: path.replace(/\?.*$/u, ''),
    body: jsonOf(readBody(body ?? '')),
    record: { kind, id },
    baseUrl: service.session.baseUrl,
    read: () => asRead(service, (reading) => recordAt(reading, kind, id)),
    account: () => accountOf(service),
    login: () => loginOf(service),
  };
}

/** The record as it is now. Undefined where there is no id, no way to read it, or no right to. */
async function recordAt(service: Service, kind: string, id: number | undefined) {
  const read: Parameters<typeof readRecord>[0] = (operation, params) => service.read(service, operation, params);
  return (await readRecord(read, kind, id).catch(unlessAllowed))?.record;
}

/** What may not be read is not known. */
const unlessAllowed = insteadOf(['forbidden', 'auth'], undefined);

/** The account of the login, asked once in a run; undefined where the login may not ask. One that is not valid is of nobody. */
export function accountOf(service: Service): Promise<number | undefined> {
  const known = service.session.account?.();
  if (known !== undefined) return Promise.resolve(known);
  const { learnt } = service;
  learnt.account ??= askForAccount(service);
  learnt.account.catch(() => {
    learnt.account = undefined;
  });
  return learnt.account;
}

async function askForAccount(service: Service): Promise<number | undefined> {
  const account = fieldsIn(await service.read(service, getAccount, {}).catch(insteadOf(['forbidden'], undefined)));
  return isId(account.account_id) ? account.account_id : undefined;
}

/** The digest of the credential that says whose account it is; undefined where there is none, or it cannot be refreshed. */
export const loginOf = async ({ session }: Pick<Service, 'session'>): Promise<string | undefined> =>
  session.bearer(getAccount).then((bearer) => loginDigest(session, bearer), insteadOf('any', undefined));

/** A path that a server may take for that of a send, though it is not written as one. */
async function refuseDisguised(service: Service, { method, path }: Wire): Promise<void> {
  const { session, ctx } = service;
  const { sends } = ctx;
  const whole = new URL(`${session.baseUrl}${path}`).pathname;
  const operation = looselyAt(method, whole);
  if (!operation || !sends) return;
  const hearers = hearersOf(operation) ?? 'customer';
  const verdict = await sends.judge({
    operation: '',
    hearers,
    method,
    path,
    body: undefined,
    record: { kind: operation.resource, id: undefined },
    baseUrl: session.baseUrl,
    read: () => asRead(service, async () => undefined),
    account: async () => undefined,
    login: async () => undefined,
  });
  if (verdict !== 'go') throw verdict;
}

import { check } from '../api/check.ts';
import { moduleNames, type Operation, type Schema } from '../api/operation.ts';
import { fieldsOf } from '../api/shape.ts';
import { andThen } from '../promise/and-then.ts';
import {
  answerOf,
  forbidden,
  insufficientScope,
  invalid,
  isRefusal,
  noSuchPath,
  notFound,
  type Refusal,
  tooManyRequests,
  unauthenticated,
  unknownKey,
  wrongMethod,
} from './answer.ts';
import { readBody, type Sent } from './body.ts';
import { type Credential, credentialOf } from './credential.ts';
import type { Call } from './handlers/handler.ts';
import { addressLimit, type Bucket, generalLimit } from './limits.ts';
import type { Match } from './router.ts';
import { findOwned, type Owner, type State } from './store/state.ts';
import type { World } from './world.ts';

export type ApiRequest = Sent & {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly address: string;
};

/**
 * One request of the account-scoped API. What may be wrong is looked for in this order: the path (404, 405), the
 * token (401), the limit (429), the scope and then the module (403), the record (404), the fields (422).
 */
export function answerApi(world: World, now: Date, request: ApiRequest) {
  const credential = credentialOf(world, request.headers.authorization, now);
  const found = world.serves.match(request.method, request.path);
  const operation = found && 'operation' in found ? found.operation : undefined;
  const verdict = world.limiter.take(bucketsOf(credential, request.address, operation), now.getTime());

  const result =
    verdict.retryAfter === undefined
      ? judge(world, now, request, { credential, found })
      : tooManyRequests(verdict.retryAfter);
  return andThen(result, (body) => {
    if (isRefusal(body)) return { ...answerOf(body), verdict, credential };
    return { status: operation?.status ?? 200, body, headers: undefined, verdict, credential };
  });
}

function bucketsOf(credential: Credential | undefined, address: string, operation: Operation | undefined): Bucket[] {
  if (!credential) return [{ key: `address ${address}`, limit: addressLimit }];
  const general = { key: `token ${credential.token}`, limit: generalLimit };
  if (operation?.ownLimit === undefined) return [general];
  return [general, { key: `${operation.id} ${credential.token}`, limit: operation.ownLimit }];
}

function judge(
  world: World,
  now: Date,
  request: ApiRequest,
  { credential, found }: { readonly credential: Credential | undefined; readonly found: Match | undefined },
): object | Promise<object> {
  if (!found) return noSuchPath;
  if (!('operation' in found)) return wrongMethod(found.allowed);
  const { operation, params } = found;
  if (!credential) return world.keys.isPrivate ? unknownKey : unauthenticated;
  const refusal = refuseCredential(operation, credential);
  if (refusal) return refusal;

  const { state } = world;
  const account = state.rows.accounts.get(credential.account ?? params.account ?? 0);
  if (!account) return notFound;
  if (operation.module && !account.modules[operation.module]) {
    return forbidden(`The ${moduleNames[operation.module]} module is switched off for this account.`);
  }
  if (!areThere(state, operation, params, { account: account.account_id, connection: credential.connection }))
    return notFound;

  const query = operation.query ? check(operation.query, parseQuery(operation.query, request.search)) : undefined;
  if (query && !query.ok) return invalid(query.fields);
  const body = operation.body ? readBody(operation.id, operation.body, request) : undefined;
  if (body && isRefusal(body)) return body;

  const call: Call = {
    state,
    account,
    connection: credential.connection,
    now: written(now),
    params,
    query: query?.value,
    body: body?.value,
    emit: world.emit,
    random: world.random,
    allowHttpTargets: world.allowHttpTargets,
  };
  return world.serves.answer(operation, call);
}

let lastMs = 0;
let lastWritten = '';

/** Under load many requests come within a millisecond, and writing a time takes longer than most reads. */
function written(now: Date): string {
  if (now.getTime() !== lastMs) {
    lastMs = now.getTime();
    lastWritten = now.toISOString();
  }
  return lastWritten;
}

function refuseCredential(operation: Operation, { kind, scopes }: Credential): Refusal | undefined {
  if (!operation.credentials.includes(kind)) {
    // Webhook management needs an OAuth connection: an API key is a valid token there, and refused.
    if (kind === 'api_key' && operation.credentials.includes('oauth')) {
      return forbidden('Webhook management needs an OAuth connection; an account API key is refused.');
    }
    return unauthenticated;
  }
  if (kind === 'oauth' && operation.scope && !scopes?.includes(operation.scope)) {
    return insufficientScope(operation.scope);
  }
  return undefined;
}

/** Every id in the path names a record that the token may know of. The table says of which kind each is. */
const areThere = (
  state: State,
  { ids = {} }: Operation,
  params: Readonly<Record<string, number>>,
  owner: Owner,
): boolean => {
  for (const name in params) {
    const kind = ids[name];
    const id = params[name];
    if (kind === undefined || id === undefined || !findOwned(state, kind, owner, id)) return false;
  }
  return true;
};

const whole = /^-?\d+$/u;

/**
 * The query string as the values that its schema judges: numbers where the table has numbers. What is no number stays
 * text, so that the schema refuses it by name. An empty value is an absent one, the last of several counts.
 */
function parseQuery(schema: Schema, search: string): Record<string, unknown> {
  const fields = fieldsOf(schema);
  const values: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(search)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field || value === '') continue;
    const isNumber = field.type === 'integer' || field.type === 'number';
    values[name] = isNumber && whole.test(value) ? Number(value) : value;
  }
  return values;
}

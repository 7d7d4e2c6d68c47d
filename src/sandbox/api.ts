import { check } from '../api/check.ts';
import type { OperationId } from '../api/index.ts';
import type { Module, Operation } from '../api/operation.ts';
import {
  forbidden,
  insufficientScope,
  invalid,
  isRefusal,
  noSuchPath,
  notFound,
  type Refusal,
  tooManyRequests,
  unauthenticated,
  wrongMethod,
} from './answer.ts';
import { readBody } from './body.ts';
import { type Credential, credentialOf } from './credential.ts';
import type { Call, Handler } from './handlers/handler.ts';
import { handlers } from './handlers/index.ts';
import { addressLimit, type Bucket, generalLimit, type Verdict } from './limits.ts';
import { parseQuery } from './query.ts';
import { type Match, match } from './router.ts';
import type { Kind, Row } from './store/records.ts';
import { find, type State } from './store/state.ts';
import type { World } from './world.ts';

export type ApiRequest = {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  readonly address: string;
};

export type ApiAnswer = {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly verdict: Verdict;
  readonly credential: Credential | undefined;
};

/**
 * One request of the account-scoped API. What may be wrong is looked for in this order: the path (404, 405), the
 * token (401), the limit (429), the scope and then the module (403), the record (404), the fields (422).
 */
export async function answerApi(world: World, now: Date, request: ApiRequest): Promise<ApiAnswer> {
  const credential = credentialOf(world.state, request.headers.authorization, now);
  const found = match(request.method, request.path);
  const operation = found && 'operation' in found ? found.operation : undefined;
  const verdict = world.limiter.take(bucketsOf(credential, request.address, operation), now.getTime());

  const result = await (verdict.retryAfter === undefined
    ? judge(world, now, request, credential, found)
    : tooManyRequests(verdict.retryAfter));
  if (isRefusal(result)) {
    return { status: result.refused, body: result.body, headers: result.headers, verdict, credential };
  }
  return { status: operation?.status ?? 200, body: result, verdict, credential };
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
  credential: Credential | undefined,
  found: Match | undefined,
): object | Promise<object> {
  if (!found) return noSuchPath;
  if (!('operation' in found)) return wrongMethod(found.allowed);
  const { operation, params } = found;
  if (!credential) return unauthenticated;
  const refusal = refuseCredential(operation, credential);
  if (refusal) return refusal;

  const { state } = world;
  const account = state.rows.accounts.get(credential.account ?? (params.account as number));
  if (!account) return notFound;
  if (operation.module && !account.modules[operation.module]) {
    return forbidden(`The ${moduleNames[operation.module]} module is switched off for this account.`);
  }
  if (!isThere(state, operation, params, account, credential)) return notFound;

  const query = operation.query ? check(operation.query, parseQuery(operation.query, request.search)) : undefined;
  if (query && !query.ok) return invalid(query.fields);
  const body = operation.body ? readBody(operation.id, operation.body, request) : undefined;
  if (body && isRefusal(body)) return body;

  const call = {
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
  // The table's types were lost on the way through the router; each handler gets what its own entry judged.
  return (handlers[operation.id as OperationId] as Handler<Operation>)(call as Call) as object;
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

const moduleNames: Record<Module, string> = {
  support: 'Support',
  changelog: 'Changelog',
  feedback_board: 'Feedback board',
  roadmap: 'Roadmap',
};

/** What the id in a path is an id of, by the path's first segment. */
const kindAt: Readonly<Record<string, Kind>> = {
  contacts: 'contacts',
  contactslists: 'lists',
  tickets: 'tickets',
  conversations: 'conversations',
  changelog: 'changelog',
  'oauth-platform': 'subscriptions',
};

function isThere(
  state: State,
  { path }: Operation,
  params: Readonly<Record<string, number>>,
  { account_id }: Row<'accounts'>,
  credential: Credential,
): boolean {
  const kind = kindAt[path.slice(1, path.indexOf('/', 1))];
  const id = Object.values(params)[0];
  if (!kind || id === undefined) return true;
  const row = find(state, kind, account_id, id);
  if (kind !== 'subscriptions') return row !== undefined;
  // Of another connection's subscriptions not even their existence is known.
  return (row as Row<'subscriptions'> | undefined)?.connection_id === credential.connection;
}

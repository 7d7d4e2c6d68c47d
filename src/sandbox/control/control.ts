import * as v from 'valibot';
import { type Schema, scopes } from '../../api/operation.ts';
import { webhookEvents } from '../../api/webhooks.ts';
import { jsonIn } from '../../text/json.ts';
import { isLoopbackHost } from '../../text/loopback.ts';
import { answerOf, forbidden, invalid, isRefusal, needsKey, noSuchPath, type Refusal, wrongMethod } from '../answer.ts';
import { judged, type Sent } from '../body.ts';
import { bearerIn } from '../credential.ts';
import { known } from '../known.ts';
import { disconnect, mintTokens } from '../oauth/state.ts';
import { kinds } from '../store/records.ts';
import { readSeed } from '../store/seed-file.ts';
import { oauthOf, put, setClock } from '../store/state.ts';
import type { World } from '../world.ts';
import { Act, perform } from './act.ts';
import { Fault } from './faults.ts';

export type ControlRequest = Sent & {
  readonly method: string;
  readonly path: string;
  readonly remoteAddress?: string;
};

type Action = (world: World, body: string) => object | Promise<object>;

/** An action that takes an input: the body, as the schema judges it. */
const action =
  <S extends Schema>(schema: S, run: (world: World, input: v.InferOutput<S>) => object | Promise<object>): Action =>
  (world, body) => {
    const input = body.trim() === '' ? {} : jsonIn(body);
    if (input === undefined) return invalid({ body: ['must be valid JSON'] });
    const checked = judged(schema, input);
    return isRefusal(checked) ? checked : run(world, checked.value);
  };

const done = { ok: true };

const account_id = v.pipe(v.number(), v.integer());
/** In seconds. JavaScript's dates have an end, and no test needs to get near it. */
const century = 100 * 365 * 86_400;

const isNamedSeed = (seed: unknown): seed is 'demo' | 'empty' | undefined =>
  seed === undefined || seed === 'demo' || seed === 'empty';

const Scopes = v.array(v.picklist(scopes, 'must be one of the 14 scopes'));
/** Also with spaces between them, as OAuth writes them. */
const splitScopes = (given: unknown) => (typeof given === 'string' ? given.split(' ').filter(Boolean) : given);

/** What only a sandbox can do, by method and name under /_sandbox/. */
const actions: Readonly<Record<string, Action>> = {
  'GET state': ({ state }) => Object.fromEntries(kinds.map((kind) => [kind, [...state.rows[kind].values()]])),

  'GET log': ({ log }) => log.entries(),

  'POST reset': action(v.object({ seed: v.optional(v.unknown()) }), async (world, { seed }) => {
    if (isNamedSeed(seed)) {
      await world.reset(seed);
      return done;
    }
    const rows = readSeed(seed);
    if (typeof rows === 'string') return invalid({ seed: [`must be demo, empty or a seed; this ${rows}`] });
    await world.reset(rows);
    return done;
  }),

  'POST clock': action(
    v.object({ advance_seconds: v.pipe(v.number(), v.minValue(0, 'must not be negative'), v.maxValue(century)) }),
    async (world, { advance_seconds }) => {
      const { state, deliveries } = world;
      await deliveries.advance(Math.round(advance_seconds * 1000), (ms) => setClock(state, state.clockAheadMs + ms));
      return { now: world.now().toISOString() };
    },
  ),

  'POST tokens': action(
    v.object({
      account_id,
      scopes: v.optional(v.pipe(v.unknown(), v.transform(splitScopes), Scopes), [...scopes]),
      expires_in: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(century))),
      client_id: v.optional(v.string(), known.clientId),
    }),
    (world, consent) => {
      const { state } = world;
      if (!state.rows.accounts.has(consent.account_id)) return unknownAccount;
      if (!state.rows.clients.has(consent.client_id)) return unknownClient;
      return mintTokens(oauthOf(state).connections, consent, { now: world.now(), random: world.random });
    },
  ),

  'POST disconnect': action(v.object({ account_id, client_id: v.string() }), (world, app) => {
    const { state } = world;
    if (!state.rows.accounts.has(app.account_id)) return unknownAccount;
    if (!state.rows.clients.has(app.client_id)) return unknownClient;
    const ended = disconnect(oauthOf(state).connections, app, world.now());
    // Subscriptions end when the customer disconnects the app (service.md#webhooks-5).
    for (const subscription of state.rows.subscriptions.values()) {
      if (!ended.includes(subscription.connection_id)) continue;
      put(state, 'subscriptions', { ...subscription, is_active: false });
    }
    return { disconnected: ended.length };
  }),

  'POST modules': action(
    v.object({
      account_id,
      support: v.optional(v.boolean()),
      changelog: v.optional(v.boolean()),
      feedback_board: v.optional(v.boolean()),
      roadmap: v.optional(v.boolean()),
    }),
    ({ state }, { account_id, ...switched }) => {
      const account = state.rows.accounts.get(account_id);
      if (!account) return unknownAccount;
      const modules = { ...account.modules, ...switched };
      put(state, 'accounts', { ...account, modules });
      return { modules };
    },
  ),

  'POST emit': action(
    v.object({
      event: v.picklist(webhookEvents, `must be one of ${webhookEvents.join(', ')}`),
      data: v.optional(v.record(v.string(), v.unknown()), {}),
      account_id: v.optional(account_id),
      duplicate: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1000)), 0),
      bad_signature: v.optional(v.boolean(), false),
    }),
    (world, { event, data, account_id: account, duplicate, bad_signature: badSignature }) => ({
      subscriptions: world.emit(event, account, data, { duplicate, badSignature }),
    }),
  ),

  'POST act': action(Act, (world, act) =>
    world.state.rows.accounts.has(act.account_id) ? perform(world, act) : unknownAccount,
  ),

  'POST faults': action(v.union([v.array(Fault), Fault]), ({ faults }, given) => {
    faults.add(Array.isArray(given) ? given : [given]);
    return { faults: faults.all() };
  }),

  'DELETE faults': ({ faults }) => {
    faults.clear();
    return done;
  },
};

const unknownClient = invalid({ client_id: ['is no client of this sandbox'] });
const unknownAccount = invalid({ account_id: ['is no account of this sandbox'] });

export async function answerControl(world: World, request: ControlRequest) {
  const result = await answer(world, request);
  return isRefusal(result) ? answerOf(result) : { status: 200, body: result, headers: undefined };
}

async function answer(world: World, request: ControlRequest): Promise<object> {
  const refusal = refuseStranger(request) ?? refuseWithoutKey(world, request);
  if (refusal) return refusal;
  const name = request.path.slice('/_sandbox/'.length);
  const found = actions[`${request.method} ${name}`];
  if (!found) {
    const methods = ['GET', 'POST', 'DELETE'].filter((method) => `${method} ${name}` in actions);
    return methods.length > 0 ? wrongMethod(methods) : noSuchPath;
  }
  return found(world, request.body);
}

/** Of real customers nobody else on this machine is told anything. */
function refuseWithoutKey({ keys, keyMeant }: World, { headers }: ControlRequest): Refusal | undefined {
  if (!keys.isPrivate) return undefined;
  const key = keyMeant(bearerIn(headers.authorization) ?? '');
  return key?.kind === 'api_key' ? undefined : needsKey;
}

const loopbackAddress = /^(?:(?:::ffff:)?127(?:\.\d+){3}|::1)$/u;

/** From this machine alone, and not from a page that some site put into a browser on it. */
function refuseStranger({ headers, remoteAddress }: ControlRequest): Refusal | undefined {
  const { host, origin } = headers;
  if (remoteAddress !== undefined && !loopbackAddress.test(remoteAddress)) {
    return forbidden('The control endpoints answer this machine alone.');
  }
  if (host === undefined ? remoteAddress !== undefined : !isLoopbackHost(host.replace(/:\d+$/u, ''))) {
    return forbidden('The control endpoints answer a loopback Host alone.');
  }
  if (origin !== undefined && origin !== `http://${host}`) {
    return forbidden('The control endpoints refuse other origins.');
  }
  return undefined;
}

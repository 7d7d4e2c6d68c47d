import { getAccount } from '../../api/account.ts';
import { hearersOf } from '../../api/hearers.ts';
import type { Input, Operation } from '../../api/operation.ts';
import { openSession, type Session } from '../../auth/session.ts';
import type { Settings } from '../../config/settings.ts';
import { type Context, withContext } from '../../context.ts';
import { notFoundNames } from '../../errors.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { once } from '../../promise/once.ts';
import { digestNumbers } from '../../text/digest-numbers.ts';
import { type Fields, fieldsIn, isId } from '../../text/record.ts';
import { judgeAnswer } from '../exchange/answer.ts';
import type { Leaves, RequestSpec, Service, Waits } from '../exchange/asking.ts';
import { createGate, type Gate } from '../exchange/gate.ts';
import { madeIds } from '../exchange/made.ts';
import { learnNumber } from '../exchange/numbers.ts';
import { recorderOf } from '../exchange/recorder.ts';
import { wireOf } from '../exchange/request.ts';
import type { Findings } from '../exchange/settle.ts';
import { sharedHold } from '../exchange/shared-hold.ts';
import { otherIn } from '../exchange/shown.ts';
import type { Sent } from '../exchange/writes.ts';
import type { Before } from '../look/before.ts';
import { recordBefore } from '../look/confirmed-update.ts';
import type { Prepared } from '../look/look.ts';
import type { LookAgain } from '../look/look-again.ts';
import type { Called, Read } from '../look/lookups.ts';
import { isService } from '../send/address.ts';
import type { SendOptions } from '../send/job.ts';
import { send } from '../send/send.ts';
import { isForgotten, takesFor } from './given-ids.ts';
import { ofEarlierRun, openWrite, ownIdsFor } from './open-writes.ts';
import { askedFor, type Evidence, missingAdvice, requestSpec, type Typed } from './request-spec.ts';

export type { Service } from '../exchange/asking.ts';

/** Rate limits are waited out for as long as they last, unless the user has set a bound. */
export const patience = ({ settings }: Service) => ({ maxWaitMs: settings.maxWaitMs ?? Number.POSITIVE_INFINITY });

/** Opens the service with the login that the settings name, or `as`. Nothing is sent yet. Throws usage and auth Failures. */
export async function connect(ctx: Context, settings: Settings, as?: Session): Promise<Service> {
  const session = as ?? (await openSession(await traced(ctx, settings), settings));
  const gates = new Map<string, Gate>();
  const waits: Waits = {};
  // A command with one total of its own says more than the list that it reads just then.
  const limitWait = (leftMs: number) => ctx.limitWait?.(leftMs) ?? waits.say?.(leftMs);
  const telling = withContext(ctx, { limitWait });
  return {
    ctx,
    session,
    settings,
    waits,
    audit: recorderOf(ctx, session, settings),
    read: (service, operation, params) => call(service, operation, { params }),
    gateFor({ token }) {
      const gate = gates.get(token) ?? createGate(telling, sharedHold(ctx, session.baseUrl, token));
      gates.set(token, gate);
      return gate;
    },
    learnt: {
      address: undefined,
      made: new Map(),
      given: new Map(),
      within: digestNumbers(),
      numbers: new Map(),
      writes: 0,
      open: new Map(),
      warned: new Set(),
    },
    trace: settings.debug ? (await import('../exchange/trace.ts')).traceTo(ctx.notice) : undefined,
  };
}

/** The context for exchanges that do not go through `send`, the OAuth endpoints': --debug shows them too. */
export async function traced(ctx: Context, { debug }: Pick<Settings, 'debug'>): Promise<Context> {
  if (!debug) return ctx;
  const { tracedExchange } = await import('../exchange/trace.ts');
  return withContext(ctx, { exchange: tracedExchange(ctx) });
}

export type CallOptions = Pick<SendOptions, 'maxWaitMs' | 'wasSent' | 'leaves'> & {
  /** Of a write that is looked for: what was there before, where the caller knows it; without it svc reads it first. */
  readonly before?: Known;
  /** Told the ids that the list shows once it is read after an answer. */
  readonly sees?: (ids: readonly number[]) => void;
  /** Of an update: the record before it, where the caller has just read it. */
  readonly was?: Fields;
};

/** `nothing`: it is not known what was there, so no record is surely ours. */
export type Known = Before | 'nothing';

/**
 * One operation, done. Throws the Failure that the exit codes name; `unknown` only where looking could not
 * tell. An answer without promised fields is returned with a warning.
 */
export async function call<const Op extends Operation>(
  service: Service,
  operation: Op,
  input: Input<Op>,
  options: CallOptions = {},
): Promise<Called<Op>> {
  const wire = wireOf(operation, input, { partner: service.settings.partnerSegment });
  const prepared = isLookedFor(service, operation) ? await preparedLook(service, operation, input, options) : undefined;
  const read = readOf(service, input);
  const named = notFoundNames(askedFor(operation, input), missingAdvice(operation));
  // Where the update is not sent, only the reading tells that there is no such record; else the update is told so.
  const notThere = service.ctx.preview ? named : insteadOf(['not-found'], undefined);
  const was = options.was ?? (await recordBefore(operation, input, read).catch(notThere));
  const asked = withHint(operation, input, prepared ?? { takes: takesFor(service, operation, input), was });
  try {
    const { maxWaitMs, wasSent = false } = options;
    const leaves: Leaves = (doubt) => {
      prepared?.leaves(doubt);
      options.leaves?.(doubt);
    };
    const sending = send(service, asked, wire, { ...prepared, maxWaitMs, wasSent, leaves });
    const sent = await sending.catch(named);
    if (sent.how === 'gone') return called<Op>(undefined);
    if (sent.how === 'found') return called<Op>(sent.json);
    const json = await answerIn(service, operation, { asked, input }, sent);
    prepared?.made(json);
    return called<Op>(json);
  } finally {
    prepared?.ended();
  }
}

/** What the service answered. A write that comes here was judged already, as its attempt ended. */
async function answerIn(
  service: Service,
  operation: Operation,
  { asked, input }: { readonly asked: RequestSpec; readonly input: Typed },
  sent: Extract<Sent, { how: 'answered' }>,
): Promise<unknown> {
  const judged = sent.judged ?? judgeAnswer(operation, sent.body);
  if ('other' in judged) {
    const { oddAnswer, strangerFailure } = await import('../exchange/endings.ts');
    const { baseUrl } = service.session;
    const isIt = await isService(service, asked, {
      bearer: await service.session.bearer(asked),
      answer: sent.response,
    });
    throw isIt ? oddAnswer(sent.response, judged.other) : strangerFailure(baseUrl, sent.response, judged.other);
  }
  const other = otherIn(operation, input.params, judged.json);
  if (other !== undefined)
    throw (await import('../exchange/endings.ts')).otherRecord(sent.response, askedFor(operation, input), other);
  service.learnt.address = 'service';
  if (operation.id === getAccount.id) learnAccount(service, judged.json);
  learnNumber(service, operation, judged.json);
  warnOfMissing(service, operation, judged.missing);
  return judged.json;
}

/** Once for each field of an operation: a long run meets it in every page and in every answer. */
function warnOfMissing({ ctx, learnt }: Service, { id }: Operation, missing: readonly string[]): void {
  const fresh: string[] = [];
  for (const path of missing) {
    const field = `${id} ${path.replaceAll(/\d+/gu, '0')}`;
    if (!learnt.warned.has(field)) fresh.push(path);
    learnt.warned.add(field);
  }
  if (fresh.length > 0)
    ctx.notice(`Warning: missing in the answer, or not as the service describes it: ${fresh.slice(0, 5).join(', ')}.`);
}

function learnAccount({ session }: Service, json: unknown): void {
  const { account_id: id } = fieldsIn(json);
  if (isId(id)) session.learn?.(id);
}

/** What is only shown is not looked for: what it reads tells whether the record of its path is there. */
export const isLookedFor = ({ ctx }: Service, { safety, params }: Operation): boolean =>
  safety === 'verify' && !(ctx.preview && params === undefined);

/** The one cast of answers: what `judgeAnswer` let through is used as what the table promises, fields may be missing. */
export const called = <Op extends Operation>(json: unknown) => json as Called<Op>;

/** What sending must know of a write that is made of parts, as `svc api` makes one. */
export const withHint = (operation: Operation, input: Typed, evidence: Omit<Evidence, 'readOf'> = {}): RequestSpec =>
  requestSpec(operation, input, { ...evidence, readOf: (service) => readOf(service, input) });

const readOf =
  (service: Service, { params }: Typed): LookAgain['read'] =>
  (reading) =>
    call(service, reading, { params } as Input<Operation>);

/** A message of which a draft is made: it does not leave, so nothing will be looked for. */
export const isDrafted = async ({ ctx }: Service, operation: Operation): Promise<boolean> =>
  hearersOf(operation) === 'customer' && (await ctx.sends?.mode()) === 'draft';

const looking = once(() =>
  Promise.all([import('../look/look.ts'), import('../look/before.ts'), import('../look/looking.ts')]),
);

/** Gets ready to look for what the write makes, before it is sent. */
export async function preparedLook<Op extends Operation>(
  service: Service,
  operation: Op,
  input: Input<Op>,
  options: CallOptions & { readonly isResumed?: boolean } = {},
): Promise<Prepared> {
  const [{ prepareLook }, { readBefore }, { likenessOf }] = await looking();
  const own = ownIdsFor(service, operation, input.params);
  const reading =
    (maxWaitMs?: number): Read =>
    (asked, wanted) =>
      call(service, asked, wanted, maxWaitMs === undefined ? {} : { maxWaitMs });
  const known = (await isDrafted(service, operation)) ? 'nothing' : options.before;
  const before =
    known === 'nothing' ? undefined : (known ?? (await readBefore(reading(options.maxWaitMs), operation, input)));
  const { sees } = options;
  const { open, me, leaves, sentAt, ended } = openWrite(service, `${operation.id} ${likenessOf(operation, input)}`);
  // What an earlier run saw before its own write says nothing of what others have made since.
  const mayBeAnew = (one: number) => !options.isResumed && own.get(one) === ofEarlierRun && isForgotten(one, before);
  const prepared = prepareLook(reading, operation, input, { own, mayBeAnew, open, me, before, sentAt, sees });
  const takes = takesFor(service, operation, { params: input.params, before });
  const look: Prepared['look'] = async (maxWaitMs) => {
    const findings = await prepared.look(maxWaitMs);
    if ('found' in findings) takes(madeIds(operation, findings.found));
    return findings;
  };
  return { ...prepared, look, ...(before && { before }), takes, leaves, ended };
}

/**
 * Looks for what an earlier request has made whose answer never came, for `settleMs`: it may be late. Throws where it
 * cannot look.
 */
export async function lookFor<Op extends Operation>(
  service: Service,
  operation: Op,
  input: Input<Op>,
  { before, settleMs }: { readonly before: Known; readonly settleMs: number },
): Promise<Findings> {
  const { lookUntilSettled } = await import('../exchange/settle.ts');
  const { look, ended } = await preparedLook(service, operation, input, { before, isResumed: true });
  const why = 'The answer to an earlier request was lost; looking for what was sent';
  const { findings, trouble } = await lookUntilSettled(service.ctx, look, settleMs, why).finally(ended);
  if (trouble && 'candidates' in findings) throw trouble;
  return findings;
}

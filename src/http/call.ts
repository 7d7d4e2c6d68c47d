import type { Input, Operation } from '../api/operation.ts';
import { openSession, type Session } from '../auth/session.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { fieldsIn } from '../text/record.ts';
import { shellWord } from '../text/shell-word.ts';
import { judgeAnswer } from './answer.ts';
import type { Asked, Service } from './asking.ts';
import { createGate, type Gate } from './gate.ts';
import type { Before, Prepared } from './look.ts';
import type { Called, Read } from './lookings.ts';
import { wireOf } from './request.ts';
import { type SendOptions, send } from './send.ts';
import type { Findings } from './settle.ts';
import { sharedHold } from './shared-hold.ts';

export type { Service } from './asking.ts';

/** Opens the service with the login that the settings name, or `as`. Nothing is sent yet. Throws usage and auth Failures. */
export async function connect(ctx: Context, settings: Settings, as?: Session): Promise<Service> {
  const session = as ?? (await openSession(await traced(ctx, settings), settings));
  const gates = new Map<string, Gate>();
  return {
    ctx,
    session,
    settings,
    gateFor({ token }) {
      const gate = gates.get(token) ?? createGate(ctx, sharedHold(ctx, session.baseUrl, token));
      gates.set(token, gate);
      return gate;
    },
    learnt: { isService: false, aheadMs: undefined, made: new Map() },
    trace: settings.debug ? (await import('./trace.ts')).traceTo(ctx.notice) : undefined,
  };
}

/** The context for exchanges that do not go through `send`, the OAuth endpoints': --debug shows them too. */
export async function traced(ctx: Context, { debug }: Pick<Settings, 'debug'>): Promise<Context> {
  if (!debug) return ctx;
  const { tracedExchange } = await import('./trace.ts');
  return Object.create(ctx, { exchange: { value: tracedExchange(ctx) } });
}

export type CallOptions = Pick<SendOptions, 'maxWaitMs'> & {
  /** Of a write that is looked for: what was there before, where the caller knows it; without it svc reads it first. */
  readonly before?: Known;
};

/** `nothing`: it is not known what was there, so no record is surely ours. */
export type Known = Before | 'nothing';

/**
 * One operation, done. Throws the Failure that product.md's exit codes name; `unknown` only where looking could not
 * tell. An answer without promised fields is returned with a warning.
 */
export async function call<const Op extends Operation>(
  service: Service,
  operation: Op,
  input: Input<Op>,
  options: CallOptions = {},
): Promise<Called<Op>> {
  const wire = wireOf(operation, input, { partner: service.settings.partnerSegment });
  const asked = withHint(operation, input);
  const prepared = isLookedFor(service, operation) ? await preparedLook(service, operation, input, options) : undefined;
  const sent = await send(service, asked, wire, { maxWaitMs: options.maxWaitMs, look: prepared?.look });
  if (sent.how === 'gone') return called<Op>(undefined);
  if (sent.how === 'found') return called<Op>(sent.json);
  const judged = judgeAnswer(operation, sent.body);
  if ('other' in judged) {
    if (operation.safety === 'read') {
      const { strangerFailure } = await import('./endings.ts');
      throw strangerFailure(service.session.baseUrl, sent.response, judged.other);
    }
    const { status } = sent.response;
    service.ctx.notice(`Warning: it is done (HTTP ${status}), but the service answered with ${judged.other}.`);
    return called<Op>(undefined);
  }
  service.learnt.isService = true;
  if (judged.missing.length > 0) {
    service.ctx.notice(`Warning: the answer lacks or changes ${judged.missing.slice(0, 5).join(', ')}.`);
  }
  prepared?.made(judged.json);
  return called<Op>(judged.json);
}

/** What is only shown is not looked for. */
const isLookedFor = ({ ctx }: Service, { safety }: Operation): boolean => safety === 'verify' && !ctx.preview;

/** The one cast of answers: what `judgeAnswer` let through is used as what the table promises, fields may be missing. */
const called = <Op extends Operation>(json: unknown) => json as Called<Op>;

type Typed = { readonly params?: unknown; readonly body?: unknown };

/**
 * What sending must know, with the place to look as it can be typed: with the id and the subject of this very write.
 * That is made up only where it is told.
 */
export function withHint(operation: Operation, input: Typed): Asked {
  const { effect, id, safety, credentials, scope, module, ownLimit, reaches, deletes, makes } = operation;
  if (!effect) return operation;
  const at = { id, safety, credentials, scope, module, ownLimit, reaches, deletes, makes };
  return Object.defineProperty(at, 'effect', { get: () => ({ ...effect, lookHint: hintFor(operation, input) }) });
}

function hintFor({ effect }: Operation, { params, body }: Typed): string {
  const id = Object.values(fieldsIn(params))[0];
  const { subject = 'SUBJECT' } = fieldsIn(body);
  return (effect?.lookHint ?? '')
    .replace(/\bID$/u, () => String(id ?? 'ID'))
    .replace(/\bSUBJECT$/u, () => shellWord(String(subject)));
}

/** The clocks behind `Date` and `created_at` may be this far apart. */
const apartMs = 5_000;

let looks: Promise<typeof import('./look.ts')> | undefined;

/** Gets ready to look for what the write makes, before it is sent. */
export async function preparedLook<Op extends Operation>(
  service: Service,
  operation: Op,
  input: Input<Op>,
  options: CallOptions = {},
): Promise<Prepared> {
  looks ??= import('./look.ts');
  const { prepareLook, readBefore } = await looks;
  const { clock } = service.ctx;
  const started = clock.ticks();
  const own = service.learnt.made.get(operation.id) ?? new Set<number>();
  service.learnt.made.set(operation.id, own);
  const isSurelySince = (createdAt: unknown) => {
    if (options.before === 'nothing') return false;
    const startedAt = clock.now().getTime() - (clock.ticks() - started);
    const { aheadMs } = service.learnt;
    return aheadMs !== undefined && Date.parse(String(createdAt)) > startedAt + aheadMs + apartMs;
  };
  const read =
    (maxWaitMs?: number): Read =>
    (asked, wanted) =>
      call(service, asked, wanted, maxWaitMs === undefined ? {} : { maxWaitMs });
  const before =
    options.before === 'nothing'
      ? undefined
      : (options.before ?? (await readBefore(read(options.maxWaitMs), operation, input)));
  return prepareLook(read, operation, input, { own, isSurelySince, before });
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
  const { lookUntilSettled } = await import('./settle.ts');
  const { look } = await preparedLook(service, operation, input, { before });
  const why = 'The answer to an earlier request was lost; looking for what was sent';
  const { findings, trouble } = await lookUntilSettled(service.ctx, look, settleMs, why);
  if (trouble && 'candidates' in findings) throw trouble;
  return findings;
}

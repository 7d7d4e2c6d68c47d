import { credentialVariables } from '../auth/at-hand.ts';
import type { Bearer } from '../auth/session.ts';
import type { HttpResponse, Lost } from '../context.ts';
import { Failure, messageOf } from '../errors.ts';
import { decide, decideAfterLook, type History, type Next, type Rules, untried } from '../retry/retry.ts';
import { retryAfterMs } from '../retry/retry-after.ts';
import { isStrange, throwStranger } from './address.ts';
import { type Body, isGatewayTimeout, isOwnError } from './answer.ts';
import type { Asked, Service } from './asking.ts';
import { type Attempt, attemptOnce, isDoubtful } from './attempt.ts';
import { countdown, outlasted, type Pass } from './gate.ts';
import type { Wire } from './request.ts';
import { failureOf, unreadable } from './response.ts';
import type { Look, Looked } from './settle.ts';
import { noted } from './writes.ts';

export type SendOptions = {
  /** How long to wait out rate limits and retries in all; default: --max-wait, else two minutes. */
  readonly maxWaitMs?: number;
  /** For `verify`: finds what an attempt has made whose outcome is not known. */
  readonly look?: Look;
  /** Told before each attempt. */
  readonly leaves?: () => void;
};

export type Sent =
  | { readonly how: 'answered'; readonly response: HttpResponse; readonly body: Body }
  /** Found by looking. */
  | { readonly how: 'found'; readonly json: unknown }
  /** A repeated delete that found nothing more to delete. */
  | { readonly how: 'gone' };

/** What holds for all attempts of one request. */
type Job = {
  readonly service: Service;
  readonly asked: Asked;
  readonly wire: Wire;
  readonly rules: Rules;
  readonly look: Look | undefined;
  /** In the clock's ticks. */
  readonly started: number;
};

/** How far a request has come. */
type State = {
  readonly bearer: Bearer;
  readonly history: History;
  /** What became of the latest attempt that the service may have acted on, in a few words. */
  readonly doubt: string | undefined;
};

/** Loaded when a request does not simply succeed. */
const endings = () => import('./endings.ts');

const defaultMaxWaitMs = 120_000;

/** Sends until there is an answer, or until `retry.ts` says that it must end; throws the Failure that tells why. */
export async function send(service: Service, asked: Asked, wire: Wire, options: SendOptions = {}): Promise<Sent> {
  if (asked.safety === 'read') return sendOn(service, asked, wire, options);
  const { preview } = service.ctx;
  if (preview) {
    // A login that may not do it is refused now rather than later.
    await service.session.bearer(asked);
    const { showInstead } = await import('./preview.ts');
    showInstead(preview, wire);
  }
  return noted(service, { asked, wire }, sendOn(service, asked, wire, options));
}

async function sendOn(service: Service, asked: Asked, wire: Wire, options: SendOptions): Promise<Sent> {
  const rules: Rules = {
    safety: asked.safety,
    deletes: asked.deletes === true,
    reachesCustomer: asked.reaches === 'customer',
    maxWaitMs: options.maxWaitMs ?? service.settings.maxWaitMs ?? defaultMaxWaitMs,
  };
  const job: Job = { service, asked, wire, rules, look: options.look, started: service.ctx.clock.ticks() };
  const bearer = await service.session.bearer(asked);
  let state: State = { bearer, history: untried, doubt: undefined };
  for (let number = 1; ; number++) {
    options.leaves?.();
    const next = await tryOnce(job, state, number);
    if ('how' in next) return next;
    state = next;
  }
}

/** One attempt, and what follows from it: the end, or the state in which to try again. */
async function tryOnce(job: Job, before: State, number: number): Promise<Sent | State> {
  const { service, asked, wire, rules, started } = job;
  const { ctx } = service;
  const deadline = started + rules.maxWaitMs;
  const gate = service.gateFor(before.bearer);
  const pass = await hidingNoDoubt(job, before, gate.enter({ ownLimit: asked.ownLimit, deadline }));
  const attempting = attemptOnce(service, asked, { bearer: before.bearer, wire, number }).catch((mistake) => {
    pass.lost();
    throw mistake;
  });
  const attempt = await hidingNoDoubt(job, before, attempting);
  const { exchanged, outcome } = attempt;
  const { refusals } = before.history;
  const state: State = {
    ...before,
    doubt: isDoubtful(outcome) ? (await endings()).briefly(exchanged) : before.doubt,
    history: {
      ...before.history,
      elapsedMs: ctx.clock.ticks() - started,
      // The wait grows for a request that is refused again and again, not for one that others went ahead of.
      refusals: pass.progressed() ? 0 : refusals,
    },
  };
  const step = decide(rules, state.history, outcome);
  await giveBack(pass, exchanged, step);
  if (ctx.signal.aborted && 'lost' in exchanged) throw (await endings()).stoppedShort(ctx.signal, asked, state.doubt);
  return follow(job, state, attempt, step);
}

const refuseStranger = ({ service, asked }: Job, { bearer }: State, attempt: Attempt): Promise<void> =>
  isStrange(attempt) ? throwStranger(service, asked, { bearer, answer: responseOf(attempt) }) : Promise.resolve();

async function follow(job: Job, state: State, attempt: Attempt, step: Next): Promise<Sent | State> {
  const { service, asked } = job;
  const { doubt, history } = state;
  switch (step.next) {
    case 'accept':
      return { how: 'answered', response: responseOf(attempt), body: attempt.body };
    case 'gone':
      await refuseStranger(job, state, attempt);
      return { how: 'gone' };
    case 'renew': {
      const bearer = await hidingNoDoubt(job, state, service.session.renew(state.bearer));
      if (bearer) return { ...state, bearer, history: { ...history, renewed: true } };
      if (doubt === undefined) throw await refusal(job, state, attempt);
      throw (await endings()).unknownOutcome(asked, `${doubt}; then HTTP 401`);
    }
    case 'repeat':
      if (step.because !== 'rate-limit') await countdown(service.ctx, step.afterMs, 'No answer from the service');
      return { ...state, history: after(history, step.because) };
    case 'look':
      // There is nothing to be seen at a stranger's. A gateway that fails is none, so there the question can wait.
      if ('status' in attempt.exchanged && attempt.exchanged.status < 500) await refuseStranger(job, state, attempt);
      return afterLook(job, state, attempt, step.after);
    case 'fail':
      throw await endOf(job, state, attempt, step.as);
  }
}

/** A failure on the way to another attempt must not hide that an earlier one may have worked. */
async function hidingNoDoubt<T>({ service, asked }: Job, { doubt }: State, step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (failure) {
    if (doubt === undefined || asked.safety === 'read' || !(failure instanceof Failure)) throw failure;
    const { signal } = service.ctx;
    const { stoppedShort, unknownOutcome } = await endings();
    if (signal.aborted) throw stoppedShort(signal, asked, doubt);
    throw unknownOutcome(asked, `${doubt}; then: ${failure.message.replace(/\.$/u, '')}`);
  }
}

type Ending = Extract<Next, { next: 'look' }>['after'];

/** Looks for what the attempt may have made: found, to be sent again, or the Failure that says what is not known. */
async function afterLook(job: Job, state: State, attempt: Attempt, after: Ending): Promise<Sent | State> {
  const { service, asked, rules, look } = job;
  const { ctx, settings } = service;
  const { history, doubt = '' } = state;
  const answer = answerOf(attempt.exchanged);
  const [{ nothingStored, stoppedShort, unknownOutcome }, { lookUntilSettled }] = [
    await endings(),
    await import('./settle.ts'),
  ];
  if (!look) throw unknownOutcome(asked, doubt, { answer });
  const settleMs = after === 'unsettled' ? settings.settleMs : 0;
  const why = `The answer was lost (${doubt}); looking for what was sent`;
  const looked = await lookUntilSettled(ctx, look, settleMs, why).catch((mistake) => {
    // A bug of svc itself must not hide that the write may have worked.
    throw unknownOutcome(asked, `${doubt}; then svc itself failed: ${messageOf(mistake)}`, { answer });
  });
  if ('found' in looked.findings) return { how: 'found', json: looked.findings.found };
  if (ctx.signal.aborted) throw stoppedShort(ctx.signal, asked, doubt);
  const then = decideAfterLook(rules, history, { after, isAbsent: isAbsent(looked) });
  if (then.next === 'repeat') {
    await countdown(ctx, then.afterMs, 'The service failed');
    return { ...state, history: { ...history, refusals: 0, unsent: 0, doubts: history.doubts + 1 } };
  }
  await refuseStranger(job, state, attempt);
  if (then.as === 'nothing-stored' && answer) throw nothingStored(asked, answer.status, looked);
  throw unknownOutcome(asked, doubt, { looked, answer, hint: await redirectHint(job, attempt) });
}

/** Surely nothing that agrees is there. A look that failed, or could not see everything, shows nothing. */
const isAbsent = ({ findings, trouble }: Looked): boolean =>
  'candidates' in findings && findings.candidates.length === 0 && !findings.isPartial && !trouble;

async function endOf(
  job: Job,
  state: State,
  attempt: Attempt,
  as: Extract<Next, { next: 'fail' }>['as'],
): Promise<Failure> {
  const { baseUrl } = job.service.session;
  const { exchanged } = attempt;
  const { proxyRefused, unreachable } = await endings();
  if ('lost' in exchanged) return as === 'unknown' ? unknownEnd(job, state, attempt) : unreachable(baseUrl, exchanged);
  await refuseStranger(job, state, attempt);
  if (as === 'unknown') return unknownEnd(job, state, attempt);
  if (as === 'rate-limited') return outlasted(retryAfterMs(exchanged.headers) ?? 1000);
  return as === 'network' ? proxyRefused(exchanged) : refusal(job, state, attempt);
}

/** For a redirect it also names the base URL to use. */
async function unknownEnd(job: Job, { doubt }: State, attempt: Attempt): Promise<Failure> {
  const { briefly, unknownOutcome } = await endings();
  const last = briefly(attempt.exchanged);
  const why = doubt === undefined || isDoubtful(attempt.outcome) ? last : `${doubt}; then ${last}`;
  return unknownOutcome(job.asked, why, {
    answer: answerOf(attempt.exchanged),
    hint: await redirectHint(job, attempt),
  });
}

async function redirectHint({ wire }: Job, { exchanged }: Attempt): Promise<string | undefined> {
  if ('lost' in exchanged || exchanged.status >= 400 || !exchanged.headers.location) return undefined;
  return (await endings()).baseUrlHint(exchanged.headers.location, wire.path);
}

/** The Failure of an answer that ends it, of the service or of what stands before it. */
async function refusal({ service, asked, wire }: Job, { bearer }: State, attempt: Attempt): Promise<Failure> {
  const { oddAnswer, redirected } = await endings();
  const { body } = attempt;
  const response = responseOf(attempt);
  const { status } = response;
  if (status < 300) return body.form === 'none' ? unreadable(response) : oddAnswer(response);
  if (status < 400) return redirected(response, wire.path);
  const isOdd = status < 500 && status !== 401 && !isGatewayTimeout(status) && !isOwnError(response, body);
  if (isOdd) return oddAnswer(response);
  const variable = credentialVariables[bearer.kind];
  const { profile } = service.session;
  return failureOf(response, asked, { kind: bearer.kind, profile, variable: service.ctx.env[variable] && variable });
}

/** Of an attempt that was answered: nothing else is accepted or refused. */
function responseOf({ exchanged }: Attempt): HttpResponse {
  if ('lost' in exchanged) throw new Error(exchanged.detail);
  return exchanged;
}

const answerOf = (exchanged: HttpResponse | Lost): HttpResponse | undefined =>
  'status' in exchanged ? exchanged : undefined;

async function giveBack(pass: Pass, exchanged: HttpResponse | Lost, step: Next): Promise<void> {
  if ('lost' in exchanged) return pass.lost();
  if (exchanged.status !== 429) {
    const remaining = Number.parseInt(exchanged.headers['x-ratelimit-remaining'] ?? '', 10);
    return pass.answered(Number.isNaN(remaining) ? undefined : remaining);
  }
  await pass.refused(step.next === 'repeat' ? step.afterMs : (retryAfterMs(exchanged.headers) ?? 1000));
}

function after(history: History, because: 'rate-limit' | 'unsent' | 'doubt'): History {
  if (because === 'rate-limit') return { ...history, refusals: history.refusals + 1 };
  if (because === 'unsent') return { ...history, refusals: 0, unsent: history.unsent + 1 };
  return { ...history, refusals: 0, unsent: 0, doubts: history.doubts + 1 };
}

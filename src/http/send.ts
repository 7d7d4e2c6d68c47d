import { getAccount } from '../api/account.ts';
import type { Operation } from '../api/operation.ts';
import type { Bearer, Session } from '../auth/session.ts';
import type { Context, HttpResponse, Lost } from '../context.ts';
import { Failure } from '../errors.ts';
import type { Settings } from '../settings.ts';
import { type Body, isOwnError, looksLikeHtml, readBody } from './answer.ts';
import {
  baseUrlHint,
  briefly,
  nothingStored,
  redirected,
  stoppedShort,
  strangerFailure,
  unknownOutcome,
  unreachable,
} from './endings.ts';
import { countdown, type Gate, outlasted, type Pass } from './gate.ts';
import type { Wire } from './request.ts';
import { failureOf, unreadable } from './response.ts';
import { decide, decideAfterLook, type History, type Next, type Outcome, type Rules, untried } from './retry.ts';
import { retryAfterMs } from './retry-after.ts';
import { type Look, type Looked, lookUntilSettled } from './settle.ts';
import type { Trace } from './trace.ts';
import { userAgent } from './user-agent.ts';

/** What a request needs: the ports, who we are, and the settings of this run. */
export type Service = {
  readonly ctx: Context;
  readonly session: Session;
  readonly settings: Settings;
  readonly gateFor: (bearer: Bearer) => Gate;
  readonly learnt: Learnt;
  /** With --debug: told of every exchange. */
  readonly trace?: Trace;
};

/** What this run has learnt of the service. */
export type Learnt = {
  /** The base URL has answered as the service does. */
  isService: boolean;
  /** By how much its clock is ahead of ours at most, by the `Date` of its latest answer. */
  aheadMs: number | undefined;
  /** Ids that this run has made, by operation. */
  readonly made: Map<string, Set<number>>;
};

/** What sending must know of an operation; `svc api` makes one up for a path that is not in the table. */
export type Asked = Pick<
  Operation,
  'id' | 'safety' | 'effect' | 'credentials' | 'scope' | 'module' | 'ownLimit' | 'reachesCustomer'
>;

export type SendOptions = {
  /** How long to wait out rate limits and retries in all; default: --max-wait, else two minutes. */
  readonly maxWaitMs?: number;
  /** For `verify`: finds what an attempt has made whose outcome is not known. */
  readonly look?: Look;
};

export type Sent =
  | { readonly how: 'answered'; readonly response: HttpResponse; readonly body: Body }
  /** Found by looking. */
  | { readonly how: 'found'; readonly json: unknown }
  /** A repeated delete that found nothing more to delete. */
  | { readonly how: 'gone' };

/** An attempt, its answer read once. */
type Attempt = { readonly exchanged: HttpResponse | Lost; readonly body: Body; readonly outcome: Outcome };

const defaultMaxWaitMs = 120_000;

/** A subscription that was made, found without its secret and removed is made again so often. */
const removalsAtMost = 3;

/** Sends until there is an answer, or until `retry.ts` says that it must end; throws the Failure that tells why. */
export async function send(service: Service, asked: Asked, wire: Wire, options: SendOptions = {}): Promise<Sent> {
  const { ctx, session, settings } = service;
  const started = ctx.clock.ticks();
  const rules: Rules = {
    safety: asked.safety,
    deletes: asked.id.startsWith('delete'),
    reachesCustomer: asked.reachesCustomer === 'always',
    maxWaitMs: options.maxWaitMs ?? settings.maxWaitMs ?? defaultMaxWaitMs,
  };
  const deadline = started + rules.maxWaitMs;
  let bearer = await session.bearer(asked);
  let history = untried;
  let removals = 0;
  // What became of the latest attempt that the service may have acted on.
  let doubt: string | undefined;

  for (let number = 1; ; number++) {
    const pass = await hidingNoDoubt(service.gateFor(bearer).enter({ ownLimit: asked.ownLimit, deadline }));
    const attempt = await attemptOnce(service, bearer, wire, number).catch((mistake) => {
      pass.lost();
      throw mistake;
    });
    const { exchanged, outcome } = attempt;
    history = { ...history, elapsedMs: ctx.clock.ticks() - started };
    if (isDoubtful(outcome)) doubt = briefly(exchanged);
    // The wait grows for a request that is refused again and again, not for one that others went ahead of.
    if (pass.progressed()) history = { ...history, refusals: 0 };
    const step = decide(rules, history, outcome);
    await giveBack(pass, exchanged, step);
    if (ctx.signal.aborted && 'lost' in exchanged) throw stoppedShort(ctx.signal, asked, doubt);

    switch (step.next) {
      case 'accept':
        return { how: 'answered', response: exchanged as HttpResponse, body: attempt.body };
      case 'gone':
        return { how: 'gone' };
      case 'renew': {
        const renewed = await hidingNoDoubt(session.renew(bearer));
        if (!renewed) throw doubt === undefined ? refusal(attempt) : unknownOutcome(asked, `${doubt}; then HTTP 401`);
        bearer = renewed;
        history = { ...history, renewed: true };
        break;
      }
      case 'repeat':
        if (step.because !== 'rate-limit') await countdown(ctx, step.afterMs, 'No answer from the service');
        history = after(history, step.because);
        break;
      case 'look': {
        const looked = await lookAfter(step.after);
        if ('found' in looked.findings) return { how: 'found', json: looked.findings.found };
        if ('removed' in looked.findings && ++removals <= removalsAtMost) {
          doubt = undefined;
          break;
        }
        const then = decideAfterLook(rules, history, { after: step.after, isAbsent: isAbsent(looked) });
        if (then.next === 'fail') {
          throw then.as === 'unknown'
            ? unknownOutcome(asked, doubt ?? '', { looked, answer: answerOf(exchanged) })
            : nothingStored(asked, (exchanged as HttpResponse).status, looked);
        }
        await countdown(ctx, then.afterMs, 'The service failed');
        history = after(history, 'doubt');
        break;
      }
      case 'fail':
        throw await endOf(step.as, attempt);
    }
  }

  /** A failure on the way to another attempt must not hide that an earlier one may have worked. */
  async function hidingNoDoubt<T>(step: Promise<T>): Promise<T> {
    try {
      return await step;
    } catch (failure) {
      if (doubt === undefined || asked.safety === 'read' || !(failure instanceof Failure)) throw failure;
      if (ctx.signal.aborted) throw stoppedShort(ctx.signal, asked, doubt);
      throw unknownOutcome(asked, `${doubt}; then: ${failure.message.replace(/\.$/u, '')}`);
    }
  }

  async function lookAfter(ending: 'settled' | 'final' | 'unsettled'): Promise<Looked> {
    if (!options.look) throw unknownOutcome(asked, doubt ?? '');
    const settleMs = ending === 'unsettled' ? settings.settleMs : 0;
    const looked = await lookUntilSettled(ctx, options.look, settleMs, `Not known yet (${doubt}); looking for it`);
    if (ctx.signal.aborted && !('found' in looked.findings)) throw stoppedShort(ctx.signal, asked, doubt);
    return looked;
  }

  async function endOf(as: Extract<Next, { next: 'fail' }>['as'], attempt: Attempt): Promise<Failure> {
    const { exchanged } = attempt;
    if (as === 'unknown') {
      const answer = answerOf(exchanged);
      const failure = unknownOutcome(asked, endedBy(doubt, attempt), { answer });
      const location = answer && answer.status < 400 ? answer.headers.location : undefined;
      return location
        ? new Failure('unknown', failure.message, { ...failure, hint: baseUrlHint(location, wire.path) })
        : failure;
    }
    if ('lost' in exchanged) return unreachable(session.baseUrl, exchanged);
    if (as === 'rate-limited') return outlasted(retryAfterMs(exchanged.headers) ?? 1000);
    if (exchanged.status !== 404 || !isOwnError(exchanged, attempt.body)) return refusal(attempt);
    if (await isService(service, bearer, asked)) return refusal(attempt);
    if (asked.safety === 'read') return strangerFailure(session.baseUrl, exchanged, 'errors to everything');
    return unknownOutcome(asked, `${session.baseUrl} is not the service: HTTP 404 to everything`);
  }

  /** The Failure of an answer that ends it. */
  function refusal({ exchanged, body }: Attempt): Failure {
    const response = exchanged as HttpResponse;
    const { status } = response;
    if (status < 300) {
      return looksLikeHtml(response.body) ? strangerFailure(session.baseUrl, response) : unreadable(response);
    }
    if (status < 400) return redirected(response, wire.path);
    if (status < 500 && status !== 401 && !isOwnError(response, body))
      return strangerFailure(session.baseUrl, response);
    return failureOf(response, asked);
  }
}

const answerOf = (exchanged: HttpResponse | Lost): HttpResponse | undefined =>
  'status' in exchanged ? exchanged : undefined;

/** Surely nothing that agrees is there. A look that failed shows nothing. */
const isAbsent = ({ findings, trouble }: Looked): boolean =>
  'candidates' in findings && findings.candidates.length === 0 && !trouble;

const isDoubtful = (outcome: Outcome): boolean =>
  outcome.type === 'unsettled' || (outcome.type === 'settled' && outcome.status >= 500);

/** What is known of a write that ends in doubt: the attempt that may have worked, and what came last. */
function endedBy(doubt: string | undefined, { exchanged, outcome }: Attempt): string {
  const last = briefly(exchanged);
  return doubt === undefined || isDoubtful(outcome) ? last : `${doubt}; then ${last}`;
}

async function attemptOnce(service: Service, bearer: Bearer, wire: Wire, number: number): Promise<Attempt> {
  const exchanged = await exchange(service, bearer, wire, number);
  if ('lost' in exchanged) {
    const outcome: Outcome =
      exchanged.lost === 'before-sending' ? { type: 'unsent', reason: exchanged.reason } : { type: 'unsettled' };
    return { exchanged, body: { form: 'none' }, outcome };
  }
  const body = readBody(exchanged.body);
  return { exchanged, body, outcome: outcomeOf(exchanged, body) };
}

function outcomeOf(response: HttpResponse, body: Body): Outcome {
  const { status } = response;
  if (status === 429) return { type: 'refused', retryAfterMs: retryAfterMs(response.headers) };
  if (status < 300) return body.form === 'none' ? { type: 'unsettled' } : { type: 'settled', status };
  // A credential that is refused has done nothing, whoever refuses it.
  if (status === 401 || isOwnError(response, body)) return { type: 'settled', status };
  return { type: 'unsettled', final: status < 500 };
}

/**
 * A 404 may come from a wrong base URL, whose server has none of the paths. Asked once in a run: the service answers
 * for the account, whatever the credential may see. Where it cannot be asked, the 404 is believed.
 */
async function isService(service: Service, bearer: Bearer, asked: Asked): Promise<boolean> {
  if (service.learnt.isService) return true;
  if (asked.id === getAccount.id) return false;
  const probed = await exchange(service, bearer, { method: getAccount.method, path: getAccount.path }, 1);
  if ('lost' in probed) return true;
  const body = readBody(probed.body);
  service.learnt.isService =
    probed.status < 300
      ? body.form === 'json'
      : probed.status !== 404 && (isOwnError(probed, body) || probed.status >= 500);
  return service.learnt.isService;
}

async function exchange(service: Service, bearer: Bearer, wire: Wire, attempt: number): Promise<HttpResponse | Lost> {
  const { ctx, session, settings, trace } = service;
  let url = session.baseUrl + wire.path;
  for (let hop = 0; ; hop++) {
    const request = {
      method: wire.method,
      url,
      headers: {
        accept: 'application/json',
        'user-agent': userAgent,
        ...wire.headers,
        authorization: `Bearer ${bearer.token}`,
      },
      body: wire.body,
      timeoutMs: settings.timeoutMs,
      signal: ctx.signal,
    };
    const began = ctx.clock.ticks();
    const beganAt = ctx.clock.now().getTime();
    const answer = await ctx.exchange(request);
    // `Date` has whole seconds: the true time may be almost a second later.
    const date = 'status' in answer ? Date.parse(answer.headers.date ?? '') : Number.NaN;
    if (!Number.isNaN(date)) service.learnt.aheadMs = date + 1000 - beganAt;
    trace?.(request, answer, { attempt, tookMs: Math.round(ctx.clock.ticks() - began) });
    const next = 'status' in answer ? redirectOf(request, answer) : undefined;
    if (!next || hop === 4) return answer;
    url = next;
  }
}

/** Reads may follow a redirect within the origin; a write is never sent twice, a credential never elsewhere. */
function redirectOf(request: { method: string; url: string }, { status, headers }: HttpResponse): string | undefined {
  if (request.method !== 'GET' || status < 300 || status > 399 || !headers.location) return undefined;
  const target = URL.canParse(headers.location, request.url) ? new URL(headers.location, request.url) : undefined;
  return target?.origin === new URL(request.url).origin ? target.href : undefined;
}

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

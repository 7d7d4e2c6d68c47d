import type { Operation } from '../api/operation.ts';
import type { Bearer, Session } from '../auth/session.ts';
import type { Context, HttpResponse, Lost } from '../context.ts';
import { Failure } from '../errors.ts';
import type { Settings } from '../settings.ts';
import { countdown, type Gate, interruption, outlasted, type Pass } from './gate.ts';
import type { Wire } from './request.ts';
import { failureOf, parseBody, retryAfterOf, unreadable } from './response.ts';
import { decide, type History, mayRepeatAfterLook, type Next, type Outcome, type Rules } from './retry.ts';
import type { Trace } from './trace.ts';
import { userAgent } from './user-agent.ts';

/** What a request needs: the ports, who we are, and the settings of this run. */
export type Service = {
  readonly ctx: Context;
  readonly session: Session;
  readonly settings: Settings;
  readonly gateFor: (bearer: Bearer) => Gate;
  /** With --debug: told of every exchange. */
  readonly trace?: Trace;
};

/** What sending must know of an operation; `svc api` makes one up for a path that is not in the table. */
export type Asked = Pick<Operation, 'id' | 'safety' | 'credentials' | 'scope' | 'module' | 'ownLimit'>;

export type SendOptions = {
  /** How long to wait out rate limits and retries in all; default: --max-wait, else two minutes. */
  readonly maxWaitMs?: number;
  /** For `verify`: finds what the lost request has made. `startedMs`: our clock when the first attempt began. */
  readonly look?: (startedMs: number) => Promise<unknown>;
};

export type Sent =
  | { readonly how: 'answered'; readonly response: HttpResponse; readonly json: unknown }
  /** Read back after a lost answer. */
  | { readonly how: 'found'; readonly json: unknown }
  /** A repeated delete that found nothing more to delete. */
  | { readonly how: 'gone' };

const defaultMaxWaitMs = 120_000;

/** Sends until there is an answer, or until `retry.ts` says that it must end; throws the Failure that tells why. */
export async function send(service: Service, asked: Asked, wire: Wire, options: SendOptions = {}): Promise<Sent> {
  const { ctx, session } = service;
  const started = ctx.clock.now().getTime();
  const rules: Rules = {
    safety: asked.safety,
    deletes: asked.id.startsWith('delete'),
    maxWaitMs: options.maxWaitMs ?? service.settings.maxWaitMs ?? defaultMaxWaitMs,
  };
  let bearer = await session.bearer(asked);
  let history: History = { refusals: 0, unsent: 0, uncertain: 0, renewed: false, elapsedMs: 0 };

  for (let attempt = 1; ; attempt++) {
    const pass = await enter(service, bearer, asked, history, started + rules.maxWaitMs);
    const exchanged = await exchange(service, bearer, wire, attempt).catch((mistake) => {
      pass.lost();
      throw mistake;
    });
    history = { ...history, elapsedMs: ctx.clock.now().getTime() - started };
    const parsed = 'lost' in exchanged ? undefined : parseBody(exchanged.body);
    const outcome = outcomeOf(exchanged, parsed !== undefined);
    // The wait grows for a request that is refused again and again, not for one that others went ahead of.
    if (pass.progressed()) history = { ...history, refusals: 0 };
    if (ctx.signal.aborted && outcome.type === 'lost') {
      throw stoppedShort(ctx.signal, asked, history.uncertain > 0 || outcome.lost === 'after-sending');
    }
    const step = decide(rules, history, outcome);
    await giveBack(pass, exchanged, step);

    switch (step.next) {
      case 'accept':
        return { how: 'answered', response: exchanged as HttpResponse, json: parsed?.json };
      case 'gone':
        return { how: 'gone' };
      case 'renew': {
        const renewed = await session.renew(bearer);
        if (!renewed) throw failureOf(exchanged as HttpResponse, asked);
        bearer = renewed;
        history = { ...history, renewed: true };
        break;
      }
      case 'repeat':
        if (step.because !== 'rate-limit') await countdown(ctx, step.afterMs, 'No answer from the service');
        history = after(history, step.because);
        break;
      case 'look': {
        const found = await lookFor(options.look, started, asked, ctx.signal);
        if (found !== undefined) return { how: 'found', json: found };
        if (!mayRepeatAfterLook(rules, history)) throw notDone(exchanged, asked);
        await countdown(ctx, step.afterMs, 'No answer from the service');
        history = after(history, 'lost');
        break;
      }
      case 'fail':
        throw endOf(step.as, exchanged, asked, service);
    }
  }
}

async function enter(
  service: Service,
  bearer: Bearer,
  asked: Asked,
  history: History,
  deadline: number,
): Promise<Pass> {
  try {
    return await service.gateFor(bearer).enter({ ownLimit: asked.ownLimit, deadline });
  } catch (failure) {
    // Waiting in vain after an attempt that may have worked is no mere rate limit.
    if (history.uncertain === 0 || asked.safety === 'read' || !(failure instanceof Failure)) throw failure;
    if (service.ctx.signal.aborted) throw stoppedShort(service.ctx.signal, asked, true);
    throw unknownOutcome(asked, failure.message);
  }
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
    const began = ctx.clock.now().getTime();
    const answer = await ctx.exchange(request);
    trace?.(request, answer, { attempt, tookMs: ctx.clock.now().getTime() - began });
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

function outcomeOf(exchanged: HttpResponse | Lost, readable: boolean): Outcome {
  if ('lost' in exchanged) return { type: 'lost', lost: exchanged.lost, reason: exchanged.reason };
  const { status, headers } = exchanged;
  return {
    type: 'answered',
    status,
    readable,
    retryAfterMs: status === 429 ? retryAfterOf(headers) : undefined,
  };
}

async function giveBack(pass: Pass, exchanged: HttpResponse | Lost, step: Next): Promise<void> {
  if ('lost' in exchanged) return pass.lost();
  if (exchanged.status !== 429) {
    const remaining = Number.parseInt(exchanged.headers['x-ratelimit-remaining'] ?? '', 10);
    return pass.answered(Number.isNaN(remaining) ? undefined : remaining);
  }
  await pass.refused(step.next === 'repeat' ? step.afterMs : (retryAfterOf(exchanged.headers) ?? 1000));
}

function after(history: History, because: 'rate-limit' | 'unsent' | 'lost'): History {
  if (because === 'rate-limit') return { ...history, refusals: history.refusals + 1 };
  if (because === 'unsent') return { ...history, refusals: 0, unsent: history.unsent + 1 };
  return { ...history, refusals: 0, unsent: 0, uncertain: history.uncertain + 1 };
}

async function lookFor(
  look: SendOptions['look'],
  started: number,
  asked: Asked,
  signal: AbortSignal,
): Promise<unknown> {
  if (!look) throw unknownOutcome(asked, 'The answer was lost.');
  try {
    return await look(started);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    if (signal.aborted) throw stoppedShort(signal, asked, true);
    throw unknownOutcome(asked, `The answer was lost, and looking it up failed too: ${failure.message}`);
  }
}

/** Every attempt failed and the last look found nothing. */
function notDone(exchanged: HttpResponse | Lost, asked: Asked): Failure {
  if ('lost' in exchanged) return unknownOutcome(asked, 'The answer was lost every time; so far nothing is there.');
  if (exchanged.status < 300) return unknownOutcome(asked, 'The answer could not be read; so far nothing is there.');
  return new Failure('failed', `${failureOf(exchanged, asked).message} Nothing was stored: svc looked.`, {
    status: exchanged.status,
    hint: 'It is safe to try again.',
  });
}

function endOf(
  as: Extract<Next, { next: 'fail' }>['as'],
  exchanged: HttpResponse | Lost,
  asked: Asked,
  service: Service,
) {
  switch (as) {
    case 'rate-limited':
      return 'status' in exchanged ? outlasted(retryAfterOf(exchanged.headers) ?? 1000) : outlasted(0);
    case 'unreadable':
      return unreadable(exchanged as HttpResponse);
    case 'status':
      return failureOf(exchanged as HttpResponse, asked);
    case 'network': {
      const { detail, reason } = exchanged as Lost;
      return new Failure('network', `Could not reach ${new URL(service.session.baseUrl).origin}: ${detail}`, {
        hint: networkHints[reason] ?? 'Nothing was changed. Check the address and the network, or run: svc doctor',
      });
    }
    case 'unknown':
      return unknownOutcome(asked, 'lost' in exchanged ? exchanged.detail : `It answered ${exchanged.status}.`);
  }
}

const networkHints: Partial<Record<Lost['reason'], string>> = {
  timeout: 'Nothing was changed. Give --timeout SECONDS for a slow network, or run: svc doctor',
  tls: 'For a certificate of your own authority set NODE_EXTRA_CA_CERTS to its file.',
};

const whereToLook: Readonly<Record<string, string>> = {
  addTicketNote: 'Notes are in no answer of the API: look at the ticket in the product.',
  sendEvent: 'Events are in no answer of the API: look at the sequence in the product.',
};

export function unknownOutcome({ id, safety }: Pick<Asked, 'id' | 'safety'>, why: string): Failure {
  const look = safety === 'repeatable' ? 'Look at the record first.' : 'Look first whether it is there.';
  return new Failure('unknown', `It is not known whether ${id || 'the request'} took effect. ${why}`, {
    hint: `Do not repeat it blindly. ${whereToLook[id] ?? look}`,
  });
}

/** `sent`: an attempt left that the service may have acted on. */
function stoppedShort(signal: AbortSignal, asked: Asked, sent: boolean): Failure {
  if (asked.safety === 'read' || !sent) return interruption(signal, 'Interrupted. Nothing was changed.');
  return interruption(
    signal,
    `Interrupted after ${asked.id || 'the request'} was sent: it may have taken effect.`,
    whereToLook[asked.id] ?? 'Look whether it is there before you repeat it.',
  );
}

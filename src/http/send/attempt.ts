import type { Bearer } from '../../auth/session.ts';
import type { HttpResponse, Lost } from '../../context.ts';
import { type Body, isGatewayTimeout, isOwnErrorTo, isOwnRefusal, jsonOf, readBody } from '../../retry/own-word.ts';
import type { Outcome } from '../../retry/retry.ts';
import { retryAfterMs } from '../../retry/retry-after.ts';
import { fieldsIn } from '../../text/record.ts';
import { withoutSentSecrets } from '../../text/redact.ts';
import { userAgent } from '../../version.ts';
import { type Judged, judgeAnswer } from '../exchange/answer.ts';
import type { RequestSpec, Service } from '../exchange/asking.ts';
import { denialIn } from '../exchange/promised.ts';
import type { Wire } from '../exchange/request.ts';
import { momentBy, serviceClock } from '../exchange/service-clock.ts';
import type { Recording } from './recorded.ts';

/** An attempt, its answer read once. `judged`: of a write, how its success agrees with the table. */
export type Attempt = {
  readonly exchanged: HttpResponse | Lost;
  readonly body: Body;
  readonly outcome: Outcome;
  readonly judged?: Judged;
};

/** What goes out, and for whom: the how-manieth attempt it is. */
export type Outgoing = {
  readonly bearer: Bearer;
  readonly wire: Wire;
  readonly number: number;
  /** Of a write. */
  readonly recording?: Recording;
};

/** Sends once, follows the redirects of a read, and reads the answer. */
export async function attemptOnce(service: Service, asked: RequestSpec, outgoing: Outgoing): Promise<Attempt> {
  const attempt = judged(asked, await exchange(service, outgoing));
  if (mayArrive(attempt.outcome) && outgoing.wire.method !== 'GET') service.onUnsettled?.();
  return attempt;
}

function judged(asked: RequestSpec, exchanged: HttpResponse | Lost): Attempt {
  if ('lost' in exchanged) return { exchanged, body: { form: 'none' }, outcome: outcomeOfLost(asked, exchanged) };
  const body = readBody(exchanged.body);
  const { promised, safety } = asked;
  const judged = promised && exchanged.status < 300 ? judgeAnswer({ ...promised, safety }, body) : undefined;
  return { exchanged, body, outcome: outcomeOf(asked, exchanged, { body, judged }), judged };
}

function outcomeOfLost({ safety }: RequestSpec, { lost, reason }: Lost): Outcome {
  if (lost === 'before-sending') return { type: 'unsent', reason };
  // What svc cannot read, it cannot read the next time either.
  const isFinal = safety === 'read' && (reason === 'too-large' || reason === 'unreadable');
  return { type: 'unsettled', final: isFinal };
}

function outcomeOf(asked: RequestSpec, response: HttpResponse, read: Pick<Attempt, 'body' | 'judged'>): Outcome {
  const { status } = response;
  const { body } = read;
  if (status === 429) {
    const isForeign = asked.safety !== 'read' && !isOwnRefusal(response, body);
    return { type: 'refused', retryAfterMs: retryAfterMs(response.headers), ...(isForeign && { isForeign }) };
  }
  if (status < 300) return showsDone(asked, response, read) ? { type: 'settled', status } : { type: 'unsettled' };
  if (status === 401) {
    const isForeign = asked.safety !== 'read' && !isOwnRefusal(response, body);
    return { type: 'settled', status, ...(isForeign && { isForeign }) };
  }
  if (isOwnErrorTo(asked.safety, response, body)) return { type: 'settled', status };
  return { type: 'unsettled', final: status < 500 && !isGatewayTimeout(status) };
}

/** A write is done only where the answer shows it, for this very record; one that svc does not know, unless it is denied. */
function showsDone(
  { showsOther, safety }: RequestSpec,
  answer: HttpResponse,
  { body, judged }: Pick<Attempt, 'body' | 'judged'>,
) {
  if (!judged) return body.form !== 'none' && (safety === 'read' || denialIn(fieldsIn(jsonOf(body))) === undefined);
  return !('other' in judged) && !showsOther?.(judged.json, answer);
}

/** The one door to the service. A write goes through it only once it is recorded. */
export async function exchange(
  service: Service,
  { bearer, wire, number, recording }: Outgoing,
): Promise<HttpResponse | Lost> {
  const { ctx, session, settings, trace } = service;
  if (wire.method !== 'GET') {
    if (!recording) throw new Error(`${wire.method} ${wire.path} would leave without being recorded.`);
    await recording.leaves(bearer);
  }
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
    const began = momentBy(ctx.clock);
    const answer = await ctx.exchange(request);
    trace?.(request, answer, { attempt: number, tookMs: Math.round(ctx.clock.ticks() - began.ticks) });
    const date = 'status' in answer ? Date.parse(answer.headers.date ?? '') : Number.NaN;
    if (!Number.isNaN(date)) service.learnt.clockAheadMs = date - ctx.clock.now().getTime();
    if ('status' in answer) {
      const told = { ...answer, began: request.method === 'GET' ? undefined : began };
      if (answer.status !== 429) service.onAnswered?.(began.ticks);
      service.learnt.serviceClock = serviceClock(service.learnt.serviceClock, told, momentBy(ctx.clock));
    }
    const next = 'status' in answer ? redirectOf(request, answer) : undefined;
    if (!next || hop === 4) return 'lost' in answer ? answer : withoutSentSecrets(request, answer);
    url = next;
  }
}

/** Reads may follow a redirect within the origin; a write is never sent twice, a credential never elsewhere. */
function redirectOf(request: { method: string; url: string }, { status, headers }: HttpResponse): string | undefined {
  if (request.method !== 'GET' || status < 300 || status > 399 || !headers.location) return undefined;
  const target = URL.canParse(headers.location, request.url) ? new URL(headers.location, request.url) : undefined;
  return target?.origin === new URL(request.url).origin ? target.href : undefined;
}

/** Nothing that the service itself has said ended it. */
export const mayArrive = (outcome: Outcome): boolean =>
  outcome.type === 'unsettled' || ('isForeign' in outcome && outcome.isForeign === true);

/** The service may have acted on it without our seeing a good answer. */
export const isDoubtful = (outcome: Outcome): boolean =>
  mayArrive(outcome) || (outcome.type === 'settled' && outcome.status >= 500);

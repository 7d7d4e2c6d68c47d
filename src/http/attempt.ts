import { getAccount } from '../api/account.ts';
import type { Bearer } from '../auth/session.ts';
import type { HttpResponse, Lost } from '../context.ts';
import type { Outcome } from '../retry/retry.ts';
import { retryAfterMs } from '../retry/retry-after.ts';
import { type Body, isOwnError, readBody } from './answer.ts';
import type { Asked, Service } from './asking.ts';
import type { Wire } from './request.ts';
import { userAgent } from './user-agent.ts';

/** An attempt, its answer read once. */
export type Attempt = { readonly exchanged: HttpResponse | Lost; readonly body: Body; readonly outcome: Outcome };

/** Sends once, follows the redirects of a read, and reads the answer. */
export async function attemptOnce(service: Service, bearer: Bearer, wire: Wire, number: number): Promise<Attempt> {
  const attempt = judged(await exchange(service, bearer, wire, number));
  if (attempt.outcome.type === 'unsettled' && wire.method !== 'GET') service.onUnsettled?.();
  return attempt;
}

function judged(exchanged: HttpResponse | Lost): Attempt {
  if ('lost' in exchanged) {
    return { exchanged, body: { form: 'none' }, outcome: outcomeOfLoss(exchanged) };
  }
  const body = readBody(exchanged.body);
  return { exchanged, body, outcome: outcomeOf(exchanged, body) };
}

/** What svc cannot read, it cannot read the next time either. */
function outcomeOfLoss({ lost, reason }: Lost): Outcome {
  if (lost === 'before-sending') return { type: 'unsent', reason };
  return { type: 'unsettled', final: reason === 'too-large' || reason === 'unreadable' };
}

function outcomeOf(response: HttpResponse, body: Body): Outcome {
  const { status } = response;
  if (status === 429) return { type: 'refused', retryAfterMs: retryAfterMs(response.headers) };
  if (status < 300) return body.form === 'none' ? { type: 'unsettled' } : { type: 'settled', status };
  // A request whose credential is refused has done nothing, whoever refuses it.
  if (status === 401 || isOwnError(response, body)) return { type: 'settled', status };
  return { type: 'unsettled', final: status < 500 };
}

/**
 * A 404 may come from a wrong base URL, whose server has none of the paths. Asked once in a run: the service answers
 * for the account, whatever the credential may see. Where it cannot be asked, the 404 is believed.
 */
export async function isService(service: Service, bearer: Bearer, asked: Asked): Promise<boolean> {
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

/** The service may have acted on it without our seeing a good answer. */
export const isDoubtful = (outcome: Outcome): boolean =>
  outcome.type === 'unsettled' || (outcome.type === 'settled' && outcome.status >= 500);

import { credentialVariables } from '../../config/credential-variables.ts';
import type { HttpResponse, Lost } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { isGatewayTimeout, isOwnErrorTo } from '../../retry/own-word.ts';
import type { Next } from '../../retry/retry.ts';
import { retryAfterMs } from '../../retry/retry-after.ts';
import { outlasted } from '../exchange/gate.ts';
import { failureOf, unreadable } from '../exchange/response.ts';
import { isStrange, throwStranger } from './address.ts';
import { type Attempt, isDoubtful } from './attempt.ts';
import type { Job, State } from './job.ts';

/** Loaded when a request does not simply succeed. */
export const endings = () => import('../exchange/endings.ts');

/** A failure on the way to another attempt must not hide that an earlier one may have worked. */
export async function preserveDoubt<T>({ service, asked }: Job, { doubt }: State, step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (failure) {
    if (doubt === undefined || asked.safety === 'read' || !(failure instanceof Failure)) throw failure;
    const { signal } = service.ctx;
    const { stoppedShort, unknownOutcome } = await endings();
    if (signal.aborted) throw stoppedShort(signal, asked, doubt);
    const { drafted, isHeld, message } = failure;
    const why = `${doubt}; then: ${(drafted?.told ?? message).replace(/\.$/u, '')}`;
    // What may not leave any more is not to be tried again at once.
    const isBarred = drafted !== undefined || isHeld === true;
    throw unknownOutcome(asked, why, isBarred ? { hint: asked.effect?.lookHint, isBarred } : {});
  }
}

export const refuseStranger = ({ service, asked }: Job, { bearer }: State, attempt: Attempt): Promise<void> =>
  isStrange(attempt) ? throwStranger(service, asked, { bearer, answer: responseOf(attempt) }) : Promise.resolve();

export async function endOf(
  job: Job,
  state: State,
  attempt: Attempt,
  as: Extract<Next, { next: 'fail' }>['as'],
): Promise<Failure> {
  const { baseUrl } = job.service.session;
  const { exchanged } = attempt;
  const { unreachable } = await endings();
  if ('lost' in exchanged) return as === 'unknown' ? unknownEnd(job, state, attempt) : unreachable(baseUrl, exchanged);
  await refuseStranger(job, state, attempt);
  if (as === 'unknown') return unknownEnd(job, state, attempt);
  if (as === 'rate-limited') {
    const askedMs = retryAfterMs(exchanged.headers) ?? 1000;
    return outlasted(askedMs > job.rules.maxWaitMs ? askedMs : undefined);
  }
  return refusal(job, state, attempt);
}

/** For a redirect it also names the base URL to use. */
async function unknownEnd(job: Job, { doubt }: State, attempt: Attempt): Promise<Failure> {
  const { briefly, unknownOutcome } = await endings();
  const last = briefly(attempt.exchanged, job.asked.otherIn);
  const why = doubt === undefined || isDoubtful(attempt.outcome) ? last : `${doubt}; then ${last}`;
  return unknownOutcome(job.asked, why, {
    answer: answerOf(attempt.exchanged),
    hint: await redirectHint(job, attempt),
  });
}

export async function redirectHint({ wire }: Job, { exchanged }: Attempt): Promise<string | undefined> {
  if ('lost' in exchanged || exchanged.status >= 400 || !exchanged.headers.location) return undefined;
  return (await endings()).baseUrlHint(exchanged.headers.location, wire.path);
}

/** The Failure of an answer that ends it, of the service or of what stands before it. */
export async function refusal({ service, asked, wire }: Job, { bearer }: State, attempt: Attempt): Promise<Failure> {
  const { oddAnswer, redirected } = await endings();
  const { body } = attempt;
  const response = responseOf(attempt);
  const { status } = response;
  if (status < 300) return body.form === 'none' ? unreadable(response) : oddAnswer(response);
  if (status < 400) return redirected(response, wire.path);
  const isOwn = status === 401 || isOwnErrorTo(asked.safety, response, body);
  const isOdd = status < 500 && !isGatewayTimeout(status) && !isOwn;
  if (isOdd) return oddAnswer(response);
  const variable = credentialVariables[bearer.kind];
  const { profile } = service.session;
  return failureOf(response, asked, { kind: bearer.kind, profile, variable: service.ctx.env[variable] && variable });
}

/** Of an attempt that was answered: nothing else is accepted or refused. */
export function responseOf({ exchanged }: Attempt): HttpResponse {
  if ('lost' in exchanged) throw new Error(exchanged.detail);
  return exchanged;
}

export const answerOf = (exchanged: HttpResponse | Lost): HttpResponse | undefined =>
  'status' in exchanged ? exchanged : undefined;

import { isFresh, seenAt } from '../../as-read.ts';
import type { HttpResponse, Lost, SendRequest } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { once } from '../../promise/once.ts';
import { decide, type Next, type Rules, repeated, untried } from '../../retry/retry.ts';
import { retryAfterMs } from '../../retry/retry-after.ts';
import type { RequestSpec, RestsOn, Service } from '../exchange/asking.ts';
import { countdown, type Pass } from '../exchange/gate.ts';
import type { Wire } from '../exchange/request.ts';
import { noted, type Sent } from '../exchange/writes.ts';
import { type Attempt, attemptOnce, isDoubtful, mayArrive } from './attempt.ts';
import { endings, endOf, preserveDoubt, refusal, refuseStranger, responseOf } from './ends.ts';
import type { Job, SendOptions, State, Written } from './job.ts';

const defaultMaxWaitMs = 120_000;

/** Sends until there is an answer, or until `retry.ts` says that it must end; throws the Failure that tells why. */
export async function send(service: Service, asked: RequestSpec, wire: Wire, options: SendOptions = {}): Promise<Sent> {
  if (asked.safety === 'read') return sendOn(service, asked, wire, options);
  const [{ requireAllowed, requireGo }, { recorded }] = await writing();
  const { preview } = service.ctx;
  if (preview) {
    // A login that may not do it is refused now rather than later.
    await service.session.bearer(asked);
    await requireAllowed(service, asked, wire);
    const { showInstead } = await import('./preview.ts');
    showInstead(preview, wire);
  }
  const judged = await requireGo(service, asked, wire);
  const { restsOn, ctx } = service;
  const lookedAt = restsOn ? seenAt(restsOn.seen) : judged && ctx.sends?.judgedAt(judged);
  const sending = recorded(service, { asked, wire }, (recording) =>
    sendOn(service, asked, wire, { ...options, recording, again: askingAgain(service, judged), lookedAt }),
  ).catch(async (error: unknown) => {
    // What surely reached nobody does not count as sent.
    if (judged && error instanceof Failure && !error.isUnsure)
      await service.ctx.sends?.takeBack(judged).catch(() => {});
    throw error;
  });
  return noted(service, { asked, wire }, sending);
}

/** Of no use to reads, and they bring every operation of the service. */
const writing = once(() => Promise.all([import('./reaching.ts'), import('./recorded.ts')]));

/** What is asked again before a repetition; undefined where nothing is to be asked. The rules come last: reading takes time. */
function askingAgain({ ctx, restsOn }: Service, judged: SendRequest | undefined): Job['again'] {
  if (!judged && !restsOn) return undefined;
  const asking = (look: RestsOn['mayLeave']) => async () => {
    await look?.();
    const verdict = judged && (await ctx.sends?.judgeAgain(judged));
    if (verdict instanceof Failure) throw verdict;
  };
  // Whether it is as it was also says whether it may leave.
  return { isAllowed: asking(restsOn?.mayLeave), isAsSeen: asking(restsOn?.beforeRepeat ?? restsOn?.mayLeave) };
}

async function sendOn(service: Service, asked: RequestSpec, wire: Wire, options: Written): Promise<Sent> {
  const rules: Rules = {
    safety: asked.safety,
    deletes: asked.deletes === true,
    wasSent: options.wasSent === true,
    reachesCustomer: asked.reaches === 'customer',
    maxWaitMs: options.maxWaitMs ?? service.settings.maxWaitMs ?? defaultMaxWaitMs,
  };
  const started = service.ctx.clock.ticks();
  const { lookedAt = started } = options;
  const job: Job = { ...options, service, asked, wire, rules, started, lookedAt };
  const bearer = await service.session.bearer(asked);
  let state: State = { bearer, history: untried, doubt: undefined, mayArrive: false };
  for (let number = 1; ; number++) {
    const next = await tryOnce(job, state, number);
    if ('how' in next) {
      if (state.mayArrive) warnOfCopy(service, asked);
      return confirmed(service, asked, next);
    }
    state = next;
  }
}

/** A file's rows and imports wait for it themselves before they write to the same record again (`onUnsettled`). */
function warnOfCopy({ ctx, settings, onUnsettled }: Service, asked: RequestSpec): void {
  if (asked.safety !== 'repeatable' || asked.deletes || onUnsettled) return;
  const seconds = Math.ceil(settings.settleMs / 1000);
  ctx.notice(
    `Note: the answer to an earlier copy of this request was lost, and it may still arrive. It would set the same once more. Wait ${seconds} s before you change it otherwise.`,
  );
}

/** What an update was answered with, unless that shows another value than was sent: then what a look at the record shows. */
async function confirmed(service: Service, asked: RequestSpec, sent: Sent): Promise<Sent> {
  if (sent.how !== 'answered' || sent.body.form !== 'json' || !asked.confirmed) return sent;
  const json = await asked.confirmed(service, sent.response, sent.body.json);
  return json === sent.body.json ? sent : { ...sent, body: { form: 'json', json }, judged: undefined };
}

/** One attempt, and what follows from it: the end, or the state in which to try again. */
async function tryOnce(job: Job, before: State, number: number): Promise<Sent | State> {
  const { service, asked, wire, rules, recording, started } = job;
  const { ctx } = service;
  const pass = await preserveDoubt(job, before, passFor(job, before, number));
  job.leaves?.(before.doubt);
  const attempting = attemptOnce(service, asked, { bearer: before.bearer, wire, number, recording }).catch(
    (mistake) => {
      pass.lost();
      throw mistake;
    },
  );
  const attempt = await preserveDoubt(job, before, attempting);
  const { exchanged, outcome } = attempt;
  const { refusals } = before.history;
  const state: State = {
    ...before,
    mayArrive: before.mayArrive || mayArrive(outcome),
    doubt: isDoubtful(outcome) ? (await endings()).briefly(exchanged, asked.otherIn) : before.doubt,
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

/** The turn of an attempt. What was looked at is looked at again before another one than the first, and once a wait is over. */
async function passFor(job: Job, before: State, number: number) {
  const { service, asked, rules, started, again, recording } = job;
  const gate = service.gateFor(before.bearer);
  const { ctx } = service;
  // What may have arrived is asked for by its outcome, so that it is not as it was says nothing. Whether it may leave does.
  const ask = before.doubt === undefined ? again?.isAsSeen : again?.isAllowed;
  // A token that had to be refreshed first, or the count of sends, may have taken its time since it was judged.
  for (let lookedAt = number === 1 ? job.lookedAt : undefined; ; ) {
    const mayLeave = () => !ask || (lookedAt !== undefined && isFresh(ctx, lookedAt));
    const pass = await gate.enter({ ownLimit: asked.ownLimit, deadline: started + rules.maxWaitMs });
    try {
      // Whoever writes the record of writes, or another draft, may keep it waiting, too.
      if (recording && mayLeave()) {
        await recording.leaves(before.bearer);
        await service.onTurn?.();
      }
    } catch (error) {
      pass.lost();
      throw error;
    }
    if (mayLeave()) return pass;
    // After a refusal one request goes at a time: those that look need the turn themselves.
    pass.lost();
    const began = ctx.clock.ticks();
    await ask?.();
    // Its own answer may be of before a change. One more is what is there: where all are late, none would ever count.
    if (!isFresh(ctx, began)) await ask?.();
    lookedAt = ctx.clock.ticks();
  }
}

async function follow(job: Job, state: State, attempt: Attempt, step: Next): Promise<Sent | State> {
  const { service, asked } = job;
  const { doubt, history } = state;
  switch (step.next) {
    case 'accept': {
      if (!(await isContradicted(job, attempt)))
        return { how: 'answered', response: responseOf(attempt), body: attempt.body, judged: attempt.judged };
      const named = `HTTP ${responseOf(attempt).status}, but the answer names another record`;
      return (await looking()).afterLook(job, { ...state, doubt: named }, attempt, 'unsettled');
    }
    case 'gone':
      await refuseStranger(job, state, attempt);
      return { how: 'gone' };
    case 'renew': {
      const renewing = service.session.renew(state.bearer).catch((error: unknown) => {
        job.recording?.refused(responseOf(attempt).status);
        throw error;
      });
      const bearer = await preserveDoubt(job, state, renewing);
      const doubts = isDoubtful(attempt.outcome) ? Math.max(history.doubts, 1) : history.doubts;
      if (bearer) return { ...state, bearer, history: { ...history, renewed: true, doubts } };
      if (doubt === undefined || asked.safety === 'read') throw await refusal(job, state, attempt);
      throw await endOf(job, state, attempt, 'unknown');
    }
    case 'repeat':
      if (!step.because.endsWith('-limit')) await countdown(service.ctx, step.afterMs, 'No answer from the service');
      return { ...state, history: repeated(history, step.because) };
    case 'look':
      // There is nothing to be seen at a stranger's. A gateway that fails is none, so there the question can wait.
      if ('status' in attempt.exchanged && attempt.exchanged.status < 500) await refuseStranger(job, state, attempt);
      return (await looking()).afterLook(job, state, attempt, step.after);
    case 'fail': {
      // Of what is looked for nothing else is sent again than what the service has said that it failed at.
      if (job.look && history.doubts > 0 && isRefused(attempt)) {
        const found = await (await looking()).foundAfterRefusal(job, job.look, attempt);
        if (found) return found;
      }
      throw await endOf(job, state, attempt, step.as);
    }
  }
}

const looking = () => import('./after-look.ts');

/** Neither a missing login nor a missing right says anything of what is there, nor does a limit. */
const isRefused = ({ exchanged }: Attempt): boolean =>
  'status' in exchanged && ![401, 403, 429].includes(exchanged.status);

/** An answer is believed where the service does not show what it names. */
async function isContradicted({ contradicts }: Job, { body }: Attempt): Promise<boolean> {
  if (!contradicts || body.form !== 'json') return false;
  return contradicts(body.json).catch(insteadOf('any', false));
}

async function giveBack(pass: Pass, exchanged: HttpResponse | Lost, step: Next): Promise<void> {
  if ('lost' in exchanged) return pass.lost();
  if (exchanged.status !== 429) {
    const remaining = Number.parseInt(exchanged.headers['x-ratelimit-remaining'] ?? '', 10);
    return pass.answered(Number.isNaN(remaining) ? undefined : remaining);
  }
  await pass.refused(step.next === 'repeat' ? step.afterMs : (retryAfterMs(exchanged.headers) ?? 1000));
}

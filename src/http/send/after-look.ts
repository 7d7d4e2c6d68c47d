import { messageOf } from '../../errors.ts';
import { decideAfterLook, repeated, type Sight } from '../../retry/retry.ts';
import { briefly, nothingStored, stoppedShort, unknownOutcome } from '../exchange/endings.ts';
import { countdown } from '../exchange/gate.ts';
import { type Look, type Looked, lookMs, lookUntilSettled } from '../exchange/settle.ts';
import type { Sent } from '../exchange/writes.ts';
import type { Attempt } from './attempt.ts';
import { answerOf, redirectHint, refuseStranger } from './ends.ts';
import type { Job, State } from './job.ts';

/** Looks for what the attempt may have made: found, to be sent again, or the Failure that says what is not known. */
export async function afterLook(
  job: Job,
  state: State,
  attempt: Attempt,
  after: Sight['after'],
): Promise<Sent | State> {
  const { service, asked, rules, look } = job;
  const { ctx, settings } = service;
  const { history, doubt = '' } = state;
  const answer = answerOf(attempt.exchanged);
  if (!look) throw unknownOutcome(asked, doubt, { answer });
  const why = `The answer was lost (${doubt}); looking for what was sent`;
  const looked = await lookUntilSettled(ctx, look, lookMs(after, settings.settleMs), why).catch((mistake) => {
    // A bug of svc itself must not hide that the write may have worked.
    throw unknownOutcome(asked, `${doubt}; then svc itself failed: ${messageOf(mistake)}`, { answer });
  });
  if ('found' in looked.findings) return { how: 'found', json: looked.findings.found };
  if (ctx.signal.aborted) throw stoppedShort(ctx.signal, asked, doubt);
  const then = decideAfterLook(rules, history, { after, isAbsent: isAbsent(looked) });
  if (then.next === 'repeat') {
    await countdown(ctx, then.afterMs, 'The service failed');
    // Nothing of it is there, and nothing is on its way any more.
    return { ...state, doubt: undefined, history: repeated(history, 'doubt') };
  }
  await refuseStranger(job, state, attempt);
  if (then.as === 'nothing-stored' && answer) throw nothingStored(asked, answer.status, looked);
  throw unknownOutcome(asked, doubt, { looked, answer, hint: await redirectHint(job, attempt) });
}

/** Surely nothing that agrees is there. A look that failed, or could not see everything, shows nothing. */
const isAbsent = ({ findings, trouble }: Looked): boolean =>
  'candidates' in findings && findings.candidates.length === 0 && !findings.isPartial && !trouble;

/**
 * A copy that was sent after the service's own 500 is refused: what is there already may be the first one, which the list
 * showed late. Undefined where surely nothing of it is there.
 */
export async function foundAfterRefusal(
  { service, asked }: Job,
  look: Look,
  { exchanged }: Attempt,
): Promise<Sent | undefined> {
  const { ctx, settings } = service;
  const why = 'The next copy was refused; looking for the first one';
  const looked = await lookUntilSettled(ctx, look, lookMs('settled', settings.settleMs), why);
  if ('found' in looked.findings) return { how: 'found', json: looked.findings.found };
  const doubt = `HTTP 500; then ${briefly(exchanged)}`;
  if (ctx.signal.aborted) throw stoppedShort(ctx.signal, asked, doubt);
  if (isAbsent(looked)) return undefined;
  throw unknownOutcome(asked, doubt, { looked, answer: answerOf(exchanged) });
}

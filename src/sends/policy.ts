import type { SendRequest } from '../context.ts';
import { Failure } from '../errors.ts';
import { filtered } from '../output/jq.ts';
import { once } from '../promise/once.ts';
import { unknownZone } from '../text/own-zone.ts';
import type { Fields } from '../text/record.ts';
import { sanitize } from '../text/sanitize.ts';
import type { Judging } from './judging.ts';
import { days, type Policy, type Quiet } from './policy-schema.ts';
import { countSend } from './rate.ts';
import { contactIn } from './seen.ts';
import { whoIs } from './who.ts';

export type PolicyQuestion = { readonly request: SendRequest; readonly read: () => Promise<Fields | undefined> };

/** The first rule that forbids it, as a failure that names it; undefined where none does. All policies hold. */
export async function refusalBy(
  policies: readonly Policy[],
  judging: Judging,
  asked: PolicyQuestion,
): Promise<Failure | undefined> {
  const { ctx, wish } = judging;
  for (const { path, sends } of policies) {
    const { quiet, deny, allow } = sends;
    const strange = quiet && quiet.zone === undefined ? unknownZone(ctx.env) : undefined;
    if (strange !== undefined) {
      const why = `it names no zone, and that of this machine (TZ=${sanitize(strange)}) is none that is known: give sends.quiet.zone`;
      return refused({ path, rule: 'quiet', why, wish });
    }
    if (quiet && isQuiet(quiet, ctx.clock.now()))
      return refused({ path, rule: 'quiet', why: 'it is quiet time', wish });
    for (const [rule, filter, wanted] of [
      ['deny', deny, false],
      ['allow', allow, true],
    ] as const) {
      const answer = filter === undefined ? { says: wanted } : await answerOf(judging, filter, asked);
      if ('problem' in answer) return unjudged({ path, rule, why: answer.problem, wish });
      if (answer.says !== wanted) return refused({ path, rule, why: `${rule}: ${filter}`, wish });
    }
  }
  return undefined;
}

/** The last question: what has room is counted, and what is judged again after a wait is counted as of then. */
export async function refusalByRate(
  policies: readonly Policy[],
  { ctx, wish, shared }: Judging,
  request: SendRequest,
): Promise<Failure | undefined> {
  const limits = policies.flatMap(({ path, sends: { max_per_hour: most } }) =>
    most === undefined ? [] : [{ path, most }],
  );
  const [lowest] = limits.sort((a, b) => a.most - b.most);
  if (!lowest) return undefined;
  const counted = await countSend(ctx, lowest.most, shared.counted.get(request));
  if (counted === undefined) {
    const why = `${lowest.most} an hour are allowed, and as many were sent since the rule stands`;
    return refused({ path: lowest.path, rule: 'max_per_hour', why, wish });
  }
  shared.counted.set(request, counted);
  return undefined;
}

type Forbidden = Pick<Judging, 'wish'> & { readonly path: string; readonly rule: string; readonly why: string };

const refused = ({ path, rule, why, wish }: Forbidden): Failure =>
  new Failure('policy', `The policy forbids this (sends.${rule} in ${path}): ${why}.`, {
    hint: keptHint(wish),
    isHeld: true,
  });

/** Such a rule forbids all the same, but whoever wrote it did not mean that. */
const unjudged = ({ path, rule, why, wish }: Forbidden): Failure =>
  new Failure('policy', `The rule sends.${rule} in ${path} cannot be judged, so nothing may be sent: ${why}.`, {
    hint: `${keptHint(wish)}\nWhat a rule sees: svc help sends`,
    isHeld: true,
  });

const keptHint = ({ approved }: Judging['wish']): string =>
  approved ? 'The draft is kept as it is.' : 'Nothing was sent. To leave it for later: add --draft';

/** What a filter sees. */
async function subjectOf({ wish }: Judging, { request, read }: PolicyQuestion) {
  const { operation, body } = request;
  const record = (await read()) ?? null;
  const contact = contactIn({ operation, body, record: record ?? undefined }) ?? null;
  return { operation, record, contact, body: body ?? null, by: whoIs(wish) };
}

/** What a filter says; `problem` where it is neither yes nor no. */
type Answer = { readonly says: boolean } | { readonly problem: string };

/** So long a filter may take: one that never ends would keep a send for ever. */
const longestMs = 5_000;

async function answerOf(judging: Judging, filter: string, asked: PolicyQuestion): Promise<Answer> {
  const { signal } = judging.ctx;
  // Neither a record that is long in being read nor a machine that is busy with loading jq is the filter's doing.
  const late = once(() => AbortSignal.timeout(longestMs));
  const end = once(() => AbortSignal.any([signal, late()]));
  try {
    const values = await filtered(await subjectOf(judging, asked), filter, end);
    const [only] = values;
    if (typeof only === 'boolean' && values.length === 1) return { says: only };
    const given = values.length === 1 ? JSON.stringify(only).slice(0, 40) : `${values.length || 'no'} values`;
    return { problem: `the filter ${filter} must give one true or false, and gives ${given}` };
  } catch (error) {
    if (late().aborted && !signal.aborted)
      return { problem: `the filter ${filter} takes longer than ${longestMs / 1000} s` };
    if (error instanceof Failure && error.kind === 'failed')
      return { problem: error.message.replace(/^The/u, 'the').replace(/\.$/u, '') };
    throw error;
  }
}

/** Whether it is quiet at a moment: on a day that is quiet whole, or between two times, over midnight too. */
function isQuiet({ from, to, zone, days: quietDays = [] }: Quiet, now: Date): boolean {
  const { day, time } = localTimeIn(now, zone);
  if (quietDays.some((one) => one === day)) return true;
  if (from === undefined || to === undefined) return false;
  if (from === to) return true;
  return from < to ? time >= from && time < to : time >= from || time < to;
}

/** `sat` and `07:30`, in the zone, or in that of the machine. */
function localTimeIn(now: Date, timeZone: string | undefined): { readonly day: string; readonly time: string } {
  const parts = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  }).formatToParts(now);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  const day = days.find((one) => one === part('weekday').toLowerCase()) ?? '';
  return { day, time: `${part('hour')}:${part('minute')}` };
}

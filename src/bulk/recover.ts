import { Failure } from '../errors.ts';
import { candidatesTold } from '../http/endings.ts';
import type { Undecided } from '../http/settle.ts';
import { someOf } from '../text/each.ts';
import { type Course, noteLook, settle } from './course.ts';
import type { Ended } from './ended-table.ts';
import { partOf } from './journal-text.ts';
import type { Planned } from './plan.ts';

const isRepeatable = ({ job }: Course): boolean => job.plan.row.operation.safety === 'repeatable';

/** What the journal says of a row that is over; undefined where it is to be sent. */
export function pastOf(course: Course, planned: Planned): Ended | 'left open' | undefined {
  const fate = course.job.journal.fates.get(planned.ref);
  if (fate === undefined || fate.status === 'meant') return undefined;
  // Twice is once.
  if (fate.status === 'sent' || fate.status === 'unknown') return isRepeatable(course) ? undefined : 'left open';
  return { ...fate, line: planned.line };
}

/** Looks for a row that was sent when an earlier run ended, or whose outcome it could not tell. */
async function resolve(course: Course, planned: Planned, settleMs: number): Promise<Undecided | undefined> {
  const { journal, sender } = course.job;
  const fate = journal.fates.get(planned.ref);
  const before = fate && 'before' in fate ? fate.before : null;
  const found = await sender.find(planned, before, settleMs).catch((error) => {
    if (error instanceof Failure) return undefined;
    throw error;
  });
  if (!found || 'candidates' in found) return found;
  await settle(course, planned, found);
  return undefined;
}

/** First what was sent when an earlier run was killed, for as long as it may be late; all at once. */
export async function recoverOpen(course: Course): Promise<void> {
  const { job, ended, unknown, cost } = course;
  const { ctx, plan, journal, settings, retryUnknown } = job;
  const open = await openRows(course);
  if (open.length === 0) return;
  const wasSent = (planned: Planned) => journal.fates.get(planned.ref)?.status === 'sent';
  const mayGo = new Set<Planned>();
  const began = ctx.clock.ticks();
  const left = new Map<Planned, Undecided | undefined>();
  const looking = async (planned: Planned) => left.set(planned, await resolve(course, planned, settings.settleMs));
  await Promise.all(open.filter(wasSent).map(looking));
  const isMissing = open.some((planned) => wasSent(planned) && !ended.has(planned.index));
  if (isMissing && plan.row.operation.safety === 'verify')
    noteLook(course, {
      seconds: Math.round((ctx.clock.ticks() - began) / 100) / 10,
      candidates: [...left.values()].flatMap((one) => one?.candidates ?? []),
    });
  for (const planned of open) {
    if (ended.has(planned.index)) continue;
    if (retryUnknown) {
      if (!wasSent(planned)) await resolve(course, planned, 0);
      if (!ended.has(planned.index)) mayGo.add(planned);
      continue;
    }
    const fate = journal.fates.get(planned.ref);
    const error = fate?.status === 'unknown' ? fate.error : whyOpen(left.get(planned));
    ended.set(planned.index, { status: 'unknown', line: planned.line, error, before: null });
    if (fate?.status === 'sent')
      await journal.write({ unknown: { row: planned.ref, line: planned.line, error, ...cost() } });
    unknown.push(planned);
  }
  for (const { ref, line } of mayGo) await journal.write({ back: { row: ref, line } });
}

/** A record that may be the row's is named, with what to do about it. */
function whyOpen(left: Undecided | undefined): string {
  if (!left || left.candidates.length === 0) return 'It was sent when svc was killed, and svc did not find it';
  return ['It was sent when svc was killed:', candidatesTold(left), left.advice ?? ''].join(' ').trim();
}

async function openRows(course: Course): Promise<Planned[]> {
  const { journal, plan } = course.job;
  const open: Planned[] = [];
  const hasOpen = someOf(journal.fates.standing('sent', 'unknown'), () => true);
  if (!hasOpen || isRepeatable(course)) return open;
  for await (const batch of plan.read()) {
    open.push(...batch.filter((planned) => pastOf(course, planned) === 'left open'));
  }
  return open;
}

/** What was unknown may have arrived since. */
export async function lookAgain(course: Course): Promise<void> {
  const { job, unknown } = course;
  const { ctx, journal, plan } = job;
  if (plan.row.operation.safety !== 'verify' || journal.failure()) return;
  for (const planned of unknown) {
    if (ctx.signal.aborted) return;
    await resolve(course, planned, 0);
  }
}

/** Does the second step of rows for which an earlier run was stopped between the two. */
export async function finishSteps(course: Course): Promise<void> {
  const { job, ended, keep, cost } = course;
  const { journal, plan, sender } = job;
  if (!someOf(journal.fates.standing('done'), ([, fate]) => 'rest' in fate)) return;
  for await (const batch of plan.read()) {
    for (const planned of batch) {
      const fate = journal.fates.get(planned.ref);
      if (fate?.status !== 'done' || !fate.rest || fate.id === null || course.isOver()) continue;
      const { id } = fate;
      const { ref: row, line, index } = planned;
      const part = partOf(await sender.finish(planned, id, fate.step ?? 0));
      ended.set(index, { status: 'done', line, id, ...part });
      course.resumedRows++;
      keep({ done: { row, line, id, ...cost(), ...part } });
    }
  }
}

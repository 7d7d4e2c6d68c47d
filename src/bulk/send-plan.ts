import { resolve as absolute } from 'node:path';
import type { Operation } from '../api/operation.ts';
import { confirmed } from '../command/confirm.ts';
import type { Failure } from '../errors.ts';
import type { Service } from '../http/call.ts';
import { giveEarlier } from '../http/given-ids.ts';
import { ownIds } from '../http/open-writes.ts';
import { accountOf } from './account.ts';
import { refuseBegunAgain } from './begun-again.ts';
import { refuseLoss } from './earlier-secrets.ts';
import type { EndedRows } from './ended-table.ts';
import { exampleOf } from './example.ts';
import type { Run } from './file.ts';
import { writeFiles } from './files.ts';
import { sendsAgain } from './flags.ts';
import { refuseGrown } from './grown.ts';
import { type History, type MadeBefore, openHistory } from './journal-history.ts';
import type { Identity } from './journals-on-disk.ts';
import { refuseOther } from './other-request.ts';
import { rowsInWords } from './pace.ts';
import type { Plan } from './plan.ts';
import { problemRows } from './problem-rows.ts';
import { confirmedMany, questionFor } from './question.ts';
import { reportOf } from './report.ts';
import { earlierNotes, endedBefore, origins, refuseLost, rowsToSend, settledIn } from './resume.ts';
import { runPlan, type Totals } from './run.ts';
import { type Secrets, secretsOf } from './secrets.ts';
import { createSender } from './send-row.ts';

/** What became of the rows. A row that was done before is not rejected, though it could not be sent as it is now. */
export type Sent = {
  readonly plan: Plan;
  readonly totals: Totals;
  /** Why a file that tells of them is not there. */
  readonly unwritten?: Failure;
};

export function withEarlier(plan: Plan, totals: Totals, before: EndedRows): Sent {
  if (before.size === 0) return { plan, totals };
  const problems = problemRows(plan.refs);
  for (const [index, problem] of plan.problems) if (!before.has(index)) problems.set(index, problem);
  for (const [index, ended] of before) totals.ended.set(index, ended);
  const resumedRows = totals.resumedRows + before.size;
  return { plan: { ...plan, problems, sendable: plan.count - problems.size }, totals: { ...totals, resumedRows } };
}

/** What the history of the rows is known by. Asks the service for the account. */
export async function identityOf(run: Run, service: Service, plan: Plan, given: string): Promise<Identity> {
  const { path } = plan.rows.source;
  return {
    account: await accountOf(service, run.row.operation),
    command: run.words,
    settings: given,
    file: path === undefined ? undefined : absolute(path),
  };
}

/** Sends what earlier runs have not. `given`: what the command line says for every row. */
export async function sendPlan(run: Run, plan: Plan, given: string): Promise<Sent> {
  const { ctx, row, flags } = run;
  const service = await run.service();
  const secrets = secretsOf(ctx, row.operation, service, flags.results);
  const identity = await identityOf(run, service, plan, given);
  const wish = { restart: flags.restart, again: flags.again };
  const history = await openHistory({ state: ctx.files.state, clock: ctx.clock }, identity, plan, wish);
  try {
    const { matches } = history;
    await refuseBegunAgain({ ctx, service, plan, matches, yes: run.settings.yes });
    await agreed(run, plan, history);
    noteMade(service, row.operation, history.made);
    const journal = await history.begin();
    try {
      const sent = await runPlan({
        ctx,
        settings: run.settings,
        plan,
        journal,
        secrets,
        sender: createSender(service, row, journal),
        concurrency: flags.concurrency ?? 4,
        maxSends: flags.max_sends ?? Number.POSITIVE_INFINITY,
        retryUnknown: flags.retry_unknown,
        onProgress: run.onProgress,
      });
      ctx.progress(undefined, 'work');
      const where = await journal.keepLost();
      const isForgotten = where === 'gone' || (history.lost.aborted && row.operation.safety === 'repeatable');
      const whole = withEarlier(plan, { ...sent, isForgotten }, endedBefore(history, plan));
      // The files of the run that took over stand there, or will.
      if (history.lost.aborted && (where === 'there' || where === 'theirs')) return whole;
      const unwritten = await keepFiles(run, whole, secrets);
      if (secrets.to === 'results' && !unwritten) await journal.forgetSecrets();
      return { ...whole, unwritten };
    } finally {
      await journal.close();
    }
  } finally {
    await history.release();
  }
}

/** One record is taken for one row alone, in whatever file the others stand: by a look, and by an answer. */
function noteMade(service: Service, operation: Operation, all: Iterable<MadeBefore>): void {
  const own = ownIds(service, operation);
  for (const { id, of } of all) {
    own.add(id);
    if (operation.safety !== 'repeatable') giveEarlier(service, operation, id, of);
  }
}

/** Says what earlier runs did, asks where that is called for, and looks whether the file is still the one that was read. */
async function agreed({ ctx, settings, words, row, flags, earlier }: Run, plan: Plan, history: History): Promise<void> {
  refuseLoss(earlier, flags.results, madeBy(history));
  refuseGrown(history.grown, plan);
  refuseOther(history.others, plan);
  refuseLost(history, plan, settings.yes);
  const open = rowsToSend(history, plan, flags.retry_unknown);
  const count = Math.min(open, flags.max_sends ?? Number.POSITIVE_INFINITY);
  for (const note of earlierNotes(history, plan, open)) ctx.notice(note);
  const { resent } = history;
  const plainly = count > 0 ? questionFor(row, plan, count, words) : undefined;
  const twice =
    resent.size === 0
      ? ''
      : ` ${rowsInWords(resent.size)} of them ${resent.size === 1 ? 'was' : 'were'} sent before, ${origins(resent.runs().keys())}.`;
  const question = plainly ?? (twice === '' || count === 0 ? undefined : `Send ${rowsInWords(count)}?`);
  const isSettled = settledIn(history, plan, flags.retry_unknown);
  if (question) await confirmed(ctx, settings, question + twice, () => exampleOf(plan, { isSettled, count }));
  else await confirmedMany(ctx, settings, { row, count, words });
  await plan.verify();
}

/** What the results of this run will have beside what it makes. */
export function* madeBy({ matches }: Pick<History, 'matches'>): Generator<number | null> {
  for (const { fate } of matches.values()) yield fate.status === 'done' ? fate.id : null;
}

/** While the journal is held: what stands in the files is what it says. */
const keepFiles = (run: Run, { plan, totals }: Sent, secrets: Secrets) =>
  writeFiles(run.flags, {
    plan,
    totals,
    report: reportOf(run.words, String(run.flags.from), plan, totals),
    hasSecrets: secrets.to === 'results',
    earlier: run.earlier,
    sendsAgain: sendsAgain(run.flags),
  });

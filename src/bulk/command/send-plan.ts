import type { Operation } from '../../api/operation.ts';
import type { Unwritten } from '../../batch/out-files.ts';
import type { Service } from '../../http/call/call.ts';
import { giveEarlier } from '../../http/call/given-ids.ts';
import { ofEarlierRun, ownIds } from '../../http/call/open-writes.ts';
import { syncRecord } from '../../http/exchange/recorder.ts';
import { digestTable } from '../../text/digest-table.ts';
import { countOf } from '../../text/each.ts';
import type { MadeBefore } from '../history/earlier-runs.ts';
import { openHistory } from '../history/history.ts';
import type { EndedRows } from '../journal/ended-table.ts';
import type { Run } from '../report/command-line.ts';
import { agree, identityOf, refuseRows, wishOf } from '../report/consent.ts';
import { writeFiles } from '../report/files.ts';
import { reportOf } from '../report/report.ts';
import { endedBefore } from '../report/settled.ts';
import { sendsAgain } from '../rows/flags.ts';
import type { Plan } from '../rows/plan.ts';
import { problemRows } from '../rows/problem-rows.ts';
import { createNumbering } from '../rows/row-requests.ts';
import { runPlan, type Totals } from '../run/run.ts';
import { type Secrets, secretsOf } from '../run/secrets.ts';
import { beginSending } from '../run/sending.ts';

/** What became of the rows. A row that was done before is not rejected, though it could not be sent as it is now. */
export type Sent = {
  readonly plan: Plan;
  readonly totals: Totals;
  /** Of the files that tell of them. */
  readonly unwritten?: Unwritten;
};

export function withEarlier(plan: Plan, totals: Totals, before: EndedRows): Sent {
  if (before.size === 0) return { plan, totals };
  const problems = problemRows(plan.refs);
  for (const [index, problem] of plan.problems) if (!before.has(index)) problems.set(index, problem);
  for (const [index, ended] of before) totals.ended.set(index, ended);
  const unreadable = countOf(before.values(), ({ status }) => status === 'unknown');
  return {
    plan: { ...plan, problems, sendable: plan.count - problems.size },
    totals: { ...totals, resumedRows: totals.resumedRows + before.size, unreadable },
  };
}

/** Sends what earlier runs have not. `given`: what the command line says for every row. `isAgreed`: nothing is asked any more. */
export async function sendPlan(run: Run, plan: Plan, given: string, isAgreed = false): Promise<Sent> {
  const { ctx, row, flags } = run;
  const service = await run.service();
  const secrets = secretsOf(ctx, row.operation, service, flags.results);
  const identity = await identityOf(run, plan, given);
  const history = await openHistory(ctx, identity, plan, wishOf(run));
  try {
    if (isAgreed) refuseRows(run, plan, history);
    else await agree(run, plan, history);
    await plan.verify();
    noteMade(service, row.operation, history.made);
    const journal = await history.begin();
    try {
      const sent = await runPlan({
        ctx,
        settings: run.settings,
        plan,
        journal,
        secrets,
        sending: beginSending(service, row, journal),
        concurrency: flags.concurrency ?? 4,
        maxSends: flags.max_sends ?? Number.POSITIVE_INFINITY,
        retryUnknown: flags.retry_unknown,
        ...(flags.rejects !== undefined && {
          rejects: (ended: EndedRows) => rejectedContent(plan, ended, endedBefore(history, plan)),
        }),
        onProgress: run.onProgress,
      });
      ctx.progress(undefined, 'work');
      const where = await journal.keepLost();
      const isForgotten = where === 'gone' || (history.lost.aborted && row.operation.safety === 'repeatable');
      const { isOfStrangers } = history;
      const totals = { ...sent, isForgotten, isOfStrangers, batch: journal.batch };
      const whole = withEarlier(plan, totals, endedBefore(history, plan));
      // The files of the run that took over stand there, or will.
      if (history.lost.aborted && (where === 'there' || where === 'theirs')) return whole;
      const unwritten = await keepFiles(run, whole, secrets);
      if (secrets.to === 'results' && !unwritten) await journal.forgetSecrets();
      return { ...whole, unwritten };
    } finally {
      await syncRecord(service).catch(() => {});
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
    own.set(id, ofEarlierRun);
    if (operation.safety !== 'repeatable') giveEarlier(service, operation, id, of);
  }
}

/** While the journal is held: what stands in the files is what it says. */
const keepFiles = (run: Run, { plan, totals }: Sent, secrets: Secrets) =>
  writeFiles(run.ctx, run.flags, {
    of: { plan, totals, hasSecrets: secrets.to === 'results' },
    report: reportOf(run.words, String(run.flags.from), plan, totals),
    earlier: run.earlier,
    sendsAgain: sendsAgain(run.flags),
  });

/** The content, as `Plan` says it, of a file with the rejected rows alone: `ended` by position in the file, then `before`. */
function rejectedContent({ count, problems, refs }: Plan, ended: EndedRows, before: EndedRows): string {
  const content = process.getBuiltinModule('node:crypto').createHash('sha256');
  const names = digestTable();
  const numbered = createNumbering(names);
  for (let index = 0; index < count; index++) {
    const isProblem = problems.has(index) && !before.has(index);
    if (!isProblem && ended.get(index)?.status !== 'rejected') continue;
    const ref = numbered(refs.names.nameAt(index).replace(/~\d+$/u, ''), names.size());
    names.add(ref);
    content.update(ref);
  }
  return content.digest('hex');
}

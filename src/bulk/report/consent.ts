import { resolve as absolute, join } from 'node:path';
import { hearersOf } from '../../api/hearers.ts';
import type { Operation } from '../../api/operation.ts';
import { refuseLoss } from '../../batch/earlier-secrets.ts';
import { rowsInWords } from '../../batch/pace.ts';
import { confirmed, unchangedBy } from '../../command/confirm.ts';
import type { RowOf } from '../../command/row.ts';
import { manyToChange } from '../../command/several.ts';
import { Failure } from '../../errors.ts';
import { countOf, someOf } from '../../text/each.ts';
import { listed } from '../../text/listed.ts';
import { counted, number } from '../../text/number.ts';
import { refuseAlike } from '../history/alike.ts';
import type { Known } from '../history/earlier-runs.ts';
import { refuseGrown } from '../history/grown.ts';
import { lookAtHistory } from '../history/history.ts';
import { type Matches, matchTable } from '../history/match-table.ts';
import { origins } from '../history/origins.ts';
import { isOtherRequest, refuseOther } from '../history/other-request.ts';
import { nobody } from '../history/senders.ts';
import { type EndedRows, endedRows, isUnsure } from '../journal/ended-table.ts';
import { type Identity, mayBeKnown } from '../journal/on-disk.ts';
import { besidesIn } from '../rows/besides.ts';
import { isRepeatable, noRequest, type Plan } from '../rows/plan.ts';
import { refuseBegunAgain } from './begun-again.ts';
import type { Run } from './command-line.ts';
import { agreedTo, unsendableInWords } from './example.ts';
import { earlierNotes, refuseLost } from './resume.ts';
import { endedBefore, rowsToSend, settledBefore, settledIn } from './settled.ts';

/** What the history of the rows is known by. Asks the service for the account, once in a run. */
export async function identityOf(run: Run, plan: Plan, given: string): Promise<Identity> {
  const { path } = plan.rows.source;
  return {
    account: await run.account(),
    command: run.words,
    settings: given,
    file: path === undefined ? undefined : absolute(path),
  };
}

/** What the person wants of rows that were sent before, and how svc learns what became of those that are drafts. */
export const wishOf = ({ ctx, settings, flags }: Run) => ({
  restart: flags.restart,
  again: flags.again,
  drafts: async () => {
    const { withDrafts } = await import('../../sends/store.ts');
    return withDrafts(ctx, settings.drafts, (store) => store.list());
  },
});

/** Throws where rows must not be sent, whatever a person says. */
export function refuseRows({ settings, flags, earlier }: Run, plan: Plan, known: Known): void {
  refuseLoss(earlier, flags.results, madeBy(known));
  if (!flags.retry_unknown) refuseAlike(known.alike, plan);
  const elsewhere = sentElsewhere(known, plan);
  refuseGrown(known.grown, plan, elsewhere);
  refuseOther(known.others, plan, { again: flags.again, elsewhere });
  refuseLost(known, plan, { yes: settings.yes, again: flags.again });
}

/** Rows, beside those that are another request now, that --again would send once more. */
function sentElsewhere({ matches, grown, others, goesAgain }: Known, { refs }: Plan): number {
  if (grown.length + others.length === 0) return 0;
  return countOf(matches, ([ref, match]) => {
    const request = refs.get(ref);
    return request !== noRequest && !isOtherRequest(match, request) && goesAgain(ref, match);
  });
}

/** Throws where rows must not be sent, says what earlier runs did, and asks where that is called for. */
export async function agree(run: Run, plan: Plan, known: Known): Promise<void> {
  const { ctx, settings, words, row, flags } = run;
  const { matches, resent } = known;
  await refuseBegunAgain(run, plan, matches);
  refuseRows(run, plan, known);
  const open = rowsToSend(known, plan, flags.retry_unknown);
  const count = Math.min(open, flags.max_sends ?? Number.POSITIVE_INFINITY);
  for (const note of await earlierNotes(run, plan, known, open)) ctx.notice(note);
  const plainly = count > 0 ? questionFor(row, plan, count, words) : undefined;
  const twice = resent.size === 0 ? '' : ` ${sentBeforeInWords(resent)}`;
  const question = plainly ?? (twice === '' || count === 0 ? undefined : `Send ${rowsInWords(count)}?`);
  const isSettled = settledIn(known, plan, flags.retry_unknown);
  // A person sees each of them, now or later.
  const mode = hearersOf(row.operation) === undefined ? 'allow' : await ctx.sends?.mode();
  if (mode === 'draft' || (mode === 'ask' && resent.size === 0)) return;
  if (question) {
    // Whoever has said yes already is asked nothing, and told at the end.
    const more = settings.yes ? [] : await besidesIn(plan, { isSettled, count });
    const whole = more.length === 0 ? question : question.replace('?', () => `, then ${listed(more)}?`);
    return confirmed(ctx, settings, whole + twice, {
      shown: () => agreedTo(known, plan, { isSettled, count }),
      unchanged: unchangedBy(row.operation),
    });
  }
  // A close or an update of many is asked for once, on a terminal alone: it is easily taken back.
  const isMany = isRepeatable(plan) && count > manyToChange;
  if (isMany && !settings.yes && !settings.noInput && ctx.ask.canAsk)
    await confirmed(ctx, settings, `Run svc ${words} for ${counted(count, 'row')}?`, {
      shown: async () => unsendableInWords(known, plan),
    });
}

function sentBeforeInWords(resent: Matches): string {
  const isDrafted = someOf(
    resent.values(),
    ({ rowStatus }) => rowStatus.status === 'done' && rowStatus.drafted !== undefined,
  );
  const sent = `${rowsInWords(resent.size)} of them ${resent.size === 1 ? 'was' : 'were'} sent${isDrafted ? ', or became drafts,' : ''} before, ${origins(resent.runs().keys())}`;
  const unsure = countOf(resent.values(), ({ rowStatus }) => isUnsure(rowStatus));
  return unsure === 0 ? `${sent}.` : `${sent}, and of ${number(unsure)} it is not known whether that was done.`;
}

/** As `agree`, before anything is made that the rows need: nothing is held yet. */
export async function agreeFirst(run: Run, plan: Plan, given: string): Promise<void> {
  await agree(run, plan, (await knownOf(run, plan, given)) ?? nothingKnown(plan));
}

/** Of a file of which nothing goes out: by position in it, and what is said of them. */
export type SentBefore = {
  /** Rows that cannot be sent as they are now, and were sent before. */
  readonly rows: EndedRows;
  /** Good rows that earlier runs have settled. */
  readonly settled: EndedRows;
  readonly notes: readonly string[];
};

/** Told that such rows are wrong, or not done, people would fix them and send them twice. */
export async function sentBefore(run: Run, plan: Plan, given: string): Promise<SentBefore> {
  const known = plan.problems.size === 0 ? undefined : await knownToLogin(run, plan, given);
  if (!known) return { rows: endedRows(), settled: endedRows(), notes: [] };
  const rows = endedBefore(known, plan);
  const settled = await settledBefore(known, plan);
  if (rows.size + settled.size === 0) return { rows, settled, notes: [] };
  const left = rowsToSend(known, plan, run.flags.retry_unknown);
  return { rows, settled, notes: await earlierNotes(run, plan, known, left) };
}

/** Without a login none is known, and a word says so. */
export async function knownToLogin(run: Run, plan: Plan, given: string): Promise<Known | undefined> {
  try {
    return await knownOf(run, plan, given);
  } catch (failure) {
    if (!(failure instanceof Failure) || failure.kind !== 'auth' || failure.status !== undefined) throw failure;
    run.ctx.notice(`svc did not look at what earlier runs have sent, so rows may be done already. ${failure.message}`);
    return undefined;
  }
}

/** Undefined where no run of the command can have left anything. */
async function knownOf(run: Run, plan: Plan, given: string): Promise<Known | undefined> {
  const { ctx } = run;
  if (!(await mayBeKnown(join(ctx.files.state, 'bulk'), run.words))) return undefined;
  return lookAtHistory(ctx, await identityOf(run, plan, given), plan, wishOf(run));
}

export function nothingKnown({ refs }: Plan): Known {
  const [matches, resent] = [matchTable(refs), matchTable(refs)];
  const [none, never] = [[], () => false];
  const unknown = {
    own: undefined,
    stopped: undefined,
    isCopy: false,
    senders: nobody,
    goesAgain: never,
    drafted: new Map(),
  };
  return { ...unknown, grown: none, others: none, alike: none, matches, resent };
}

/** What the results of this run will have beside what it makes. */
function* madeBy({ matches }: Pick<Known, 'matches'>): Generator<number | null> {
  for (const { rowStatus } of matches.values()) yield rowStatus.status === 'done' ? rowStatus.id : null;
}

/** What is asked once before the first row goes out; undefined where nobody hears of it and nothing is lost. */
function questionFor(row: RowOf, { published }: Plan, count: number, words: string): string | undefined {
  const { operation, question } = row;
  const isPublic = operation.reaches === 'public';
  if (isPublic ? published === 0 : operation.grant !== 'send' && !operation.deletes && !operation.destructive)
    return undefined;
  if (question) return question(isPublic ? Math.min(count, published) : count);
  return `Run svc ${words} for ${counted(count, 'row')}?${whoHears(operation)}`;
}

function whoHears({ reaches, grant }: Operation): string {
  if (reaches === 'public') return ' The public will read it.';
  return grant === 'send' ? ' Customers may hear of it.' : '';
}

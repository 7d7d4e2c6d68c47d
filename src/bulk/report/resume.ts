import { rowsInWords } from '../../batch/pace.ts';
import { Failure } from '../../errors.ts';
import { localTime } from '../../output/cells.ts';
import { countOf, someOf } from '../../text/each.ts';
import { counted, number } from '../../text/number.ts';
import { fateOf, isWaiting } from '../history/drafted.ts';
import type { Known } from '../history/earlier-runs.ts';
import { type Match, otherNames } from '../history/match-table.ts';
import { origins } from '../history/origins.ts';
import { isInDoubt, isUnsettled, isUnsure } from '../journal/ended-table.ts';
import { isFormerName } from '../journal/going.ts';
import type { RowStatus } from '../journal/lines.ts';
import type { Found } from '../journal/on-disk.ts';
import { isRepeatable, noRequest, type Plan } from '../rows/plan.ts';
import { shapeKey } from '../rows/row-content.ts';
import type { Run } from './command-line.ts';
import { endedBefore, settledIn } from './settled.ts';
import { earlierNote, rejectedNote } from './view.ts';

const wasSent = ({ status }: RowStatus): boolean => status !== 'rejected';

/** So many are named. */
const mostNamed = 10;

type Answer = { readonly yes: boolean; readonly again: boolean };

/** Rows that were sent and are no longer in the file: it was edited, and they would be sent again in another form. */
export function refuseLost(
  { own, stopped, matches }: Pick<Known, 'own' | 'stopped' | 'matches'>,
  { refs, row, rows, shapes }: Plan,
  { yes, again }: Answer,
): void {
  const begun = own ?? stopped;
  if (!begun || again || isRepeatable({ row })) return;
  // A script says --yes of every send, and in the middle of a file that lost a column a customer would hear it twice.
  const isNoAnswer = row.operation.grant === 'send' && begun.past.finished === undefined && !sharesShape(begun, shapes);
  if (yes && !isNoAnswer) return;
  const taken = otherNames(matches, refs);
  const named: string[] = [];
  let count = 0;
  for (const [key, rowStatus] of begun.past.rowStatuses) {
    if (!wasSent(rowStatus) || refs.has(key) || taken.has(key) || isFormerName(key)) continue;
    const id = rowStatus.status === 'done' && rowStatus.id !== null ? ` (id ${rowStatus.id})` : '';
    if (++count <= mostNamed) named.push(`line ${rowStatus.line}${id}`);
  }
  if (count === 0) return;
  const more = count > named.length ? `, and ${count - named.length} more` : '';
  throw new Failure(
    'usage',
    `${counted(count, 'row')} of ${rows.source.name} that ${count === 1 ? 'was sent is' : 'were sent are'} no longer in it, or changed: ${named.join(', ')}${more}.`,
    {
      hint: `Nothing was sent now. A changed row is sent as a new one. To go on, add ${isNoAnswer ? '--again' : '--yes'}.`,
    },
  );
}

const sharesShape = ({ past }: Found, shapes: Plan['shapes']): boolean => {
  const then = new Set(past.shapes.map(shapeKey));
  return shapes.some((shape) => then.has(shapeKey(shape)));
};

/** Whether this run makes drafts of what reaches a customer or the public. */
export const isDrafting = async ({ ctx }: Pick<Run, 'ctx'>): Promise<boolean> => (await ctx.sends?.mode()) === 'draft';

/** What is said of earlier runs before the first row goes out. `left`: how many rows this run sends, or makes drafts of. */
export async function earlierNotes(run: Run, plan: Plan, known: Known, left: number): Promise<string[]> {
  const { own, isCopy, matches, resent, goesAgain, senders } = known;
  const isDraft = await isDrafting(run);
  const isSettled = settledIn(known, plan, run.flags.retry_unknown);
  const drafted = draftedOf(matches);
  // Drafts are told of by their own commands.
  const isOther = isCopy && drafted === 'none';
  const isAnyWaiting = someOf(matches.values(), (match) => isWaiting(known.drafted, match));
  const runs = new Set<Found>();
  const draftedIn = new Set<Found>();
  let [elsewhere, unsure, canGo, owned, open, settled, refused, unknown, inDoubt] = [0, 0, 0, 0, 0, 0, 0, 0, false];
  for (const [ref, match] of matches) {
    const { from, rowStatus } = match;
    const isReadable = plan.refs.get(ref) !== noRequest;
    if (isReadable && !isSettled(ref)) continue;
    if (isUnsettled(rowStatus)) unknown++;
    if (isReadable && rowStatus.status === 'rejected') refused++;
    inDoubt ||= isInDoubt(rowStatus);
    if (from !== own && fateOf(known.drafted, match) === 'open') {
      draftedIn.add(from);
      open++;
    } else if ((from !== own || isOther) && wasSent(rowStatus)) {
      runs.add(from);
      elsewhere++;
      if (isUnsure(rowStatus)) unsure++;
      if (isReadable && goesAgain(ref, match)) canGo++;
      else if (senders.isOwn(ref)) owned++;
    } else if (isReadable) settled++;
  }
  const notes = openNotes(known);
  // The question tells of those that go again.
  if (own && !runs.has(own) && !(own.past.finished && resent.size > 0)) {
    const { finished, header } = own.past;
    const at = finished?.at ?? header.started_at;
    const asked = countOf(matches.keys(), (ref) => plan.refs.get(ref) !== noRequest);
    const isRetried = finished !== undefined && left > plan.sendable - asked;
    // Twice is once: it begins again.
    if (finished && isRepeatable(plan) && asked > 0)
      notes.push(
        `This file was done at ${localTime(at)}, but for ${rowsInWords(asked)} that may or may not have been done. The whole file is sent again.`,
      );
    else if (isRetried) notes.push(`This file was done at ${localTime(at)}, but for ${rowsInWords(left)}.`);
    // Nothing of it stands to be gone on with.
    else if (finished || settled + left > 0)
      notes.push(
        earlierNote(at, {
          isFinished: finished !== undefined,
          settled,
          left,
          rejected: plan.problems.size - endedBefore({ matches }, plan).size + refused,
          drafted,
          isAnyWaiting,
          isDraft,
          unknown,
          isSame: own.past.content === plan.content,
          isFreed: own.isFreed,
          inDoubt,
          isAgain: run.flags.again,
        }),
      );
  }
  const isRejected = ([, match]: readonly [string, Match]) => fateOf(known.drafted, match) === 'rejected';
  const rejected = countOf(matches, (one) => isRejected(one) && goesAgain(...one));
  const ownRejected = countOf(matches, isRejected) - rejected;
  const isSentElsewhere = ([ref, match]: readonly [string, Match]) =>
    match.rowStatus.status === 'done' && fateOf(known.drafted, match) === undefined && goesAgain(ref, match);
  const others = countOf(matches, isSentElsewhere);
  if (rejected > 0) notes.push(rejectedNote(rejected, { elsewhere: others, isDraft }));
  if (ownRejected > 0)
    notes.push(
      `A person rejected drafts of ${rowsInWords(ownRejected)} that this file had sent before: --restart alone sends all again.`,
    );
  const toSee = isAnyWaiting ? 'To see and send what waits' : 'To see what became of it';
  if (open > 0)
    notes.push(
      `${rowsInWords(open)} became ${open === 1 ? 'a draft' : 'drafts'} before, ${origins(draftedIn)}: nothing is sent beside ${open === 1 ? 'it' : 'them'}. ${toSee}: svc drafts list --all`,
    );
  if (elsewhere > 0) {
    const [are, them] = elsewhere === 1 ? ['was', 'it'] : ['were', 'them'];
    const sent = `${rowsInWords(elsewhere)} ${are} sent before, ${origins(runs)}, and ${are} not sent again.`;
    const advice = [
      ...(canGo > 0 ? [` To send ${owned > 0 ? number(canGo) : them} again, add --again.`] : []),
      ...(owned > 0
        ? [` This file has sent ${canGo > 0 ? number(owned) : them} itself: --restart alone sends all again.`]
        : []),
    ].join('');
    notes.push(sent + (unsure > 0 ? ` Whether all was done is not known of ${number(unsure)}.` : advice));
  }
  return notes;
}

/** Customers would hear twice of rows that go again beside their drafts. */
function openNotes({ resent, drafted }: Known): string[] {
  // Of one that a person rejected nothing more is sent.
  const isOpen = (match: Match) =>
    fateOf(drafted, match) === 'open' && drafted.get(match.from)?.rows.get(match.key)?.draft.state !== 'rejected';
  const count = countOf(resent.values(), isOpen);
  if (count === 0) return [];
  const [drafts, them] = count === 1 ? ['The draft', 'it'] : ['The drafts', 'them'];
  const wait = count === 1 ? 'waits, or is not settled' : 'wait, or are not settled';
  return [
    `${drafts} of ${rowsInWords(count)} that ${count === 1 ? 'goes' : 'go'} again ${wait}: whoever approves ${them} too sends twice. To see ${them}: svc drafts list`,
  ];
}

/** How many of the rows that are done became drafts. */
function draftedOf(matches: Known['matches']): 'none' | 'some' | 'all' {
  let [drafts, done] = [0, 0];
  for (const { rowStatus } of matches.values()) {
    if (rowStatus.status !== 'done') continue;
    done++;
    // Of one with an id the draft is the rest: the row itself was sent.
    if (rowStatus.drafted !== undefined && rowStatus.id === null) drafts++;
  }
  if (drafts === 0) return 'none';
  return drafts < done ? 'some' : 'all';
}

import { kindOfSeveral } from '../../command/several-ended.ts';
import { Failure, isInterruption } from '../../errors.ts';
import type { View } from '../../output/view.ts';
import { type Draft, hasBegun, shownDraft } from '../../sends/draft.ts';
import { draftInWords } from '../../sends/words.ts';
import { counted } from '../../text/number.ts';

/** What became of one of the drafts that were to be approved. */
export type Ended = {
  readonly id: number;
  /** As it is now; undefined where there is none. */
  readonly draft?: Draft | undefined;
  readonly failure?: Failure;
  /** A person said no to it: it waits as before. */
  readonly isLeft: boolean;
};

export const approvedView = (ended: readonly Ended[], ids: readonly number[]): View => {
  const [only] = ended;
  return ids.length === 1 && only ? viewOfOne(only) : viewOfSeveral(ended, ids);
};

function viewOfOne({ draft, failure, isLeft }: Ended): View {
  if (isLeft) throw new Failure('failed', 'Declined. Nothing was sent.');
  if (!draft) throw failure ?? new Failure('failed', 'There is no such draft.');
  const record = shownDraft(draft);
  // On a terminal the failure says all of it.
  if (failure) return { data: { shape: 'record', record }, human: nothing, failure };
  const done = `Sent. ${draftInWords(draft)}`;
  return { data: { shape: 'record', record }, done, notes: [done] };
}

const words = ['sent', 'sent already', 'sent in part', 'left', 'not sent', 'not known', 'not tried'] as const;

type Word = (typeof words)[number];

function wordFor({ draft, failure, isLeft }: Ended): Word {
  if (isLeft) return 'left';
  if (!failure) return 'sent';
  // One that somebody else sends at this time has no failure that could be of ours.
  if (failure.isUnsure || draft?.state === 'unknown') return 'not known';
  // By whoever approved it first.
  if (draft?.state === 'sent') return 'sent already';
  return draft && hasBegun(draft) ? 'sent in part' : 'not sent';
}

function viewOfSeveral(ended: readonly Ended[], ids: readonly number[]): View {
  const told = ids.map((_, at): Word => (ended[at] ? wordFor(ended[at]) : 'not tried'));
  const counts = words.flatMap((word) => {
    const count = told.filter((one) => one === word).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  const summary = `${counted(ids.length, 'draft')}: ${counts.join(', ')}.`;
  const named = (word: Word) => ids.filter((_, at) => told[at] === word);
  const failure = failureOf(ended, told, summary, restOf(ended, ids));
  return {
    data: {
      shape: 'list',
      records: ended.flatMap(({ draft }) => (draft ? [shownDraft(draft)] : [])),
      columns: [
        { path: 'id', header: 'ID', rank: 1 },
        { path: 'state', header: 'State', as: 'status', rank: 2 },
        { path: 'to', header: 'To', rank: 3 },
        { path: 'sent_id', header: 'Sent as', rank: 4 },
        { path: 'error', header: 'Error', rank: 5 },
      ],
    },
    notes: [
      ...ended.flatMap(({ id, failure }) => (failure ? [withId(id, failure.message)] : [])),
      ...sentenceFor(named('left'), 'was left as it is', 'were left as they are'),
      ...sentenceFor(named('not tried'), 'was not tried', 'were not tried'),
      ...(failure ? [] : [summary]),
    ],
    failure,
  };
}

/** The error says it all. */
const nothing = () => '';

/** Most messages name the draft. */
const withId = (id: number, message: string): string =>
  message.includes(`raft ${id} `) ? message : `Draft ${id}: ${message}`;

function sentenceFor(ids: readonly number[], one: string, several: string): string[] {
  if (ids.length === 0) return [];
  return [ids.length === 1 ? `Draft ${ids[0]} ${one}.` : `Drafts ${ids.join(', ')} ${several}.`];
}

/** Of a run that was stopped: the drafts that wait as before. */
function restOf(ended: readonly Ended[], ids: readonly number[]): string {
  const isOver = (at: number) => {
    const { failure } = ended[at] ?? {};
    return ended[at] !== undefined && !(failure && isInterruption(failure) && !failure.isUnsure);
  };
  const left = ids.filter((_, at) => !isOver(at));
  return left.length > 0 ? `To do the rest: svc drafts approve ${left.join(' ')}` : '';
}

function failureOf(ended: readonly Ended[], told: readonly Word[], summary: string, rest: string): Failure | undefined {
  const failures = ended.flatMap(({ failure }) => failure ?? []);
  const [first] = failures;
  if (!first) {
    const isDeclined = told.every((one) => one === 'left');
    return isDeclined ? new Failure('failed', 'Declined. Nothing was sent.', { isWhole: true }) : undefined;
  }
  // What was not tried ended like the last that was.
  const areAll = failures.length === ended.length;
  const kind = kindOfSeveral(failures, { areAll, isUnknown: told.includes('not known') });
  const stopped = failures.find(isInterruption)?.kind;
  const { hint } = failures.find(({ isUnsure }) => isUnsure) ?? first;
  const advice = [hint, ...(stopped ? [rest] : [])].filter(Boolean).join('\n');
  return new Failure(stopped ?? kind, summary, { hint: advice, isWhole: true });
}

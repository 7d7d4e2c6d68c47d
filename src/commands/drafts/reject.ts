import { defineCommand } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { param } from '../../command/param.ts';
import { kindOfSeveral } from '../../command/several-ended.ts';
import { Failure } from '../../errors.ts';
import type { View } from '../../output/view.ts';
import { noDraft } from '../../sends/approve.ts';
import { type Draft, hasBegun, shownDraft } from '../../sends/draft.ts';
import type { DraftStore } from '../../sends/store.ts';
import { draftInWords } from '../../sends/words.ts';
import { counted } from '../../text/number.ts';
import { atWork, chosen, idsOrAll, waitingFlags } from './at-work.ts';

export const rejectDrafts = defineCommand({
  name: 'reject',
  summary: 'Decide that a draft is never sent',
  args: { id: idsOrAll },
  flags: { reason: param.text('Why; whoever made it sees it', { prose: true }), ...waitingFlags },
  needs: 'a draft: svc tickets reply 8 --body Thanks --draft',
  examples: ['svc drafts reject 1 --reason "Already answered by phone"'],
  run: (ctx, { args, flags: { reason = null, ...flags }, settings }) =>
    atWork(ctx, settings, async (at) => {
      const { store, service, by } = at;
      const ids = await chosen(at, args.id, flags);
      const isNamed = args.id.length > 0;
      // Nobody has named them one by one, and none comes back. Without a login they would be everybody's.
      if (!isNamed) {
        await service();
        await confirmed(ctx, settings, `Reject ${counted(ids.length, 'draft')}?`, { shown: () => inWords(store, ids) });
      }
      const decided = { decided_at: ctx.clock.now().toISOString(), decided_by: by, reason };
      const rejected: Draft[] = [];
      const failures: Failure[] = [];
      for (const id of ids) {
        const one = await reject(store, id, decided);
        if (one instanceof Failure) failures.push(one);
        else rejected.push(one);
      }
      const [only] = failures;
      if (only && ids.length === 1) throw only;
      return viewOf(rejected, failures, isNamed);
    }),
});

const inWords = async (store: DraftStore, ids: readonly number[]): Promise<string> =>
  (await store.list())
    .filter(({ id }) => ids.includes(id))
    .map(draftInWords)
    .join('\n');

/** One after the other: what is wrong with one keeps nobody from deciding the others. */
function viewOf(rejected: readonly Draft[], failures: readonly Failure[], isNamed: boolean): View {
  const sentences = sentencesOf(rejected);
  const records = rejected.map(shownDraft);
  const [record] = records;
  const list = { shape: 'list', records, columns: ['id', 'state', 'reason'] } as const;
  if (failures.length > 0) {
    const notes = [...sentences, ...failures.map(({ message }) => message)];
    return { data: list, notes, failure: failureOf(failures, rejected.length) };
  }
  const done = sentences.join(' ');
  // Who names none does not know how many there are.
  return { data: isNamed && records.length === 1 ? { shape: 'record', record } : list, done, notes: [done] };
}

function failureOf(failures: readonly Failure[], done: number): Failure {
  const isUnknown = failures.some(({ kind }) => kind === 'unknown');
  const count = failures.length + done;
  return new Failure(
    kindOfSeveral(failures, { areAll: done === 0, isUnknown }),
    `${failures.length} of ${counted(count, 'draft')} ${failures.length === 1 ? 'was' : 'were'} not rejected.`,
    { hint: failures[0]?.hint, isWhole: true },
  );
}

function sentencesOf(drafts: readonly Draft[]): string[] {
  const begun = drafts.filter(hasBegun);
  const unsent = drafts.filter((draft) => !hasBegun(draft)).map(({ id }) => id);
  const who = `${unsent.length === 1 ? 'Draft' : 'Drafts'} ${unsent.join(', ')}`;
  return [
    ...(unsent.length > 0 ? [`${who} ${unsent.length === 1 ? 'is' : 'are'} rejected; nothing was sent.`] : []),
    ...begun.map(({ id, steps }) => {
      const sent = steps.filter(({ state }) => state === 'done').length;
      return `Draft ${id} is rejected; ${sent} of its ${steps.length} steps had been sent, and no more will be.`;
    }),
  ];
}

type Decided = Pick<Draft, 'decided_at' | 'decided_by' | 'reason'>;

async function reject(store: DraftStore, id: number, decided: Decided): Promise<Draft | Failure> {
  const rejected = await store.change(id, (draft) =>
    ['waiting', 'refused'].includes(draft.state) ? { ...draft, ...decided, state: 'rejected' } : undefined,
  );
  if (rejected) return rejected;
  const present = await store.get(id);
  if (!present) return noDraft(id);
  if (present.state === 'unknown')
    return new Failure(
      'unknown',
      `Draft ${id} may have been sent, so it cannot be rejected: that would say it was not.`,
      {
        hint: `Look in the thread. To look for it once more, and send it where it is not there: svc drafts approve ${id} --retry-unknown`,
      },
    );
  const { state } = present;
  const told = state === 'rejected' ? 'is rejected already' : `is ${state}, so it cannot be rejected any more`;
  return new Failure('failed', `Draft ${id} ${told}.`);
}

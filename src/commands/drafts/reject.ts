import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { Failure } from '../../errors.ts';
import { noDraft } from '../../sends/approve.ts';
import { type Draft, shownDraft } from '../../sends/draft.ts';
import type { DraftStore } from '../../sends/store.ts';
import { atWork } from './at-work.ts';

export const rejectDrafts = defineCommand({
  name: 'reject',
  summary: 'Decide that a draft is never sent',
  args: { id: param.ids('Ids of the drafts') },
  flags: { reason: param.text('Why; whoever made it sees it') },
  needs: 'a draft: svc tickets reply 8 --body Thanks --draft',
  examples: ['svc drafts reject 1 --reason "Already answered by phone"'],
  async run(ctx, { args: { id: ids }, flags: { reason = null }, settings }) {
    const records = await atWork(ctx, settings, async ({ store, by }) => {
      const decided = { decided_at: ctx.clock.now().toISOString(), decided_by: by, reason };
      const rejected: Draft[] = [];
      for (const id of ids) rejected.push(await reject(store, id, decided));
      return rejected.map(shownDraft);
    });
    const done = `${ids.length === 1 ? `Draft ${ids[0]} is` : `Drafts ${ids.join(', ')} are`} rejected; nothing was sent.`;
    const [record] = records;
    return {
      data:
        records.length === 1
          ? { shape: 'record', record }
          : { shape: 'list', records, columns: ['id', 'state', 'reason'] },
      done,
      notes: [done],
    };
  },
});

type Decided = Pick<Draft, 'decided_at' | 'decided_by' | 'reason'>;

async function reject(store: DraftStore, id: number, decided: Decided): Promise<Draft> {
  const rejected = await store.change(id, (draft) =>
    ['waiting', 'refused', 'unknown'].includes(draft.state) ? { ...draft, ...decided, state: 'rejected' } : undefined,
  );
  if (rejected) return rejected;
  const present = await store.get(id);
  if (!present) throw noDraft(id);
  throw new Failure('failed', `Draft ${id} is ${present.state}, so it cannot be rejected any more.`);
}

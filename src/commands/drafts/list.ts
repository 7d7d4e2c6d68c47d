import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { type Draft, draftStates, shownDraft } from '../../sends/draft.ts';
import { toWhom } from '../../sends/words.ts';
import { atWork } from './at-work.ts';

type Shown = ReturnType<typeof shownDraft>;

export const listDrafts = defineCommand({
  name: 'list',
  summary: 'List the drafts that wait for a person',
  args: {},
  flags: {
    all: param.toggle('Those that were decided too'),
    state: param.choice('Only those in this state', draftStates),
    batch: param.text('Only those of one run of a file', { placeholder: 'BATCH' }),
    by: param.text('Only those that somebody of this name made', { placeholder: 'WHO' }),
  },
  examples: ['svc drafts list', 'svc drafts list --all --json'],
  async run(ctx, { flags, settings }) {
    const isWanted = ({ state, batch, by }: Draft) =>
      (flags.all || flags.state !== undefined || state === 'waiting' || state === 'sending' || state === 'unknown') &&
      (flags.state === undefined || state === flags.state) &&
      (flags.batch === undefined || batch === flags.batch) &&
      (flags.by === undefined || by.includes(flags.by));
    const records = await atWork(ctx, settings, async ({ store }) =>
      (await store.list()).filter(isWanted).map(shownDraft),
    );
    return {
      read: true,
      data: {
        shape: 'list',
        records,
        empty: 'No drafts wait.',
        columns: [
          { path: 'id', header: 'ID', rank: 1 },
          { path: 'state', header: 'State', as: 'status', rank: 2 },
          {
            path: 'operation',
            header: 'What',
            rank: 5,
            see: ({ operation, record }: Shown) => `${operation} ${record.number ?? record.id ?? ''}`.trim(),
          },
          { path: 'to', header: 'To', rank: 3, see: (one: Shown) => toWhom(one).replace(/^, /u, '') },
          { path: 'body', header: 'Text', rank: 4 },
          { path: 'by', header: 'By', rank: 7 },
          { path: 'batch', header: 'Batch', rank: 8 },
          { path: 'created_at', header: 'Made', rank: 6 },
        ],
      },
    };
  },
});

import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { type Draft, draftStates, shownDraft } from '../../sends/draft.ts';
import { toWhom } from '../../sends/words.ts';
import { counted } from '../../text/number.ts';
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
      (flags.all || flags.state !== undefined || state === 'waiting') &&
      (flags.state === undefined || state === flags.state) &&
      (flags.batch === undefined || batch === flags.batch) &&
      (flags.by === undefined || by.includes(flags.by));
    const all = await atWork(ctx, settings, ({ store }) => store.list());
    const records = all.filter(isWanted).map(shownDraft);
    const open = all.filter((draft) => !isWanted(draft) && (draft.state === 'unknown' || draft.state === 'sending'));
    return {
      read: true,
      notes:
        open.length > 0
          ? [`Of ${counted(open.length, 'more draft')} it is not known whether it was sent: svc drafts list --all`]
          : [],
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

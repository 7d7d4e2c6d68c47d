import { atMost, limitFlag } from '../../command/at-most.ts';
import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { leftInEditors } from '../../disk/draft/unsent.ts';
import { type Draft, draftFields, draftStates, shownDraft } from '../../sends/draft.ts';
import { isMeant } from '../../sends/meant.ts';
import { actAlone, nameAlone } from '../../sends/words.ts';
import { counted } from '../../text/number.ts';
import { atWork } from './at-work.ts';

type Shown = ReturnType<typeof shownDraft>;

/** Beside it, --all has the decided ones. */
const moreDrafts = 'For more: leave out --limit.';

export const listDrafts = defineCommand({
  name: 'list',
  summary: 'List the drafts that wait for a person',
  flags: {
    all: param.toggle('Those that were decided too'),
    state: param.choice('Only those in this state', draftStates),
    batch: param.text('Only those of one run of a file', { placeholder: 'BATCH' }),
    by: param.text('Only those that somebody of this name made', { placeholder: 'WHO' }),
    ...limitFlag,
  },
  examples: ['svc drafts list', 'svc drafts list --all --json'],
  async run(ctx, { flags, settings }) {
    const isWanted = ({ state, batch, by }: Draft) =>
      (flags.all || flags.state !== undefined || state === 'waiting') &&
      (flags.state === undefined || state === flags.state) &&
      (flags.batch === undefined || batch === flags.batch) &&
      (flags.by === undefined || by.includes(flags.by));
    const { all, leftOut } = await atWork(ctx, settings, async ({ store }) => ({
      all: await store.list(),
      leftOut: await store.leftOut(isWanted),
    }));
    const { records, notes } = atMost(all.filter(isWanted).map(shownDraft), flags.limit, moreDrafts);
    const open = all.filter((draft) => !isWanted(draft) && (draft.state === 'unknown' || draft.state === 'sending'));
    const refused = all.filter((draft) => !isWanted(draft) && draft.state === 'refused').length;
    return {
      read: true,
      notes: [
        ...notes,
        ...(await leftInEditors(ctx.files)),
        ...(open.length > 0
          ? [`Of ${counted(open.length, 'more draft')} it is not known whether it was sent: svc drafts list --all`]
          : []),
        ...(refused > 0
          ? [
              `${counted(refused, 'more draft')} ${refused === 1 ? 'was' : 'were'} refused, and not sent: svc drafts list --state refused`,
            ]
          : []),
        ...all.filter((draft) => isWanted(draft) && draft.state === 'waiting' && !isMeant(draft)).map(notMeant),
        ...leftOut,
      ],
      data: {
        shape: 'list',
        records,
        known: draftFields,
        empty: noneOf(flags),
        columns: columnsOf(records, flags),
      },
    };
  },
});

const notMeant = ({ id }: Draft): string =>
  `Draft ${id} is damaged, or somebody has changed it: svc does not send it. To end it: svc drafts reject ${id}`;

type Asked = { readonly all: boolean; readonly state?: unknown; readonly batch?: unknown; readonly by?: unknown };

/** Others may wait, or be decided. */
function noneOf({ all, state, batch, by }: Asked): string {
  if (state !== undefined || batch !== undefined || by !== undefined)
    return 'There is no such draft. To see all of them: svc drafts list --all';
  return all ? 'There are no drafts.' : 'No drafts wait.';
}

/** What all rows have alike takes no room from the rest on a terminal; a pipe has every column. */
function columnsOf(records: readonly Shown[], { all, state }: { readonly all: boolean; readonly state?: unknown }) {
  const areMixed = all || state !== undefined;
  const areOfFiles = records.some(({ batch }) => batch !== null);
  return [
    { path: 'id', header: 'ID', rank: 1 },
    { path: 'state', header: 'State', as: 'status', rank: areMixed ? 2 : 7 },
    {
      path: 'operation',
      header: 'What',
      as: 'whole',
      rank: 2,
      see: whatOf,
      sees: 'everywhere',
      fields: ['operation', 'record'],
    },
    { path: 'to', header: 'To', rank: 3, see: ({ to }: Shown) => nameAlone(to) },
    {
      path: 'body',
      header: 'Text',
      rank: 4,
      see: ({ body, subject }: Shown) => body ?? subject,
      sees: 'everywhere',
      fields: ['body', 'subject'],
    },
    { path: 'by', header: 'By', rank: 8 },
    { path: 'batch', header: 'Batch', as: 'id', rank: areOfFiles ? 5 : 9 },
    { path: 'created_at', header: 'Made', rank: 6 },
  ] as const;
}

/** `reply to T-1008`; what a draft says stands in a column of its own. */
const whatOf = ({ operation, record, steps: [first] }: Shown): string =>
  actAlone({ operation, record, number: record.number, body: first?.body });

import { firstComing, wholeListFlags } from '../../command/at-most.ts';
import { defineCommand, type Param } from '../../command/command.ts';
import { dbFlag } from '../../command/copy-flag.ts';
import { param } from '../../command/param.ts';
import type { Change } from '../../mirror/store/changes.ts';
import { kindNames } from '../../mirror/tables/kinds.ts';
import { tableOf } from '../../mirror/tables/tables.ts';
import { zoneDoubt } from '../../text/own-zone.ts';
import { pastMoment } from '../../text/time.ts';
import { streamCopy } from './copy.ts';

const kind = param.choice('Only changes of these kinds, and of their messages or members', kindNames, {
  placeholder: 'KIND',
});

export const copyChanges = defineCommand({
  name: 'changes',
  aliases: ['diff'],
  summary: 'Show what changed in the account, as the pulls saw it',
  details:
    'Each change with its record before and after. The time is that of the pull that saw it; the first full reading counts as no change.',
  args: {
    kinds: {
      ...kind,
      many: true,
      fallback: kindNames,
      parse: (texts, ...rest) => texts.flatMap((text) => kind.parse([text], ...rest) ?? []),
    } satisfies Param<readonly string[]>,
  },
  flags: {
    ...dbFlag,
    since: param.text('Changes since this time, such as yesterday, or since 2d, 12h or 30m ago (default: 1d)', {
      placeholder: 'TIME',
      doubt: zoneDoubt,
    }),
    ...wholeListFlags('At most N changes, the oldest'),
  },
  needs: 'a copy of the account: svc mirror pull',
  examples: ['svc mirror changes --since 2d', 'svc mirror changes tickets conversations'],
  async run(ctx, { args: { kinds }, flags, settings }) {
    const [{ changesAfter, seqBefore }, { changeSeen, whatChanged }] = [
      await import('../../mirror/store/changes.ts'),
      await import('../../mirror/pull/told.ts'),
    ];
    if (flags.since === undefined && !settings.quiet) ctx.notice('Changes of the last day. For others: --since TIME');
    const since = pastMoment(flags.since ?? '1d', '--since', ctx.clock.now());
    return streamCopy(ctx, { flags, settings }, async (store, account) => {
      const after = await seqBefore(store, account, since);
      async function* records() {
        for await (const { seq: _, ...change } of changesAfter(store, account, after)) {
          if (!kinds.includes(tableOf(change.kind).kind)) continue;
          yield { ...change, what: whatChanged(change) };
        }
      }
      return {
        ...firstComing(records(), flags.limit),
        columns: [
          { path: 'time', as: 'time', rank: 4 },
          { path: 'kind', rank: 3 },
          { path: 'record_id', header: 'ID', rank: 2 },
          { path: 'change', rank: 1 },
          { path: 'what', rank: 0, least: 36, see: (change: Change) => changeSeen(change) },
        ],
        fields: ['time', 'kind', 'record_id', 'change', 'before', 'after', 'what'],
        empty: `No pull has seen ${kinds === kindNames ? 'a' : 'such a'} change since then.`,
      };
    });
  },
});

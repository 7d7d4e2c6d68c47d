import { defineCommand } from '../../command/command.ts';
import { dbFlag } from '../../command/copy-flag.ts';
import { withoutTimes } from '../../mirror/query/age.ts';
import { withCopy } from './copy.ts';

export const copyStatus = defineCommand({
  name: 'status',
  summary: 'What the local copy holds, and how old it is',
  details:
    'Oldest: how long ago svc saw the record that it has not seen for longest. Newest: how long ago it last saw any record. A kind is complete once its ' +
    'first full reading is done; until then the account may hold records that the copy lacks.',
  flags: dbFlag,
  needs: 'a copy of the account: svc mirror pull',
  examples: ['svc mirror status', 'svc mirror status --json'],
  async run(ctx, { flags, settings }) {
    const { kinds, place } = await withCopy(ctx, { flags, settings }, async (store, account) => ({
      kinds: await (await import('../../mirror/store/status.ts')).statusOf(store, account),
      place: store.place,
    }));
    const columns = ['kind', 'rows', 'oldest', 'newest', 'complete'] as const;
    // The records themselves are as old as they are.
    const headers: Readonly<Record<string, string>> = { oldest: 'Oldest read', newest: 'Newest read' };
    const headed = columns.map((path) => ({ path, header: headers[path] }));
    return {
      data: { shape: 'record', record: { kinds } },
      read: true,
      plain: () => kinds.map((kind) => `${columns.map((column) => kind[column] ?? '').join('\t')}\n`).join(''),
      human: async (terminal) => {
        const { table } = await import('../../output/table.ts');
        const aged = kinds.map((kind) => withoutTimes(kind, terminal.now ?? new Date()));
        return table(aged, headed, terminal);
      },
      notes: [`In ${place}.`],
    };
  },
});

import { resolve } from 'node:path';
import { defineCommand } from '../../command/command.ts';
import { dbFlag } from '../../command/copy-flag.ts';
import { param, withFallback } from '../../command/param.ts';
import { refuseOwnFile } from '../../disk/place/own-files.ts';
import { kindNames } from '../../mirror/tables/kinds.ts';
import { counted } from '../../text/number.ts';
import { withCopy } from './copy.ts';
import { kindsFrom } from './kinds.ts';

export const exportTheCopy = defineCommand({
  name: 'export',
  summary: 'Write the local copy as files for other programs: Parquet, CSV or JSON Lines',
  details:
    'Each export is a new folder in DIR with a file for each table; what is in DIR already stays as it is. With --since-last it has ' +
    'only the rows that changed since the last export into DIR, with gone_at where a record is gone; where nothing changed, no folder is made. ' +
    'The folder appears once all of it is written, so an export that is cut short adds nothing.',
  flags: {
    ...dbFlag,
    to: param.requiredText('The folder to export into', { placeholder: 'DIR', completes: 'files' }),
    format: withFallback(
      param.choice('How the files are written (default parquet)', ['parquet', 'csv', 'jsonl']),
      'parquet',
    ),
    only: param.text('Only these kinds, with commas between', {
      placeholder: 'KIND,…',
      commas: true,
      offers: kindNames,
    }),
    sinceLast: param.toggle('Only what changed since the last export into DIR'),
  },
  needs: 'a copy of the account: svc mirror pull',
  examples: [
    'svc mirror export --to warehouse',
    'svc mirror export --to warehouse --since-last --only contacts,tickets --format csv',
  ],
  async run(ctx, { flags, settings }) {
    const only = await kindsFrom(flags.only);
    await refuseOwnFile(ctx, flags.to, '--to');
    const dir = resolve(flags.to);
    const { folder, files } = await withCopy(ctx, { flags, settings }, async (store, account) => {
      await (await import('../../mirror/query/incomplete.ts')).tellIncomplete(ctx, store, account, only.join(' '));
      const { exportCopy } = await import('../../mirror/query/export.ts');
      return exportCopy(
        ctx,
        { store, account },
        {
          ...{ dir, format: flags.format, only, sinceLast: flags.sinceLast },
          ...{ isSafe: settings.safeCells, maxWaitMs: settings.maxWaitMs },
        },
      );
    });
    const fields = ['table', 'file', 'rows', 'gone'];
    const rows = files.reduce((sum, file) => sum + file.rows, 0);
    return {
      data: {
        shape: 'list',
        records: files.map((file) => ({ ...file, file: `${folder}/${file.file}` })),
        columns: ['table', 'rows', 'gone', { path: 'file', as: 'whole' }],
        fields,
      },
      notes: [
        folder === undefined
          ? 'Nothing changed since the last export.'
          : `Exported ${counted(rows, 'row')} to ${folder}.`,
      ],
    };
  },
});

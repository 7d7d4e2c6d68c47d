import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { importFlags, tagFlags } from '../../sync/flags.ts';

export const syncContactsFile = defineCommand({
  name: 'sync',
  summary: 'Import contacts from a CSV file, matched by email; nothing lost, nothing doubled',
  details:
    'Reads any CSV (UTF-8, UTF-16, gzip; delimiter, header and columns are recognised), checks every row before the first ' +
    'call, and sends chunks of 200 as fast as the service allows. Existing contacts are completed: blank fields are ' +
    'filled, existing values kept, tags united, metadata merged.\n\n' +
    'Tags cannot be taken off again: where it is not plain what separates them, nothing is sent until --tag-separator ' +
    'says it.\n\n' +
    'After an interruption, run the same command again: it resumes. Exit 8 means that some rows failed: --rejects ' +
    'keeps them in a file, to be fixed and synced again.\n\n' +
    'Fields for --map: email, name, last_name, phone, company, tags, metadata.KEY, or ignore.',
  args: { file: param.requiredText('CSV file, or - for standard input', { placeholder: 'FILE', completes: 'files' }) },
  flags: { ...importFlags, ...tagFlags },
  prints: async () => (await import('../../sync/report.ts')).fieldsOfReport('account'),
  examples: [
    'svc contacts sync examples/contacts.csv --dry-run',
    'svc contacts sync examples/contacts.csv --rejects rejects.csv',
    'svc contacts sync examples/contacts.csv --map "Lead Source=metadata.source" --tag import',
    'svc contacts sync examples/contacts.csv --phone-country US --skip "Lead Source=Trade fair"',
  ],
  async run(ctx, { args, flags, settings }) {
    const { importFile } = await import('../../sync/import.ts');
    return importFile(ctx, { file: args.file, flags, settings });
  },
});

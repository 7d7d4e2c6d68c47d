import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { importFlags } from '../../sync/flags.ts';

export const importIntoList = defineCommand({
  name: 'import',
  summary: 'Import a CSV file into a contact list: create, update and add contacts',
  details:
    'Like svc contacts sync, with its mapping, journal and report, through the endpoint that also adds to a list. ' +
    'It matches contacts by phone or email, wants a name for each, takes websites and countries, and no tags.\n\n' +
    'Nobody is written over by a phone: where rows have one, svc first reads the list of all contacts, and leaves out a ' +
    'phone that another row or contact has with another email.\n\n' +
    'Fields for --map: email, name, last_name, phone, company, website, country, metadata.KEY, or ignore.',
  args: {
    id: param.requiredId('Contact list', 'lists'),
    file: param.requiredText('CSV file, or - for standard input', { placeholder: 'FILE', completes: 'files' }),
  },
  flags: importFlags,
  prints: async () => (await import('../../sync/report.ts')).fieldsOfReport('list'),
  examples: ['svc lists import 1 examples/contacts.csv --rejects rejects.csv'],
  async run(ctx, { args, flags, settings }) {
    const { importFile } = await import('../../sync/import.ts');
    return importFile(ctx, { file: args.file, flags, settings }, args.id);
  },
});

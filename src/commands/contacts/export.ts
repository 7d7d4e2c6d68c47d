import { listContacts } from '../../api/contacts.ts';
import { defineCommand } from '../../command/command.ts';
import { fieldPaths } from '../../command/listing.ts';
import { param } from '../../command/param.ts';
import { connect } from '../../http/call/call.ts';
import { list } from '../../http/call/pages.ts';
import { counted } from '../../text/number.ts';

export const exportContacts = defineCommand({
  name: 'export',
  summary: 'Export every contact, as CSV or with --output json or jsonl',
  onlyReads: () => true,
  flags: { out: param.output('Write to a file instead of standard output; it appears once it is whole') },
  examples: ['svc contacts export > contacts.csv', 'svc contacts export --output jsonl --out contacts.jsonl'],
  async run(ctx, { flags, settings }) {
    const service = await connect(ctx, settings);
    const listing = list(service, listContacts, {}, { all: true });
    // In the document's order; in CSV each is a column that `contacts sync` reads.
    const columns = fieldPaths(listContacts);
    return {
      data: { shape: 'list', records: listing.records, columns, fields: columns },
      read: true,
      output: 'csv',
      file: flags.out,
      notes: () => [`Exported ${counted(listing.seen().yielded, 'contact')}${flags.out ? ` to ${flags.out}` : ''}.`],
    };
  },
});

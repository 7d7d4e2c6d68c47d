import { getContact, listContacts, updateContact } from '../../api/contacts.ts';
import type { TopGroup } from '../../command/command.ts';
import { fromOperation } from '../../command/from-operation.ts';
import { fullName } from '../../text/full-name.ts';
import { createContact } from './create.ts';
import { duplicateContacts } from './duplicates.ts';
import { exportContacts } from './export.ts';
import { findContacts } from './find.ts';
import { contactHistory } from './history.ts';
import { syncContactsFile } from './sync.ts';

const columns = [
  { path: 'contact_id', header: 'ID', rank: 1 },
  { path: 'name', header: 'Name', rank: 3 },
  { path: 'last_name', header: 'Last name', rank: 4 },
  { path: 'email', header: 'Email', rank: 2 },
  { path: 'phone', header: 'Phone', rank: 6 },
  { path: 'company', header: 'Company', rank: 5 },
  { path: 'created_at', header: 'Created', rank: 7 },
] as const;

export const contacts: TopGroup = {
  commands: [
    fromOperation('list', listContacts, {
      columns,
      examples: ['svc contacts list', 'svc contacts list --all --fields email,company --output csv'],
    }),
    fromOperation('get', getContact, {
      columns,
      several: true,
      examples: ['svc contacts get 7', 'svc contacts get 7 8 --json', 'svc contacts get yara.kim@fieldnote.test'],
    }),
    findContacts(columns),
    contactHistory,
    duplicateContacts,
    createContact,
    fromOperation('update', updateContact, {
      update: true,
      done: ({ name, last_name }: { name?: string; last_name?: string }, id, { changed }) =>
        `Contact ${id}${name ? ` (${fullName({ name, last_name })})` : ''} is changed: ${changed}.`,
      examples: ["svc contacts update 7 --company 'Acme GmbH' --metadata plan=pro"],
    }),
    syncContactsFile,
    exportContacts,
  ],
};

import { getContact, listContacts, updateContact } from '../../api/contacts.ts';
import type { Group } from '../../command/command.ts';
import { fromOperation } from '../../command/from-operation.ts';
import { createContact } from './create.ts';
import { exportContacts } from './export.ts';
import { findContacts } from './find.ts';
import { syncContactsFile } from './sync.ts';

const columns = [
  'contact_id',
  'name',
  'last_name',
  'email',
  'phone',
  'company',
  { path: 'created_at', as: 'time' },
] as const;

export const contacts: Group = {
  name: 'contacts',
  summary: 'Contacts: look up, change, import and export',
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
    createContact,
    fromOperation('update', updateContact, {
      update: true,
      examples: ["svc contacts update 7 --company 'Acme GmbH' --metadata plan=pro"],
    }),
    syncContactsFile,
    exportContacts,
  ],
};

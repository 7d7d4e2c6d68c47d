import { createContactList, deleteContactList, listContactListMembers, listContactLists } from '../../api/lists.ts';
import type { TopGroup } from '../../command/command.ts';
import { fromOperation } from '../../command/from-operation.ts';
import { several } from '../../command/several.ts';
import { addToList } from './add.ts';
import { importIntoList } from './import.ts';
import { memberColumns, nameShown, removeFromList, setList, updateList } from './members.ts';

export const lists: TopGroup = {
  commands: [
    fromOperation('list', listContactLists, {
      columns: [
        { path: 'contacts_list_id', header: 'ID', rank: 1 },
        { path: 'name', header: 'Name', rank: 2 },
        { path: 'target_industry', header: 'Industry', rank: 3 },
      ],
      examples: ['svc lists list'],
    }),
    fromOperation('create', createContactList, {
      done: ({ contact_list_id: id }: { contact_list_id?: number }, _, { body }) =>
        `Contact list${id ? ` ${id}` : ''} (${body.name}) is created.`,
      examples: ["svc lists create --name 'Beta testers' --target-industry Software --notes 'Asked for early access'"],
    }),
    updateList,
    several(
      'lists',
      fromOperation('delete', deleteContactList, {
        confirm: (id) => `Delete contact list ${id}? Its contacts stay.`,
        agreed: async (service, id) => `Contact list ${id}: ${(await nameShown(service, id)) ?? 'without a name'}`,
        rows: { question: (count) => `Delete ${count} contact list${count === 1 ? '' : 's'}? Their contacts stay.` },
        noted: true,
        done: (_, id) => `Contact list ${id} is deleted; its contacts stay.`,
        examples: ['svc lists delete 3 --yes'],
      }),
    ),
    fromOperation('members', listContactListMembers, {
      columns: memberColumns,
      examples: ['svc lists members 1'],
    }),
    addToList,
    removeFromList,
    setList,
    importIntoList,
  ],
};

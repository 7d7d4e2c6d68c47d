import { createContactList, deleteContactList, listContactListMembers, listContactLists } from '../../api/lists.ts';
import type { Group } from '../../command/command.ts';
import { fromOperation } from '../../command/from-operation.ts';
import { importIntoList } from './import.ts';
import { addToList, removeFromList, setList, updateList } from './members.ts';

export const lists: Group = {
  name: 'lists',
  summary: 'Contact lists and their members',
  commands: [
    fromOperation('list', listContactLists, {
      columns: ['contacts_list_id', 'name', 'target_industry'],
      examples: ['svc lists list'],
    }),
    fromOperation('create', createContactList, {
      examples: ["svc lists create --name 'Beta testers' --target-industry Software --notes 'Asked for early access'"],
    }),
    updateList,
    fromOperation('delete', deleteContactList, {
      confirm: (id) => `Delete contact list ${id}? Its contacts stay.`,
      rows: { question: (count) => `Delete ${count} contact list${count === 1 ? '' : 's'}? Their contacts stay.` },
      note: (_, id) => `Contact list ${id} is deleted; its contacts stay.`,
      examples: ['svc lists delete 3 --yes'],
    }),
    fromOperation('members', listContactListMembers, {
      columns: ['contact_id', 'name'],
      examples: ['svc lists members 1'],
    }),
    addToList,
    removeFromList,
    setList,
    importIntoList,
  ],
};

import * as v from 'valibot';
import { described, email, filled, id, metadata } from './fields.ts';
import { defineOperation } from './operation.ts';

/** The whole body of deletions and membership changes. */
const Done = v.looseObject({ success: v.string() });

/** As in the list; create and update answer with `contact_list_id` instead. */
export const ContactList = v.looseObject({ contacts_list_id: id, name: v.string(), target_industry: v.string() });

const ListId = v.looseObject({ contact_list_id: id });

export const listContactLists = defineOperation({
  id: 'listContactLists',
  method: 'GET',
  path: '/contactslists/list',
  summary: 'List the contact lists',
  command: ['lists', 'list'],
  resource: 'lists',
  scope: null,
  response: v.looseObject({ data: v.array(ContactList) }),
  answer: { shape: 'list', key: 'data', paged: false, sortedBy: 'not said' },
});

export const createContactList = defineOperation({
  id: 'createContactList',
  method: 'POST',
  path: '/contactslists/create',
  summary: 'Create a contact list',
  command: ['lists', 'create'],
  resource: 'lists',
  scope: null,
  body: v.object({
    name: filled,
    target_industry: filled,
    notes: filled,
    metadata: v.optional(described('Own data', metadata)),
  }),
  response: ListId,
  safety: 'verify',
  effect: { of: 'The list', done: 'created', lookHint: 'Look with: svc lists list' },
  makes: ['contact_list_id'],
  grant: 'write',
});

export const updateContactList = defineOperation({
  id: 'updateContactList',
  method: 'POST',
  path: '/contactslists/{contactList}/update',
  summary: 'Change a contact list',
  command: ['lists', 'update'],
  resource: 'lists',
  ids: { contactList: 'lists' },
  scope: null,
  body: v.object({
    name: filled,
    target_industry: v.optional(v.string()),
    metadata: v.optional(described('Own data; merged key by key', metadata)),
  }),
  response: ListId,
  safety: 'repeatable',
  effect: { of: 'The list', done: 'changed', lookHint: 'Look with: svc lists list' },
  grant: 'write',
});

export const deleteContactList = defineOperation({
  id: 'deleteContactList',
  method: 'POST',
  path: '/contactslists/{contactList}/delete',
  summary: 'Delete a contact list; its contacts stay',
  command: ['lists', 'delete'],
  resource: 'lists',
  ids: { contactList: 'lists' },
  scope: null,
  response: Done,
  safety: 'repeatable',
  effect: { of: 'The list', done: 'deleted', lookHint: 'Look with: svc lists list' },
  deletes: true,
  destructive: true,
  grant: 'write',
});

export const listContactListMembers = defineOperation({
  id: 'listContactListMembers',
  method: 'GET',
  path: '/contactslists/{contactList}/get_contacts',
  summary: 'List the contacts of a contact list',
  command: ['lists', 'members'],
  resource: 'lists',
  ids: { contactList: 'lists' },
  scope: null,
  response: v.looseObject({ data: v.array(v.looseObject({ contact_id: id, name: v.string() })) }),
  answer: { shape: 'list', key: 'data', paged: false, sortedBy: 'not said', of: 'contacts' },
});

/** A row of create_sync_contacts: unlike syncContacts it requires a name and takes no tags. */
export const ListContact = v.object({
  name: filled,
  email,
  last_name: v.optional(v.string()),
  phone: v.optional(v.string()),
  company: v.optional(v.string()),
  website: v.optional(v.nullable(v.string())),
  country: v.optional(v.string()),
  metadata: v.optional(metadata),
});

export const createAndSyncListContacts = defineOperation({
  id: 'createAndSyncListContacts',
  method: 'POST',
  path: '/contactslists/{contactList}/create_sync_contacts',
  summary: 'Create or update contacts by phone or email and add them to a list',
  rules: 'Each contact is created, or the one with the same phone or email updated, and added to the list.',
  remark:
    'A contact with the same phone is written over even where its email differs: leave out a phone that another person may have.',
  command: ['lists', 'add'],
  resource: 'lists',
  ids: { contactList: 'lists' },
  scope: null,
  body: v.object({ contacts: v.array(ListContact) }),
  response: Done,
  safety: 'repeatable',
  effect: { of: 'The contacts', done: 'added to the list', lookHint: 'Look with: svc lists members ID' },
  grant: 'write',
});

export const syncListContacts = defineOperation({
  id: 'syncListContacts',
  method: 'POST',
  path: '/contactslists/{contactList}/sync_contacts',
  summary: 'Set the membership of a contact list to exactly the given contacts',
  rules: 'Who is not named leaves the list; without contacts_ids it is emptied. The contacts stay.',
  refuses: 'What becomes of an id that is no contact is not shown; the sandbox refuses it.',
  command: ['lists', 'set'],
  resource: 'lists',
  ids: { contactList: 'lists' },
  scope: null,
  body: v.object({ name: filled, contacts_ids: v.optional(v.array(id)) }),
  response: Done,
  safety: 'repeatable',
  effect: { of: 'The members of the list', done: 'set', lookHint: 'Look with: svc lists members ID' },
  destructive: true,
  grant: 'write',
  clearsWithout: ['contacts_ids'],
});

export const removeListContacts = defineOperation({
  id: 'removeListContacts',
  method: 'POST',
  path: '/contactslists/{contactList}/remove_contacts',
  summary: 'Take contacts out of a contact list; the contacts stay',
  rules: 'Only the membership ends; the contacts stay.',
  command: ['lists', 'remove'],
  resource: 'lists',
  ids: { contactList: 'lists' },
  scope: null,
  body: v.object({ contacts_ids: v.array(id) }),
  response: Done,
  safety: 'repeatable',
  effect: { of: 'The contacts', done: 'taken out of the list', lookHint: 'Look with: svc lists members ID' },
  grant: 'write',
});

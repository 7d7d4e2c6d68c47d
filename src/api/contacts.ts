import * as v from 'valibot';
import {
  described,
  email,
  filled,
  id,
  metadata,
  northAmericanPhone,
  pageOf,
  pageQuery,
  tags,
  when,
  whole,
} from './fields.ts';
import { defineOperation } from './operation.ts';

const contactFields = {
  contact_id: id,
  name: described('First name', v.string()),
  last_name: v.string(),
  email: v.string(),
  phone: described('E.164 form', v.string()),
  company: v.string(),
  website: v.nullable(v.string()),
  country: v.string(),
  tags: v.array(v.string()),
  metadata,
  lead_status: described('Pipeline stage, assigned by the service', v.string()),
  created_at: when,
};

/** As in lists: `updated_at` is absent there. */
export const ContactItem = v.looseObject(contactFields);

export const Contact = v.looseObject({ ...contactFields, updated_at: when });

export const listContacts = defineOperation({
  id: 'listContacts',
  method: 'GET',
  path: '/contacts',
  summary: 'List contacts, newest first',
  command: ['contacts', 'list'],
  resource: 'contacts',
  scope: 'contacts:read',
  query: v.object(pageQuery),
  response: pageOf('contacts', ContactItem),
  answer: { shape: 'list', key: 'contacts', paged: true, sortedBy: 'newest' },
});

export const getContact = defineOperation({
  id: 'getContact',
  method: 'GET',
  path: '/contacts/{id}',
  summary: 'Show a contact',
  command: ['contacts', 'get'],
  resource: 'contacts',
  ids: { id: 'contacts' },
  scope: 'contacts:read',
  response: v.looseObject({ contact: Contact }),
  answer: { shape: 'record', key: 'contact' },
});

const optionalFields = {
  company: v.optional(v.string()),
  website: v.optional(v.nullable(v.string())),
  country: v.optional(v.string()),
  metadata: v.optional(described('Own data; merged key by key', metadata)),
};

export const updateContact = defineOperation({
  id: 'updateContact',
  method: 'PATCH',
  path: '/contacts/{id}',
  summary: 'Change a contact; only the fields given change',
  rules: 'Metadata is merged key by key. The phone is stored in E.164 form.',
  refuses: 'The phone cannot be parsed, or the name is blank.',
  command: ['contacts', 'update'],
  resource: 'contacts',
  ids: { id: 'contacts' },
  scope: 'contacts:write',
  body: v.object({
    name: v.optional(described('First name', filled)),
    last_name: v.optional(v.string()),
    email: v.optional(email),
    phone: v.optional(described('Any common format; stored as E.164', v.string())),
    ...optionalFields,
  }),
  response: v.looseObject({ contact: Contact }),
  answer: { shape: 'record', key: 'contact' },
  safety: 'repeatable',
  effect: { of: 'The contact', done: 'changed', lookHint: 'Look at it with: svc contacts get ID' },
  grant: 'write',
});

export const NewContact = v.object({
  name: described('First name', filled),
  last_name: filled,
  email,
  phone: described('+1 and ten digits', northAmericanPhone),
  ...optionalFields,
});

/** A row of a batch. Which fields it needs is not described, so none is needed here: the service judges (service.md#contacts-4). */
export const NewContactRow = v.partial(NewContact);

export const NewContactBatch = v.object({
  contacts: described(
    'One transaction. Which fields a row needs is not shown; the sandbox asks for those of a single contact',
    v.pipe(v.array(NewContactRow), v.minLength(1, 'must hold at least one contact')),
  ),
});

const CreatedContact = v.looseObject({ contact_id: id, name: v.string() });

export const createContacts = defineOperation({
  id: 'createContacts',
  method: 'POST',
  path: '/contacts/create',
  summary: 'Create one contact, or several in one transaction',
  rules:
    'A batch is one transaction. The same email twice creates two contacts. The webhook contact.created fires for each.',
  refuses: 'One invalid row refuses the whole batch.',
  command: ['contacts', 'create'],
  resource: 'contacts',
  scope: 'contacts:write',
  body: v.union([NewContactBatch, NewContact]),
  response: v.looseObject({ contacts: v.union([v.array(CreatedContact), CreatedContact]) }),
  answer: { shape: 'record', key: 'contacts' },
  safety: 'verify', // the same email twice makes two contacts
  effect: { of: 'The contact data', done: 'stored', lookHint: 'Look at the newest contacts with: svc contacts list' },
  rows: 'contacts',
  makes: ['contacts', 'contact_id'],
  grant: 'write',
  remark:
    'Either one contact (name, last_name, email and phone are required) or `contacts`, a batch in one transaction.',
});

/** A row of syncContacts: `email` is the match key. An unparseable phone is ignored by the service. */
export const SyncContact = v.object({
  email,
  name: v.optional(v.string()),
  last_name: v.optional(v.string()),
  phone: v.optional(v.string()),
  company: v.optional(v.string()),
  tags: v.optional(tags),
  metadata: v.optional(metadata),
});

/** Contacts per sync call (service.md#limits-5). */
export const syncChunkSize = 200;

export const syncContacts = defineOperation({
  id: 'syncContacts',
  method: 'POST',
  path: '/platform/contacts/sync',
  summary: 'Create or complete up to 200 contacts, matched by email',
  rules:
    'Matched by email: blank fields are filled, existing values kept, tags united, metadata merged. A phone that cannot be parsed is ignored. Failing rows are told in errors, with status 200, and do not stop the rest.',
  command: ['contacts', 'sync'],
  resource: 'contacts',
  scope: 'contacts:write',
  body: v.object({
    contacts: v.pipe(
      v.array(SyncContact),
      v.minLength(1, 'must hold at least one contact'),
      v.maxLength(syncChunkSize, 'may hold at most 200 contacts'),
    ),
  }),
  response: v.looseObject({
    created: whole,
    updated: whole,
    errors: v.array(v.looseObject({ index: described('Position in the request, from 0', whole), error: v.string() })),
  }),
  safety: 'repeatable', // blanks are filled, tags united, metadata merged: twice is once
  rows: 'contacts',
  counts: true,
  effect: { of: 'The contacts', done: 'synced', lookHint: 'Look at the newest contacts with: svc contacts list' },
  ownLimit: 30,
  grant: 'write',
});

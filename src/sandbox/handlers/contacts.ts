import type * as v from 'valibot';
import { check } from '../../api/check.ts';
import { type NewContact, SyncContact } from '../../api/contacts.ts';
import { invalid } from '../answer.ts';
import { eventData } from '../deliveries/events-out.ts';
import { loadPhones } from '../phone.ts';
import type { Row } from '../store/records.ts';
import { contactByEmail, nextId, put, rowOf } from '../store/state.ts';
import type { Call, Handlers } from './handler.ts';
import { pageNewestFirst } from './page.ts';

type Contact = Row<'contacts'>;

export const contacts = {
  listContacts({ state, account, query }) {
    const { rows, meta } = pageNewestFirst(state.contacts.shown.get(account.account_id) ?? [], query);
    return { contacts: rows.map((id) => listed(rowOf(state, 'contacts', id))), meta };
  },

  getContact({ state, params }) {
    return { contact: whole(rowOf(state, 'contacts', params.id)) };
  },

  async updateContact({ state, params, body, now }) {
    const toE164 = body.phone === undefined ? undefined : await loadPhones();
    const contact = rowOf(state, 'contacts', params.id);
    const { phone: typed, metadata = {}, ...fields } = body;
    const phone = typed === undefined ? contact.phone : toE164?.(typed, body.country ?? contact.country);
    if (phone === undefined) return invalid({ phone: ['is not a phone number'] });
    const changed = {
      ...contact,
      ...fields,
      phone,
      metadata: { ...contact.metadata, ...metadata },
      updated_at: now,
    };
    return { contact: whole(put(state, 'contacts', changed)) };
  },

  createContacts({ state, account, body, now, emit }) {
    const create = (fields: Partial<v.InferOutput<typeof NewContact>>) => {
      const { contact_id, name } = addContact({ state, emit, account, now }, fields);
      return { contact_id, name };
    };
    // Every row has passed before the first is made: a batch is one transaction.
    return { contacts: 'contacts' in body ? body.contacts.map(create) : create(body) };
  },

  async syncContacts({ state, account, body, now, emit }) {
    const toE164 = await loadPhones();
    const errors: { index: number; error: string }[] = [];
    let created = 0;
    let updated = 0;
    for (const [index, given] of body.contacts.entries()) {
      const row = check(SyncContact, given);
      if (!row.ok) {
        const [[field, [message]] = ['', ['']]] = Object.entries(row.fields);
        errors.push({ index, error: `${field} ${message}`.trim() });
        continue;
      }
      const { phone: typed = '', ...fields } = row.value;
      const phone = toE164(typed) ?? ''; // on sync an unparseable value is ignored
      const existing = contactByEmail(state, account.account_id, fields.email);
      if (existing) {
        put(state, 'contacts', completed(existing, { ...fields, phone }, now));
        updated++;
      } else {
        addContact({ state, emit, account, now }, { ...fields, phone });
        created++;
      }
    }
    return { created, updated, errors };
  },
} satisfies Partial<Handlers>;

/** In lists `updated_at` is absent. */
function listed(row: Contact) {
  const { updated_at: _, ...fields } = whole(row);
  return fields;
}

function whole(row: Contact) {
  const { account_id: _, shadow: __, ...fields } = row;
  return fields;
}

/** Blank fields are filled, existing values kept, tags unioned, metadata merged (service.md#contacts-5). */
function completed(contact: Contact, row: Partial<Contact>, now: string): Contact {
  const { name, last_name, phone, company } = contact;
  return {
    ...contact,
    name: name || (row.name ?? ''),
    last_name: last_name || (row.last_name ?? ''),
    phone: phone || (row.phone ?? ''),
    company: company || (row.company ?? ''),
    tags: [...new Set([...contact.tags, ...(row.tags ?? [])])],
    metadata: { ...contact.metadata, ...row.metadata },
    updated_at: now,
    shadow: false, // the customer has brought it themselves now
  };
}

/** Adds a contact, by whatever route, and tells the subscribers of contact.created. */
export function addContact(
  { state, emit, account: { account_id }, now }: Pick<Call, 'state' | 'emit' | 'account' | 'now'>,
  fields: Partial<Contact>,
): Contact {
  const contact = put(state, 'contacts', {
    contact_id: nextId(state, 'contacts'),
    account_id,
    name: fields.name ?? '',
    last_name: fields.last_name ?? '',
    email: fields.email ?? '',
    phone: fields.phone ?? '',
    company: fields.company ?? '',
    website: fields.website ?? null,
    country: fields.country ?? '',
    tags: [...new Set(fields.tags ?? [])],
    metadata: fields.metadata ?? {},
    lead_status: 'new',
    created_at: now,
    updated_at: now,
    shadow: fields.shadow ?? false,
  });
  emit('contact.created', account_id, eventData['contact.created'](contact));
  return contact;
}

import { counted } from '../../text/number.ts';
import { invalid, notFound } from '../answer.ts';
import { loadPhones } from '../phone.ts';
import { contactByEmail, contactByPhone, find, nextId, owned, put, remove, rowOf, type State } from '../store/state.ts';
import { addContact } from './contacts.ts';
import type { Handlers } from './handler.ts';

export const lists = {
  listContactLists({ state, account }) {
    const data = owned(state, 'lists', account.account_id).map(({ contacts_list_id, name, target_industry }) => ({
      contacts_list_id,
      name,
      target_industry,
    }));
    return { data };
  },

  createContactList({ state, account, body, now }) {
    const contacts_list_id = nextId(state, 'lists');
    put(state, 'lists', {
      contacts_list_id,
      account_id: account.account_id,
      ...body,
      metadata: body.metadata ?? {},
      created_at: now,
    });
    return { contact_list_id: contacts_list_id };
  },

  updateContactList({ state, params, body }) {
    const list = rowOf(state, 'lists', params.contactList);
    const { metadata = {}, ...fields } = body;
    put(state, 'lists', { ...list, ...fields, metadata: { ...list.metadata, ...metadata } });
    return { contact_list_id: list.contacts_list_id };
  },

  deleteContactList({ state, params }) {
    const id = params.contactList;
    leave(state, id, memberIds(state, id));
    remove(state, 'lists', id);
    return { success: 'The list was deleted. Its contacts stay.' };
  },

  listContactListMembers({ state, params }) {
    const members = memberIds(state, params.contactList).map((id) => rowOf(state, 'contacts', id));
    return { data: members.map(({ contact_id, name }) => ({ contact_id, name })) };
  },

  async createAndSyncListContacts({ state, account, params, body, now, emit }) {
    const toE164 = await loadPhones();
    const { account_id } = account;
    if (!state.rows.lists.has(params.contactList)) return notFound; // deleted while the library was loaded
    for (const { phone: typed = '', metadata = {}, ...fields } of body.contacts) {
      const phone = toE164(typed, fields.country) ?? ''; // on sync an unparseable value is ignored
      const existing =
        contactByEmail(state, account_id, fields.email) ?? (phone && contactByPhone(state, account_id, phone));
      const contact = existing
        ? put(state, 'contacts', {
            ...existing,
            ...fields,
            phone: phone || existing.phone,
            metadata: { ...existing.metadata, ...metadata },
            updated_at: now,
            shadow: false, // the customer has brought it themselves now
          })
        : addContact({ state, emit, account, now }, { ...fields, phone, metadata });
      put(state, 'list_members', { contacts_list_id: params.contactList, contact_id: contact.contact_id });
    }
    return {
      success: `${counted(body.contacts.length, 'contact')} ${body.contacts.length === 1 ? 'is' : 'are'} on the list.`,
    };
  },

  syncListContacts({ state, account, params, body }) {
    const wanted = new Set(body.contacts_ids ?? []);
    const unknown = (body.contacts_ids ?? []).findIndex((id) => !find(state, 'contacts', account.account_id, id));
    if (unknown >= 0) return invalid({ [`contacts_ids.${unknown}`]: ['is no contact of this account'] });
    const list = params.contactList;
    const gone = memberIds(state, list).filter((id) => !wanted.has(id));
    leave(state, list, gone);
    for (const contact_id of wanted) put(state, 'list_members', { contacts_list_id: list, contact_id });
    return { success: `The list holds ${counted(wanted.size, 'contact')}.` };
  },

  removeListContacts({ state, params, body }) {
    const before = memberIds(state, params.contactList).length;
    leave(state, params.contactList, body.contacts_ids);
    const removed = before - memberIds(state, params.contactList).length;
    return { success: `${counted(removed, 'contact')} ${removed === 1 ? 'was' : 'were'} taken off the list.` };
  },
} satisfies Partial<Handlers>;

const memberIds = (state: State, list: number): number[] => [...(state.members.get(list) ?? [])];

function leave(state: State, list: number, contacts: readonly number[]): void {
  for (const contact of contacts) remove(state, 'list_members', `${list}:${contact}`);
}

/** Records that people know by another name than their id. */
export type Named = 'contacts' | 'tickets';

export const isNamed = (record: string | undefined): record is Named => record === 'contacts' || record === 'tickets';

/** Whether it is a contact's email, or a ticket's number such as T-1008, and no id. */
export const hasName = (record: string | undefined, text: string): boolean =>
  (record === 'contacts' && text.includes('@')) || (record === 'tickets' && /^[^\d\s+-]\S*\d$/u.test(text.trim()));

/** What the ids in a field of a body are of. */
export const recordOfField = (field: string): Named | undefined =>
  field === 'contact_id' || field === 'contacts_ids' ? 'contacts' : undefined;

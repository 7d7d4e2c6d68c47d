import { ownOf } from '../text/record.ts';

/** Names that people type, where the wire's name would surprise: `q` is a search, `contact_id` a contact. */
const typedNames: Readonly<Record<string, string>> = {
  q: 'search',
  contact_id: 'contact',
  contacts_ids: 'contact',
  labels: 'label',
  socials: 'social',
  tags: 'tag',
};

export const typedName = (field: string): string => (ownOf(typedNames, field) ?? field).replaceAll('_', '-');

import type { Row } from '../store/records.ts';
import type { State } from '../store/state.ts';
import { inUtc } from '../time.ts';

/** The contact as tickets and conversations carry it; null when there is none. */
export function personOf(state: State, contact: number | null) {
  const row = contact === null ? undefined : state.rows.contacts.get(contact);
  if (!row) return null;
  const { contact_id, name, last_name, email, phone } = row satisfies Row<'contacts'>;
  return { contact_id, name, last_name, email, phone };
}

/** The category as entries and posts carry it; null when there is none. */
export function categoryOf(
  { rows }: State,
  kind: 'changelog_categories' | 'feedback_categories',
  category: number | null,
) {
  const row = category === null ? undefined : rows[kind].get(category);
  return row ? { id: row.id, name: row.name } : null;
}

/** `unresolved` is a filter, not a status: everything that still needs work. */
export const hasStatus = (row: { readonly status: string }, wanted: string | undefined): boolean =>
  wanted === undefined ||
  (wanted === 'unresolved' ? row.status !== 'resolved' && row.status !== 'closed' : row.status === wanted);

/** Only what changed at or after that time. */
export const changedSince = (row: { readonly updated_at: string }, since: string | undefined): boolean =>
  since === undefined || row.updated_at >= inUtc(since);

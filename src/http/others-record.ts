import type { Operation } from '../api/operation.ts';
import { resources } from '../api/resources.ts';
import { fieldsIn } from '../text/record.ts';
import { isId, madeIds } from './made.ts';
import { shownIn } from './record.ts';

type About = Pick<Operation, 'safety' | 'resource' | 'answer' | 'makes' | 'deletes' | 'params'>;

/** What a write was asked to do, and what was there before it. */
type Write = {
  readonly params?: unknown;
  readonly before?: { readonly ids: readonly number[] };
};

/**
 * Whether a whole record in an answer is surely not the one that the write has made or changed: it was there before, or
 * it has another id than the path. Whatever stands before the service may mix up answers. Ids are never reused
 * (service.md#records-1) and grow: of a list that is longer than a page an old record is known by one that is newer, and a
 * message by one of its thread.
 */
export function showsOther(operation: About, { params, before }: Write, json: unknown): boolean {
  const { safety, deletes } = operation;
  if (safety === 'verify') {
    // Only what this run has read: a service that was reset begins its ids again.
    const newest = before?.ids.reduce((most, id) => Math.max(most, id), 0) ?? 0;
    const made = madeIds(operation, json);
    return new Set(made).size < made.length || made.some((id) => id <= newest);
  }
  if (safety !== 'repeatable' || deletes) return false;
  const [asked] = Object.values(fieldsIn(params)).filter(isId);
  const changed = changedId(operation, json);
  return asked !== undefined && changed !== undefined && changed !== asked;
}

/** Contact lists are called otherwise in the answers to writes. */
function changedId({ resource, answer }: About, json: unknown): number | undefined {
  const { idField = 'id' } = resources[resource];
  const record = shownIn({ answer }, json);
  return [record[idField], record.contact_list_id].find(isId);
}

import { isDropped } from '../batch/phone.ts';
import { detached } from '../text/detached.ts';
import type { Contact } from './mapping.ts';
import { emailKey, isProblem, mostTags, type Problem, problem, type Row } from './rows.ts';

/** What happens to a row whose email an earlier row has. Without it, all are sent, in their order. */
export type Dedupe = 'first' | 'merge' | 'error';

/** A row as it was read. `skipped`: by `--skip` or `--only`. */
export type Read = Row | Problem | 'skipped';

/** `left-out`: not sent, by `--dedupe first`. `merged`: sent as part of the first row with that email. */
export type Judged = Read | 'left-out' | 'merged';

/**
 * Decides about each row in turn. Every pass over the file takes a fresh one, so that all passes decide alike. This is
 * the one part of sync whose memory grows with the number of addresses, and only where it was asked for.
 */
export function createDuplicates(mode: Dedupe, merged: Merged): (row: Row) => Judged {
  const firstLines = new Map<string, number>();
  const mergedSoFar = new Map<Row, number>();
  return (row) => {
    const key = detached(emailKey(row.contact));
    const first = firstLines.get(key);
    if (first === undefined) {
      firstLines.set(key, row.line);
      return merged.get(key) ?? row;
    }
    if (mode === 'first') return 'left-out';
    if (mode === 'error') return problem(row.line, row.contact.email, `has the same email as line ${first}`);
    const whole = merged.get(key);
    const at = whole ? (mergedSoFar.get(whole) ?? 0) : 0;
    if (whole?.alsoLines?.[at] !== row.line) return row;
    mergedSoFar.set(whole, at + 1);
    return 'merged';
  };
}

/** The rows that stand for several, by email. */
export type Merged = ReadonlyMap<string, Row>;

export const nothingMerged: Merged = new Map();

/** Reads all rows twice: only those whose email repeats are ever held in memory whole. */
export async function mergeDuplicates(rows: () => AsyncIterable<readonly Read[]>): Promise<Merged> {
  const once = new Set<string>();
  const repeated = new Set<string>();
  for await (const batch of rows()) {
    for (const row of rowsOf(batch)) {
      const key = detached(emailKey(row.contact));
      if (once.has(key)) repeated.add(key);
      else once.add(key);
    }
  }
  const merged = new Map<string, Mutable>();
  for await (const batch of rows()) {
    for (const row of rowsOf(batch)) {
      const key = emailKey(row.contact);
      if (!repeated.has(key)) continue;
      const before = merged.get(key);
      if (before) merge(before, row);
      else merged.set(detached(key), { ...row, contact: structuredClone(row.contact), alsoLines: [] });
    }
  }
  return merged;
}

const rowsOf = (batch: readonly Read[]): Row[] =>
  batch.flatMap((row) => (row === 'skipped' || isProblem(row) ? [] : [row]));

type Mutable = { -readonly [Key in keyof Row]: Row[Key] } & { readonly alsoLines: number[] };

/**
 * As the service itself merges (service.md#contacts-5): blanks are filled, existing values kept, tags united, metadata
 * merged. Where the tags would be too many for one contact, the row goes out by itself. In place: a file may have one
 * address in every row.
 */
function merge(row: Mutable, later: Row): void {
  const tags = [...new Set([...(row.contact.tags ?? []), ...(later.contact.tags ?? [])])];
  if (tags.length > mostTags) return;
  // The service ignores a phone that it cannot read, so another row may fill it.
  const isFilled = later.contact.phone !== undefined && !isDropped(later.phone);
  const isBlank = row.contact.phone === undefined || (isDropped(row.phone) && isFilled);
  const contact: Contact = { ...structuredClone(later.contact), ...row.contact };
  if (isBlank) {
    row.phone = later.phone;
    if (later.contact.phone !== undefined) contact.phone = later.contact.phone;
  }
  if (tags.length > 0) contact.tags = tags;
  if (row.contact.metadata || later.contact.metadata) {
    contact.metadata = { ...row.contact.metadata, ...later.contact.metadata };
  }
  row.contact = contact;
  row.size += later.size;
  row.alsoLines.push(later.line);
}

import { counted } from '../../text/number.ts';
import { type Fields, isRecord } from '../../text/record.ts';

/** `dropped`: how many more the list holds, which no row could be found for again. They were not read. */
export type Usable = { readonly records: readonly Fields[]; readonly dropped: number };

/** Of a number above 2^53 JSON has already lost the last digits: two records would become one. */
export function usableIn(list: unknown, id: string): Usable {
  const all: readonly unknown[] = Array.isArray(list) ? list : [];
  const records = all.filter(isRecord).filter((record) => Number.isSafeInteger(record[id]));
  return { records, dropped: all.length - records.length };
}

export const droppedWords = (count: number, what: string, id: string): string =>
  `${counted(count, 'record')} of ${what} came without an id that svc can keep (${id}).`;

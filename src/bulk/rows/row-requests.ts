import { column, numberColumn } from '../../text/column.ts';
import { type DigestTable, digestColumn, digestTable } from '../../text/digest-table.ts';
import type { Table } from './row-table.ts';

/** The digest of the request of each row, by the row's name; 45 bytes for a row. */
export type RowRequests = Table<string, string> & {
  /** Each row has its place: in a file that of the row, from 0. */
  readonly names: Pick<DigestTable, 'find' | 'nameAt' | 'size'>;
  requestAt(place: number): string | undefined;
};

export type OpenRowRequests = RowRequests & { set(row: string, request: string): void };

export function rowRequests(): OpenRowRequests {
  const names = digestTable();
  const requests = digestColumn();
  function* values() {
    for (let place = 0; place < names.size(); place++) yield requests.get(place) ?? '';
  }
  return {
    names,
    get size() {
      return names.size();
    },
    has: (row) => names.find(row) >= 0,
    get(row) {
      const place = names.find(row);
      return place < 0 ? undefined : requests.get(place);
    },
    requestAt: requests.get,
    set: (row, request) => requests.set(names.add(row), request),
    values,
    *[Symbol.iterator]() {
      for (let place = 0; place < names.size(); place++)
        yield [names.nameAt(place), requests.get(place) ?? ''] as const;
    },
  };
}

/** What is sent for any of the rows; nothing is, for a row whose request is an empty text. */
export function requestsOf(rows: RowRequests) {
  const requests = digestTable();
  for (const request of rows.values()) if (request !== '') requests.add(request);
  return { has: (request: string) => requests.find(request) >= 0 };
}

/** Rows at the places that are wanted, in the order of the file, by what is sent for them. */
export function rowsByRequest(rows: RowRequests, isWanted: (place: number) => boolean) {
  const requests = digestTable();
  /** By request: the first row that is left, and the last. By row: the next one with its request. */
  const [firstOf, lastOf, nextOf] = [numberColumn(), numberColumn(), numberColumn()];
  for (let place = 0; place < rows.size; place++) {
    const request = rows.requestAt(place) ?? '';
    if (request === '' || !isWanted(place)) continue;
    const at = requests.add(request);
    const last = lastOf.get(at);
    if (last === undefined) firstOf.set(at, place);
    else nextOf.set(last, place);
    lastOf.set(at, place);
  }
  return {
    /** Each once; undefined where none is left. */
    take(request: string): string | undefined {
      const at = requests.find(request);
      const place = at < 0 ? undefined : firstOf.get(at);
      if (place === undefined) return undefined;
      firstOf.set(at, nextOf.get(place));
      return rows.names.nameAt(place);
    },
  };
}

/**
 * Tells rows of equal content apart: the first has the content's own name. `names`: of the rows before, where they are
 * read for the first time, else of all; each at its place in the file.
 */
export function createNumbering(names: Pick<DigestTable, 'find'>): (content: string, index: number) => string {
  const times = column(32);
  return (content, index) => {
    const first = names.find(content);
    if (first < 0 || first === index) return content;
    const time = (times.get(first) || 1) + 1;
    times.set(first, time);
    return `${content}~${time}`;
  };
}

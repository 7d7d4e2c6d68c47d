import type { Operation } from '../../api/operation.ts';
import { resources } from '../../api/resources.ts';
import { Failure } from '../../errors.ts';
import { usualPage } from '../../http/call/pages.ts';
import { pageIn, sweep } from '../../http/look/sweeps.ts';
import { type Fields, fieldsIn, isRecord } from '../../text/record.ts';

/** One document of all pages. `failure`: what was read is not all. */
export type Whole = { readonly record: unknown; readonly failure?: Failure };

type Asked = {
  readonly path: string;
  /** Of a path that the table has. */
  readonly operation: Operation | undefined;
  /** The document of another page. */
  readonly next: (page: number) => Promise<unknown>;
};

/** The first page's document with the records of all pages in its list, each once; `meta` is the last page's. */
export async function wholeOf(first: unknown, { path, operation, next }: Asked): Promise<Whole> {
  const key = isRecord(first) ? Object.keys(first).find((name) => Array.isArray(first[name])) : undefined;
  if (!isRecord(first) || key === undefined) return { record: first };
  // Of a list that has pages, one without is no whole list.
  if (!isRecord(first.meta) && !isPaged(operation)) return { record: first };
  const query = new URLSearchParams(path.split('?')[1]);
  const [from, perPage] = [Number(query.get('page') ?? 1), Number(query.get('per_page') ?? usualPage)];
  const idField = operation && idFieldOf(operation);
  let unread: unknown = first;
  let newest = { page: from, meta: first.meta };
  const read = async (page: number) => {
    const body = fieldsIn(unread ?? (await next(page)));
    unread = undefined;
    if (page >= newest.page && isRecord(body.meta)) newest = { page, meta: body.meta };
    return pageIn(body, { key, paged: true, page, perPage });
  };
  const records: unknown[] = [];
  const reading = sweep(
    {
      keyOf: (record) => keyIn(record, idField),
      wanted: Number.POSITIVE_INFINITY,
      several: true,
      isCounted: from === 1,
      nouns: 'records',
      ...{ read, perPage, from },
    },
    { yielded: 0, total: undefined },
  );
  const meta = () => (newest.meta === undefined ? {} : { meta: newest.meta });
  const whole = (): Fields => ({ ...first, [key]: records, ...meta() });
  try {
    for await (const record of reading) records.push(record);
    return { record: whole() };
  } catch (failure) {
    if (!(failure instanceof Failure && failure.isShort)) throw failure;
    return { record: whole(), failure };
  }
}

const isPaged = (operation: Operation | undefined): boolean =>
  operation?.answer.shape === 'list' && operation.answer.paged === true;

/**
 * Of a path that svc does not know, what is the same in all is the same. A row that should be a record and is none, such
 * as null, is like any other such row.
 */
function keyIn(row: unknown, idField: string | undefined): unknown {
  if (idField === undefined) return JSON.stringify(row);
  return isRecord(row) ? (row[idField] ?? JSON.stringify(row)) : undefined;
}

function idFieldOf({ answer, resource }: Operation): string | undefined {
  return answer.shape === 'list' ? resources[answer.of ?? resource].idField : undefined;
}

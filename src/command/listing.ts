import type { Input, Operation } from '../api/operation.ts';
import { fieldsOf, leavesOf } from '../api/shape.ts';
import { Failure } from '../errors.ts';
import type { Service } from '../http/call/call.ts';
import { list, type Range } from '../http/call/pages.ts';
import { asColumn } from '../output/headers.ts';
import type { Column, View } from '../output/view.ts';
import { capital } from '../text/capital.ts';
import { number } from '../text/number.ts';
import { forMore, orAll } from './at-most.ts';
import type { Params } from './command.ts';
import { param } from './param.ts';
import { sifted } from './sift.ts';

/** Flags of every paginated list. */
export const rangeFlags = {
  limit: orAll(param.integer('At most N records', { min: 1, conflicts: ['all', 'page'] })),
  all: param.toggle('Every record', { conflicts: ['page'] }),
  page: param.integer('Only this page', { min: 1 }),
  perPage: param.integer('Records a page, 1 to 100 (default 50)', { min: 1, max: 100 }),
} satisfies Params;

/** Of a list that svc sorts, --all says what is sorted and --limit what of it is shown. */
export const sortedRangeFlags = {
  ...rangeFlags,
  limit: orAll(param.integer('At most N records', { min: 1, conflicts: ['page'] })),
} satisfies Params;

export function rangeOf({ limit, all, page, perPage, sort }: Readonly<Record<string, unknown>>): Range {
  if (all === true && limit !== undefined && sort === undefined)
    throw new Failure('usage', '--limit and --all cannot be used together without --sort.', {
      hint: 'Give one of them.',
    });
  return { limit: countIn(limit), all: all === true, page: countIn(page), perPage: countIn(perPage) };
}

const countIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

type Shown = {
  readonly range?: Range;
  readonly columns: readonly Column[];
  /** The flags of a list that svc itself filters or sorts. */
  readonly sift?: Readonly<Record<string, unknown>> | undefined;
};

/** A list that is read while it is printed; a note tells when there is more than was asked for. */
export function listView(
  service: Service,
  operation: Operation,
  input: Input<Operation>,
  { range = {}, columns, sift }: Shown,
): View {
  const chosen = sift && sifted(service, operation, input, { range, flags: sift });
  const shape = {
    shape: 'list',
    columns: sortedBy(columns, sift?.sort),
    fields: fieldPaths(operation),
    known: 'any',
    empty: 'Nothing here.',
  } as const;
  if (chosen) return { data: { ...shape, records: chosen.records }, read: true, notes: chosen.notes };
  const listing = list(service, operation, input, range);
  return {
    data: { ...shape, records: listing.records },
    read: true,
    notes: () => {
      const { yielded, total } = listing.seen();
      if (total === undefined || range.all || yielded >= total) return [];
      if (range.page !== undefined) return [`Page ${range.page}: ${number(yielded)} of ${number(total)}.`];
      return [`Showing ${number(yielded)} of ${number(total)}. ${forMore}`];
    },
  };
}

/** What a list is sorted by is the last column that a narrow terminal leaves out; what is no column becomes one. */
function sortedBy(columns: readonly Column[], sort: unknown): readonly Column[] {
  if (typeof sort !== 'string') return columns;
  const path = sort.replace(/^-/u, '');
  const own = columns.map(asColumn);
  const ranked = own.map((column, place) => ({ ...column, rank: column.path === path ? 0 : (column.rank ?? place) }));
  if (own.some((column) => column.path === path)) return ranked;
  const words = path.replaceAll(/[._]/gu, ' ');
  return [...ranked, { path, header: capital(words), rank: 0 }];
}

/** Every documented field of the operation's records, by its path. */
export function fieldPaths({ response, answer }: Operation): readonly string[] {
  return leavesOf(fieldsOf(response)[answer.key ?? '']?.item?.fields).map(([path]) => path);
}

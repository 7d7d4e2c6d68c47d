import type { Input, Operation } from '../api/operation.ts';
import { fieldsOf, leavesOf } from '../api/shape.ts';
import { Failure } from '../errors.ts';
import type { Service } from '../http/call/call.ts';
import { type Listing, list, type Range } from '../http/call/pages.ts';
import { fieldUnder } from '../output/headers.ts';
import type { Column } from '../output/view.ts';
import { nearestField } from '../text/near.ts';
import { number } from '../text/number.ts';
import { type Fields, fieldsIn } from '../text/record.ts';
import { firstComing, forMore } from './at-most.ts';
import type { Param, Params } from './command.ts';
import { param } from './param.ts';
import { past } from './past.ts';

/** What svc itself does with the records of a list, because the service's own query cannot. */
export type SiftBy = {
  /** Flags `--sort`, `--created-since` and `--created-before`. */
  readonly order?: true;
  /** A flag `--contact`. */
  readonly contact?: true;
};

type Flags = Readonly<Record<string, unknown>>;

export function siftFlags(operation: Operation, by: SiftBy, columns: readonly Column[]): Params {
  return {
    ...(by.contact && {
      contact: { ...param.requiredId('Only those of this contact, by id or email', 'contacts'), required: false },
    }),
    ...(by.order && {
      sort: sortFlag(operation, columns),
      createdSince: past('Only those created then or later: a time, or a span like 2d'),
      createdBefore: past('Only those created before: a time, or a span like 2d'),
    }),
  };
}

function sortFlag(operation: Operation, columns: readonly Column[]): Param<string | undefined> {
  const paths = sortable(operation);
  return {
    description: 'Sort what is read (the first ones; --all: every record) by a field or column; -FIELD is descending',
    placeholder: 'FIELD',
    offers: paths.flatMap((path) => [path, `-${path}`]),
    parse(texts, flag) {
      const typed = texts.at(-1) ?? '';
      const sign = typed.startsWith('-') ? '-' : '';
      const path = typed.slice(sign.length).trim().replaceAll('-', '_');
      if (paths.includes(path)) return sign + path;
      const shown = fieldUnder(path, [...columns, ...paths]);
      if (shown !== undefined && paths.includes(shown)) return sign + shown;
      const meant = nearestField(path, paths);
      throw new Failure('usage', `${flag} does not know the field "${path}".`, {
        hint: meant ? `Did you mean ${sign}${meant}?` : `Fields: ${paths.join(', ')}.`,
      });
    },
  };
}

/** Fields of a record that hold one value. */
const sortable = ({ response, answer }: Operation): readonly string[] =>
  leavesOf(fieldsOf(response)[answer.key ?? '']?.item?.fields)
    .filter(([, { type }]) => type !== 'list' && type !== 'pairs')
    .map(([path]) => path);

/** What is asked of the service besides: who was created since then was changed since then. */
export function narrowed(query: Flags, { createdSince }: Flags): Flags {
  if (typeof createdSince !== 'string') return query;
  const { updated_since: own } = query;
  const isLater = typeof own === 'string' && Date.parse(own) > Date.parse(createdSince);
  return { ...query, updated_since: isLater ? own : createdSince };
}

const usually = 50;

/** The list as the flags ask for it; undefined where they ask for nothing that the service does not do itself. */
export function sifted<Op extends Operation>(
  service: Service,
  operation: Op,
  input: Input<Op>,
  { range, flags }: { readonly range: Range; readonly flags: Flags },
): (Pick<Listing, 'records'> & { readonly notes: () => readonly string[] }) | undefined {
  const { sort, createdSince, createdBefore, contact } = flags;
  const isFiltered = [createdSince, createdBefore, contact].some((one) => one !== undefined);
  if (!isFiltered && typeof sort !== 'string') return undefined;
  const isWhole = (isFiltered || range.all === true) && range.page === undefined;
  const listing = list(service, operation, input, isWhole ? { all: true } : range);
  const atMost = range.all || !isWhole ? Number.POSITIVE_INFINITY : (range.limit ?? usually);
  const shownOfAll = range.all ? range.limit : undefined;
  let found = 0;
  let isMore = false;
  async function* fitting() {
    for await (const record of listing.records) {
      if (!fits(record, flags)) continue;
      if (found >= atMost) {
        isMore = true;
        return;
      }
      found++;
      yield record;
    }
  }
  return {
    records: firstComing(typeof sort === 'string' ? inOrder(fitting(), sort) : fitting(), shownOfAll).records,
    notes() {
      const { yielded, total = yielded } = listing.seen();
      const isSorted = typeof sort === 'string';
      const within = isSorted ? 'Sorted within what was read. ' : '';
      if (isMore && isSorted) return [`Sorted within the first ${thatFit(found)}. To sort all that fit, add --all.`];
      if (isMore) return [`Showing the first ${thatFit(found)}. ${forMore}`];
      if (shownOfAll !== undefined && shownOfAll < found)
        return [`Showing the first ${number(shownOfAll)} of ${number(found)}.`];
      if (isWhole || yielded >= total) return [];
      if (range.page !== undefined) return [`${within}Page ${range.page}: ${number(found)} of ${number(total)}.`];
      // The first of a sorted list are not the first of all: only the whole of it has those.
      const more = isSorted ? 'To sort all of them: --all.' : forMore;
      return [`${within}Showing ${number(found)} of ${number(total)}. ${more}`];
    },
  };
}

const thatFit = (count: number): string => (count === 1 ? 'that fits' : `${number(count)} that fit`);

function fits(record: Fields, { createdSince, createdBefore, contact }: Flags): boolean {
  if (contact !== undefined && record.contact_id !== contact) return false;
  if (createdSince === undefined && createdBefore === undefined) return true;
  const created = Date.parse(String(record.created_at));
  if (typeof createdSince === 'string' && !(created >= Date.parse(createdSince))) return false;
  return typeof createdBefore !== 'string' || created < Date.parse(createdBefore);
}

async function* inOrder(records: AsyncIterable<Fields>, sort: string): AsyncGenerator<Fields> {
  const path = sort.replace(/^-/u, '').split('.');
  const sign = sort.startsWith('-') ? -1 : 1;
  const keyed: { readonly record: Fields; readonly key: unknown }[] = [];
  for await (const record of records) {
    keyed.push({ record, key: path.reduce<unknown>((value, key) => fieldsIn(value)[key], record) });
  }
  yield* keyed.sort((a, b) => inOneOrder(a.key, b.key, sign)).map(({ record }) => record);
}

const isNothing = (value: unknown): boolean => value === undefined || value === null || value === '';

/** What has no value comes last, either way. */
function inOneOrder(a: unknown, b: unknown, sign: number): number {
  if (isNothing(a) || isNothing(b)) return Number(isNothing(a)) - Number(isNothing(b));
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
  const [x, y] = [String(a), String(b)];
  const isTime = /^\d{4}-\d{2}-\d{2}T/u.test(x) && /^\d{4}-\d{2}-\d{2}T/u.test(y);
  return sign * (isTime ? Date.parse(x) - Date.parse(y) : x.localeCompare(y));
}

import type { Input, Operation } from '../api/operation.ts';
import { resources } from '../api/resources.ts';
import { Failure } from '../errors.ts';
import { number, plural } from '../text/number.ts';
import { fieldsIn } from '../text/record.ts';
import type { Waits } from './asking.ts';
import { call, type Service } from './call.ts';
import { perhapsBetween } from './endings.ts';
import { requestsPerMinute } from './limiter.ts';
import { isUncounted, leastOn } from './page-meta.ts';

/** A list without pages came whole. */
function totalOf(said: unknown, whole: unknown): number | undefined {
  if (typeof said === 'number') return said;
  return Array.isArray(whole) ? whole.length : undefined;
}

/** How much of a list is wanted. Nothing given: the first page of 50. */
export type Range = {
  readonly all?: boolean;
  readonly limit?: number;
  readonly page?: number;
  readonly perPage?: number;
  /** Whoever reads may leave before the end, so a page that cannot be what it says is a Failure at once. */
  readonly isLeftEarly?: true;
};

export type Listing = {
  /** In the server's order, each record once. */
  readonly records: AsyncIterable<Readonly<Record<string, unknown>>>;
  /** What the last page read said of the whole, and how many were yielded. Known once `records` has ended. */
  readonly seen: () => { readonly yielded: number; readonly total: number | undefined };
};

export const largestPage = 100;
const usualPage = 50;

type ListAnswer = Extract<Operation['answer'], { shape: 'list' }>;
type Page = {
  readonly records: Record<string, unknown>[];
  readonly last: number;
  readonly total: number | undefined;
  /** It holds fewer than it says that it must, or is another page. */
  readonly isOdd: boolean;
  /** It does not say how many there are. */
  readonly isUncounted: boolean;
};

const sweepsAtMost = 3;

/**
 * Reads a list page by page while it is consumed. Records that arrive meanwhile push others onto the next page, so
 * a record that was shown is not shown again; one that moved forward past the reader is fetched by another sweep. Records
 * that leave the list pull others onto a page that was read: it is read again at once. Where
 * the service counts more than it lists, whatever was read is not all: that ends in a Failure once it is yielded.
 */
export function list<Op extends Operation>(
  service: Service,
  operation: Op,
  input: Input<Op>,
  range: Range = {},
): Listing {
  let yielded = 0;
  let total: number | undefined;

  async function* read() {
    if (operation.answer.shape !== 'list') throw new Failure('failed', `${operation.id} is no list.`);
    // Columns of the roadmap have no id.
    const { idField, noun } = resources[operation.answer.of ?? operation.resource];
    const far = () => `Read ${number(yielded)}${total === undefined ? '' : ` of ${number(total)}`} ${plural(noun)}`;
    const wanted = range.limit ?? Number.POSITIVE_INFINITY;
    const perPage = range.perPage ?? (range.all ? largestPage : Math.min(range.limit ?? usualPage, largestPage));
    const several = range.all || range.limit !== undefined;
    const isCounted = operation.answer.paged && several && range.page === undefined;
    const shown = new Set<unknown>();
    let say: Waits['say'];
    try {
      for (let sweep = 1; ; sweep++) {
        // What came while the pages were read need not have been on one of them.
        let least = Number.POSITIVE_INFINITY;
        let counted: number | undefined;
        for (let at = range.page ?? 1; yielded < wanted; at++) {
          const page = await readPage(operation.answer, at, perPage);
          total = page.total;
          const gone = (counted ?? 0) - (page.total ?? counted ?? 0);
          counted = page.total;
          const pulled =
            gone > 0 && isCounted ? await pulledForward(operation.answer, { at, perPage, gone, page }) : [];
          least = Math.min(least, total ?? least);
          if (page.isOdd && range.isLeftEarly)
            throw page.isUncounted ? uncountedList(plural(noun)) : shortList(plural(noun), { yielded, counted: least });
          for (const record of [...pulled, ...page.records]) {
            const key = idField && record[idField];
            if (key === undefined ? sweep > 1 : shown.has(key)) continue;
            shown.add(key);
            yield record;
            if (++yielded >= wanted) return;
          }
          if (page.isUncounted && isCounted) throw uncountedList(plural(noun));
          if (!several || at >= page.last || page.records.length === 0) break;
          service.ctx.progress(far(), 'work');
          const end = Math.min(page.last, Math.ceil(wanted / perPage));
          say = (leftMs) => pagesInWords({ read: at, end, leftMs, nouns: plural(noun) });
          service.waits.say = say;
        }
        if (!isCounted || total === undefined || yielded >= total) return;
        if (sweep < sweepsAtMost) continue;
        if (yielded >= least) return;
        throw shortList(plural(noun), { yielded, counted: least });
      }
    } finally {
      if (service.waits.say === say) service.waits.say = undefined;
      service.ctx.progress(undefined, 'work');
    }
  }

  /**
   * Where so many have left the list, as many from this page now stand on the one before, which was read already: it is
   * read again. More may leave meanwhile, so it goes back as far as they can have come.
   */
  async function pulledForward(
    answer: ListAnswer,
    {
      at,
      perPage,
      gone,
      page,
    }: { readonly at: number; readonly perPage: number; readonly gone: number; readonly page: Page },
  ): Promise<Page['records']> {
    const first = (at - 1) * perPage - gone;
    const pulled: Page['records'] = [];
    for (let before = at - 1; before >= 1; before--) {
      const { records, total: now = 0 } = await readPage(answer, before, perPage);
      pulled.unshift(...records);
      if ((before - 1) * perPage <= first - Math.max(0, (page.total ?? 0) - now)) break;
    }
    return pulled;
  }

  /** A page that cannot be what it says is asked for once more. */
  async function readPage(answer: ListAnswer, page: number, per_page: number): Promise<Page> {
    const first = await readOnce(answer, page, per_page);
    return first.isOdd ? readOnce(answer, page, per_page) : first;
  }

  async function readOnce({ key, paged }: ListAnswer, page: number, per_page: number): Promise<Page> {
    const query = paged ? { ...fieldsIn(input.query), page, per_page } : undefined;
    // A list takes a page and its size in its query, which no generic type says.
    const body = fieldsIn(await call(service, operation, { ...input, query } as Input<Op>));
    const meta = fieldsIn(body.meta);
    const { current_page: current = page, last_page: last, total } = meta;
    const records = Array.isArray(body[key]) ? body[key] : [];
    const isBlind = paged && isUncounted(meta, records.length);
    return {
      records,
      isUncounted: isBlind,
      last: typeof last === 'number' ? last : page,
      total: totalOf(total, paged ? undefined : records),
      isOdd: isBlind || (paged && (current !== page || records.length < leastOn(meta, page, per_page))),
    };
  }

  return { records: read(), seen: () => ({ yielded, total }) };
}

type PagesRead = { readonly read: number; readonly end: number; readonly leftMs: number; readonly nouns: string };

/** Each page is a request; the next ones begin when the wait is over. */
function pagesInWords({ read, end, leftMs, nouns }: PagesRead): string {
  const seconds = Math.ceil(leftMs / 1000);
  const rounds = Math.max(0, Math.ceil((end - read) / requestsPerMinute) - 1);
  const left = rounds === 0 ? '' : ` · about ${number(Math.ceil(seconds / 60 + rounds))} min left`;
  return `Read ${number(read)} of ${number(end)} pages of ${nouns}${left} · continuing in ${seconds} s`;
}

const shortList = (nouns: string, { yielded, counted }: { readonly yielded: number; readonly counted: number }) =>
  new Failure(
    'failed',
    `The service counts ${number(counted)} ${nouns} and lists ${number(yielded)} different ones, so what was read is not all.`,
    {
      hint: `svc read the list three times. ${perhapsBetween}`,
      isShort: true,
    },
  );

const uncountedList = (nouns: string) =>
  new Failure(
    'failed',
    `The answer does not say how many ${nouns} there are, as the service does, so what was read may not be all.`,
    { hint: perhapsBetween, isShort: true },
  );

import type { Input, Operation } from '../../api/operation.ts';
import { resources } from '../../api/resources.ts';
import { Failure } from '../../errors.ts';
import { number, plural } from '../../text/number.ts';
import { type Fields, fieldsIn } from '../../text/record.ts';
import type { Waits } from '../exchange/asking.ts';
import { requestsPerMinute } from '../exchange/limiter.ts';
import { pageIn, type Seen, sweep } from '../look/sweeps.ts';
import { call, type Service } from './call.ts';

/** How much of a list is wanted. Nothing given: the first page of 50. */
export type Range = {
  readonly all?: boolean;
  readonly limit?: number;
  readonly page?: number;
  readonly perPage?: number;
  /** Whoever reads may leave before the end, so a page that cannot be what it says is a Failure at once. */
  readonly isLeftEarly?: true;
  /** What is looked for among the records, which progress says in front of how many are read. */
  readonly why?: string;
};

export type Listing = {
  /** In the server's order, each record once. */
  readonly records: AsyncIterable<Fields>;
  /** What the last page read said of the whole, and how many were yielded. Known once `records` has ended. */
  readonly seen: () => Readonly<Seen>;
};

export const largestPage = 100;
export const usualPage = 50;

/** Reads a list page by page while it is consumed: what is wanted of it is read whole, or ends in a Failure (`sweep`). */
export function list<Op extends Operation>(
  service: Service,
  operation: Op,
  input: Input<Op>,
  range: Range = {},
): Listing {
  const seen: Seen = { yielded: 0, total: undefined };

  async function* read() {
    const { answer } = operation;
    if (answer.shape !== 'list') throw new Failure('failed', `${operation.id} is no list.`);
    const { key, paged } = answer;
    // Columns of the roadmap have no id.
    const { idField, noun } = resources[answer.of ?? operation.resource];
    const nouns = plural(noun);
    const perPage = range.perPage ?? (range.all ? largestPage : Math.min(range.limit ?? usualPage, largestPage));
    const several = range.all === true || range.limit !== undefined;
    let say: Waits['say'];
    try {
      yield* sweep(
        {
          async read(page) {
            const query = paged ? { ...fieldsIn(input.query), page, per_page: perPage } : undefined;
            // A list takes a page and its size in its query, which no generic type says.
            const body = await call(service, operation, { ...input, query } as Input<Op>);
            return pageIn(fieldsIn(body), { key, paged, page, perPage });
          },
          onPage(at, end) {
            service.ctx.progress(farInWords(seen, nouns, range.why), 'work');
            say = (leftMs) => pagesInWords({ read: at, end, leftMs, nouns });
            service.waits.say = say;
          },
          keyOf: (record) => (idField ? record[idField] : undefined),
          wanted: range.limit ?? Number.POSITIVE_INFINITY,
          isCounted: paged && several && range.page === undefined,
          from: range.page,
          isLeftEarly: range.isLeftEarly,
          ...{ perPage, several, nouns },
        },
        seen,
      );
    } finally {
      if (service.waits.say === say) service.waits.say = undefined;
      service.ctx.progress(undefined, 'work');
    }
  }

  return { records: read(), seen: () => seen };
}

const farInWords = ({ yielded, total }: Seen, nouns: string, why?: string): string =>
  `${why === undefined ? 'Read' : `${why}: read`} ${number(yielded)}${total === undefined ? '' : ` of ${number(total)}`} ${nouns}`;

type PagesRead = { readonly read: number; readonly end: number; readonly leftMs: number; readonly nouns: string };

/** Each page is a request; the next ones begin when the wait is over. */
function pagesInWords({ read, end, leftMs, nouns }: PagesRead): string {
  const seconds = Math.ceil(leftMs / 1000);
  const rounds = Math.max(0, Math.ceil((end - read) / requestsPerMinute) - 1);
  const left = rounds === 0 ? '' : ` · about ${number(Math.ceil(seconds / 60 + rounds))} min left`;
  return `Read ${number(read)} of ${number(end)} pages of ${nouns}${left} · continuing in ${seconds} s`;
}

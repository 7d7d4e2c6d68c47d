import { Failure } from '../../errors.ts';
import { number } from '../../text/number.ts';
import { type Fields, fieldsIn } from '../../text/record.ts';
import { perhapsBetween } from '../exchange/answer.ts';
import { isUncounted, leastOn } from './page-meta.ts';

/** A page of a list, as far as reading the whole goes. */
export type Page = {
  readonly records: readonly Record<string, unknown>[];
  readonly last: number;
  readonly total: number | undefined;
  /** It holds fewer than it says that it must, or is another page. */
  readonly isOdd: boolean;
  /** It does not say how many there are. */
  readonly isUncounted: boolean;
};

/** The page that an answer is. `paged`: the service gives it in pages, each with its meta. */
export function pageIn(
  body: Fields,
  { key, paged, page, perPage }: { key: string; paged: boolean; page: number; perPage: number },
): Page {
  const meta = fieldsIn(body.meta);
  const { current_page: current = page, last_page: last, total } = meta;
  const records = Array.isArray(body[key]) ? body[key] : [];
  const isBlind = paged && isUncounted(meta, records.length);
  return {
    records,
    isUncounted: isBlind,
    last: typeof last === 'number' ? last : page,
    // A list without pages came whole.
    total: typeof total === 'number' ? total : paged ? undefined : records.length,
    isOdd: isBlind || (paged && (current !== page || records.length < leastOn(meta, page, perPage))),
  };
}

export type Sweeping = {
  /** Reads one page, numbered from 1. */
  readonly read: (page: number) => Promise<Page>;
  readonly perPage: number;
  /** The page to begin with. */
  readonly from?: number;
  /** So many records at most. */
  readonly wanted: number;
  /** More pages than the first one. */
  readonly several: boolean;
  /** All is wanted, so that what is missing is looked for. */
  readonly isCounted: boolean;
  /** Whoever reads may leave before the end, so a page that cannot be what it says is a Failure at once. */
  readonly isLeftEarly?: boolean;
  /** What tells one record from another; undefined: nothing does. */
  readonly keyOf: (record: Fields) => unknown;
  /** What the records are called, for a Failure. */
  readonly nouns: string;
  /** Told before the next page is read. */
  readonly onPage?: (at: number, end: number) => void;
};

/** How far a reading is. `total`: what the latest page said of the whole. */
export type Seen = { yielded: number; total: number | undefined };

const sweepsAtMost = 3;

/**
 * Yields a list's records, each once, in the server's order. Records that arrive meanwhile push others onto the next
 * page, so a record that was shown is not shown again; one that moved forward past the reader is fetched by another sweep.
 * Records that leave the list pull others onto a page that was read: it is read again at once. Where the service counts
 * more than it lists, whatever was read is not all: that ends in a Failure once it is yielded.
 */
export async function* sweep(sweeping: Sweeping, seen: Seen): AsyncGenerator<Fields> {
  const { perPage, from = 1, wanted, several, isCounted, isLeftEarly = false, keyOf, nouns, onPage } = sweeping;
  const shown = new Set<unknown>();
  let least = Number.POSITIVE_INFINITY;
  for (let turn = 1; ; turn++) {
    let begun: number | undefined;
    // As many as there were when the page before was read, not what came after it.
    let counted: number | undefined;
    let isDoubtful = false;
    for (let at = from; seen.yielded < wanted; at++) {
      const read = await readOn(sweeping, at, isCounted ? counted : undefined);
      const { page, before } = read;
      counted = page.total ?? counted;
      isDoubtful ||= read.isDoubtful;
      // Who has left may be back: what was read last counts.
      const { total } = read.latest;
      // What stood on a page that is gone by now stands on this one.
      const last = Math.max(page.last, read.latest.last);
      seen.total = total;
      begun ??= total;
      // What came while the pages were read need not have been on one of them.
      least = Math.min(begun ?? least, total ?? least);
      if (page.isOdd && isLeftEarly)
        throw page.isUncounted ? uncountedList(nouns) : shortList(nouns, { yielded: seen.yielded, counted: least });
      // What nothing tells from another cannot be known as new.
      const again = before.flatMap(({ records }) => records.filter((record) => keyOf(record) !== undefined));
      for (const record of [...again, ...page.records]) {
        const key = keyOf(record);
        if (key === undefined ? turn > 1 : shown.has(key)) continue;
        shown.add(key);
        seen.yielded++;
        yield record;
        if (seen.yielded >= wanted) return;
      }
      if (page.isUncounted && isCounted) throw uncountedList(nouns);
      if (!several || at >= last || page.records.length === 0) break;
      onPage?.(at, Math.min(last, Math.ceil(wanted / perPage)));
    }
    const isShort = isCounted && seen.total !== undefined && seen.yielded < seen.total;
    if ((isShort || isDoubtful) && turn < sweepsAtMost) continue;
    if (!isShort || seen.yielded >= least) return;
    throw shortList(nouns, { yielded: seen.yielded, counted: least });
  }
}

const triesAtMost = 3;

type Read = {
  readonly page: Page;
  /** What was read once more, or first, and may hold records that no other page shows. */
  readonly before: readonly Page[];
  /** What was read last; where that is doubtful, what shows the most. */
  readonly latest: Page;
  /** Nothing shows that there is no record between this page and the one before. */
  readonly isDoubtful: boolean;
};

/** A page. Where the list has fewer records than `counted`, as the page before said, that one is read again too. */
async function readOn(sweeping: Sweeping, at: number, counted: number | undefined): Promise<Read> {
  let page = await askedTwice(sweeping.read, at);
  const before: Page[] = [];
  let gone = (counted ?? 0) - (page.total ?? counted ?? 0);
  if (gone <= 0 || at === 1) return { page, before, latest: page, isDoubtful: false };
  for (let tries = 1; ; tries++) {
    const pulled = await pulledForward(sweeping, { at, gone, page });
    const again = isNextTo(sweeping, pulled, page) ? undefined : await askedTwice(sweeping.read, at);
    const isSure = again === undefined || isSame(sweeping, { pulled, page, again });
    const known = [...(again ? [again] : []), ...pulled, page].filter((one) => !one.isOdd);
    // Of pages that contradict each other the one that shows the most may be right.
    const [latest = page] = isSure ? known : known.toSorted((a, b) => (b.total ?? 0) - (a.total ?? 0));
    before.push(...pulled, ...(again ? [page] : []));
    page = again ?? page;
    if (isSure || tries === triesAtMost) return { page, before, latest, isDoubtful: !isSure };
    gone = Math.max(gone, ...pulled.map(({ total = 0 }) => total - (page.total ?? 0)));
  }
}

/** Whether the pages that were read again, the nearest first, reach the page: the nearest holds a record of it by now. */
function isNextTo({ keyOf }: Sweeping, pulled: readonly Page[], page: Page): boolean {
  let total = page.total;
  for (const { total: now, isOdd } of pulled.toReversed()) {
    // Others have come meanwhile, and may have pushed a record past what was read.
    if (isOdd || total === undefined || now === undefined || now > total) return false;
    total = now;
  }
  const keys = new Set(pulled.at(-1)?.records.map(keyOf));
  return page.records.some((record) => keyOf(record) !== undefined && keys.has(keyOf(record)));
}

/** Nothing has moved from before the pages were read again until after it. */
function isSame(
  { keyOf }: Sweeping,
  { pulled, page, again }: { readonly pulled: readonly Page[]; readonly page: Page; readonly again: Page },
): boolean {
  const keysOf = ({ records }: Page) => JSON.stringify(records.map(keyOf));
  return keysOf(page) === keysOf(again) && [...pulled, again].every(({ total }) => total === page.total);
}

type Gone = { readonly at: number; readonly gone: number; readonly page: Page };

/**
 * Where so many have left the list, as many from this page now stand on the one before, which was read already: it is
 * read again. More may leave meanwhile, so it goes back as far as they can have come. The page that was read last is the first.
 */
async function pulledForward(sweeping: Sweeping, { at, gone, page }: Gone): Promise<readonly Page[]> {
  const { perPage } = sweeping;
  const first = (at - 1) * perPage - gone;
  const pulled: Page[] = [];
  for (let before = at - 1; before >= 1; before--) {
    const again = await askedTwice(sweeping.read, before);
    pulled.unshift(again);
    if ((before - 1) * perPage <= first - Math.max(0, (page.total ?? 0) - (again.total ?? 0))) break;
  }
  return pulled;
}

/** A page that cannot be what it says is asked for once more. */
export async function askedTwice<P extends { readonly isOdd?: boolean }>(
  read: (page: number) => Promise<P>,
  page: number,
): Promise<P> {
  const first = await read(page);
  return first.isOdd ? read(page) : first;
}

const shortList = (nouns: string, { yielded, counted }: { readonly yielded: number; readonly counted: number }) =>
  new Failure(
    'failed',
    `The service counts ${number(counted)} ${nouns} and lists ${number(yielded)} different ones, so what was read is not all.`,
    { hint: `svc read the list three times. ${perhapsBetween}`, isShort: true },
  );

const uncountedList = (nouns: string) =>
  new Failure(
    'failed',
    `The answer does not say how many ${nouns} there are, as the service does, so what was read may not be all.`,
    { hint: perhapsBetween, isShort: true },
  );

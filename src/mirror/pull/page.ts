import type { Input } from '../../api/operation.ts';
import { isCount, leastOn } from '../../http/look/page-meta.ts';
import { number } from '../../text/number.ts';
import { type Fields, fieldsIn } from '../../text/record.ts';
import type { Sweep } from '../store/state.ts';
import { type KindName, kindOf } from '../tables/kinds.ts';
import { tableOf } from '../tables/tables.ts';
import { perPage } from './budget.ts';
import type { Pulling } from './pulling.ts';
import { usableIn } from './usable.ts';

export type Page = {
  readonly records: readonly Fields[];
  /** How many more it holds whose id svc cannot keep: a reading with these is not whole, whatever else came. */
  readonly dropped: number;
  readonly isLast: boolean;
  readonly total: number | null;
  /** Why it cannot be the page that was asked for; undefined for a page that can. `moved`: the list became shorter. */
  readonly doubt: string | undefined;
  readonly hasMoved: boolean;
  /** It is doubted only since it should hold more. */
  readonly isShort: boolean;
  /** Nothing in it is new to the reading. */
  isKnown?: boolean;
};

type PageRequest = Pick<Sweep, 'page' | 'since'> & {
  /** How many the page before counted. */
  readonly total?: number | null;
  readonly status?: 'unresolved';
  /** An empty list is asked for once more: nothing that is known yet speaks against it. */
  readonly isFirst?: boolean;
};

/** One page. What cannot be the page that was asked for is asked for once more; then `doubt` says what is wrong with it. */
export async function readPage(pulling: Pulling, name: KindName, asked: PageRequest): Promise<Page> {
  const first = await readOnce(pulling, name, asked);
  const isSuspect = first.doubt !== undefined || first.dropped > 0 || (asked.isFirst && first.records.length === 0);
  return isSuspect ? readOnce(pulling, name, asked) : first;
}

async function readOnce(pulling: Pulling, name: KindName, asked: PageRequest): Promise<Page> {
  const { list } = kindOf(name);
  const { key, paged } = list.answer;
  const { page, since, status, total: before = null } = asked;
  const wanted = {
    page,
    per_page: perPage,
    ...(status && { status }),
    ...(since !== null && { updated_since: since }),
  };
  // A list takes these in its query, which no type of all lists says.
  const body = await pulling.ask(list, (paged ? { query: wanted } : {}) as Input<typeof list>);
  const { last_page: last, total } = fieldsIn(body.meta);
  const held = Array.isArray(body[key]) ? body[key].length : 0;
  const doubt = paged ? pageDoubt(name, body, { page, before, held }) : undefined;
  const short = paged && doubt === undefined ? shortness(name, body, page, held) : undefined;
  return {
    ...usableIn(body[key], tableOf(name).id),
    isLast: !paged || page >= (typeof last === 'number' ? last : page),
    total: typeof total === 'number' ? total : null,
    doubt: doubt ?? short,
    isShort: short !== undefined,
    hasMoved: paged && before !== null && typeof total === 'number' && total < before,
  };
}

/** `before`: how many the page before counted. */
type Shown = { readonly page: number; readonly before: number | null; readonly held: number };

/** Why it cannot be that page of the list, by what the service says of its pages (section "Pagination meta"). */
function pageDoubt(name: KindName, body: Fields, { page, before, held }: Shown): string | undefined {
  const { current_page: current, last_page: last, total } = fieldsIn(body.meta);
  const which = `Page ${number(page)} of ${name}`;
  if (!isCount(last) || !isCount(total)) return `${which} does not say how many there are (meta).`;
  if (current !== undefined && current !== page) return `${which} was asked for, and another page came.`;
  if (before !== null && total < before) {
    return `${which} counts ${number(total)} records, ${number(before)} were counted before: the list moved.`;
  }
  if (total < held) return `${which} holds ${number(held)} records, and counts only ${number(total)} in all.`;
  if (last < Math.ceil(total / perPage)) {
    return `${which} counts ${number(total)} records, and only ${number(last)} pages of ${perPage}.`;
  }
  return undefined;
}

function shortness(name: KindName, body: Fields, page: number, held: number): string | undefined {
  const least = leastOn(fieldsIn(body.meta), page, perPage);
  return held < least ? `Page ${number(page)} of ${name} holds ${held} records in place of ${least}.` : undefined;
}

/** How many the service counts now, of a kind that it lists in pages; null where it does not say. */
export async function countNow(pulling: Pulling, name: KindName): Promise<number | null> {
  const { list } = kindOf(name);
  const ask = async () => {
    const query = { page: 1, per_page: 1 };
    const body = await pulling.ask(list, { query } as Input<typeof list>);
    const { total } = fieldsIn(body.meta);
    return isCount(total) ? total : null;
  };
  return (await ask()) || (await ask());
}

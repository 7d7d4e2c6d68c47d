import { fieldsIn, recordsIn } from '../text/record.ts';
import type { Fields } from './cells.ts';
import { type KindName, kindOf } from './kinds.ts';
import type { Pulling } from './pulling.ts';
import type { KindState, Sweep } from './state.ts';

const perPage = 100;

export type Page = {
  readonly records: readonly Fields[];
  readonly isLast: boolean;
  readonly total: number | null;
  /** Nothing in it is new to the reading. */
  isKnown?: boolean;
};

export async function readPage(
  pulling: Pulling,
  name: KindName,
  { page, since }: Pick<Sweep, 'page' | 'since'>,
): Promise<Page> {
  const { list } = kindOf(name);
  const { key, paged } = list.answer;
  const query = paged ? { page, per_page: perPage, ...(since !== null && { updated_since: since }) } : undefined;
  const body = await pulling.ask(list, query ? { query } : {});
  const records = recordsIn(body[key]);
  const { last_page: last, total } = fieldsIn(body.meta);
  return {
    records,
    isLast: records.length === 0 || page >= (typeof last === 'number' ? last : page),
    total: typeof total === 'number' ? total : null,
  };
}

const spoken = new WeakMap<Pulling, number>();

/** On a terminal at every page, else a line every ten seconds. */
export function tell(pulling: Pulling, name: KindName, { sweep }: KindState): void {
  const { ctx } = pulling;
  const total = sweep?.total;
  const read = Math.min(((sweep?.page ?? 1) - 1) * perPage, total ?? Number.POSITIVE_INFINITY);
  const text = `Pulling ${name}: ${read.toLocaleString('en')}${total ? ` of ${total.toLocaleString('en')}` : ''}`;
  ctx.progress(text);
  const now = ctx.clock.ticks();
  const last = spoken.get(pulling) ?? spoken.set(pulling, now).get(pulling) ?? now;
  if (ctx.stderr.isTTY || now - last < 10_000) return;
  spoken.set(pulling, now);
  ctx.notice(`${text}.`);
}

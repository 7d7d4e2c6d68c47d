import type { Context } from '../../context.ts';
import { requestsPerMinute } from '../../http/exchange/limiter.ts';
import { counted, number } from '../../text/number.ts';
import type { Sweeping } from '../store/state.ts';
import { type KindName, kindOf } from '../tables/kinds.ts';
import { perPage, pulledPerMinute } from './budget.ts';

/** How far a pull is. */
export type Progressing = {
  readonly requests: () => number;
  /** Of those, how many have no answer yet. */
  readonly inFlight: () => number;
  /** The numbers that were told last: none of them goes down. */
  readonly told: { done: number; total: number; at?: number };
  /** How many requests each part of the pull will still need, as far as is known. */
  readonly left: Map<string, number>;
};

type Left = Pick<Progressing, 'left'>;

/**
 * `1,204 of about 4,300 requests · 58 s left in this minute · about 71 min`; the middle only while the limit makes it wait.
 * No number is ever smaller than it was. In the middle of several requests at once those of `tell` stand: what has an
 * answer then is not yet taken from what is left.
 */
export function progressOf(pulling: Progressing, waitMs?: number): string {
  const { told, requests, inFlight } = pulling;
  if (waitMs === undefined || told.total === 0) {
    told.done = Math.max(told.done, requests() - inFlight());
    told.total = Math.max(told.total, told.done + leftOf(pulling));
  }
  const more = leftOf(pulling);
  const first = `${number(told.done)} of about ${number(told.total)} requests`;
  if (waitMs === undefined) return `${first} · ${minutesFor(more)}`;
  // The next ones begin when this minute is over.
  const minutes = Math.ceil(waitMs / 60_000 + Math.max(0, more / pulledPerMinute - 1));
  return `${first} · ${Math.ceil(waitMs / 1000)} s left in this minute · about ${number(minutes)} min`;
}

/** How many requests the pull still needs, as far as is known. */
export function leftOf({ left }: Progressing): number {
  let more = 0;
  for (const some of left.values()) more += some;
  return more;
}

/** How long that many requests take at the service's limit: the last of them begin as the minutes before are over. */
const minutesFor = (requests: number): string =>
  requests <= requestsPerMinute
    ? 'less than a minute'
    : `about ${number(Math.floor((requests - 1) / pulledPerMinute))} min`;

/** What a page tells of the requests that its kind still needs: the pages after it, and a text for each record. */
export function expectPages({ left }: Left, name: KindName, { sweep, complete }: Sweeping, held: number): void {
  const { total, page, whole, isTail, forced } = sweep;
  const after = Math.max(0, (total ?? 0) - (page - 1) * perPage);
  const isRead = kindOf(name).incremental !== 'updates' && !whole;
  const hasTexts = kindOf(name).one?.for === 'text' && (!whole || forced || !complete) && !isTail;
  const pages = isRead ? 0 : Math.ceil(after / perPage);
  left.set(name, pages + (hasTexts ? after + held : 0));
}

/** What the first readings of these kinds need, by the service's counts. */
export function expectFirst({ left }: Left, totals: ReadonlyMap<KindName, number>): void {
  for (const [name, total] of totals) {
    const pages = Math.max(1, Math.ceil(total / perPage));
    // What came meanwhile is on the first page; a list without an order is read twice.
    const again = kindOf(name).incremental === 'whole list' ? pages : 1;
    left.set(name, pages + (pages > 1 ? again : 0) + (kindOf(name).one?.for === 'text' ? total : 0));
  }
}

/** One request less is needed for it. */
export function spent({ left }: Left, part: string, requests = 1): void {
  left.set(part, Math.max(0, (left.get(part) ?? 0) - requests));
}

export const costOf = (requests: number): string =>
  `about ${counted(requests, 'request')}, which takes ${minutesFor(requests)} at ${requestsPerMinute} a minute`;

/** On a terminal each time, else a line every ten seconds. */
export function tell(pulling: Progressing & { readonly ctx: Context }): void {
  const { ctx, told } = pulling;
  const text = progressOf(pulling);
  ctx.progress(text, 'work');
  const now = ctx.clock.ticks();
  told.at ??= now;
  if (ctx.stderr.isTTY || now - told.at < 10_000) return;
  told.at = now;
  ctx.notice(`${text}.`);
}

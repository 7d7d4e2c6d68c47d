import type { Effect } from './effect.ts';
import type { Event } from './event.ts';
import { emptyList, isWide, type Model, type Step, selectedRow, still, windowRows } from './model.ts';
import { keyOf, type Row } from './row.ts';
import { bodyHeight, rowHeight } from './view/sizes.ts';
import { threadLines } from './view/thread.ts';

/** So close to the end of the rows that are here, more are asked for. */
const margin = 40;

/** The row so many further down is selected, or the thread moved where the keys are for that. */
export function moved(model: Model, by: number): Step {
  if (model.focus === 'thread' && by !== 0) return still(scrolled(model, by));
  const { list } = model;
  const last = Math.max(0, (list.total ?? list.offset + list.rows.length) - 1);
  const selected = Math.min(last, Math.max(0, list.selected + by));
  const page = Math.max(1, Math.floor(bodyHeight(model) / rowHeight(model)));
  // No line stays empty while there are rows above it.
  const lowest = Math.max(0, Math.min(selected, last - page + 1));
  const top = Math.min(lowest, Math.max(list.top, selected - page + 1, 0));
  return followed({ ...model, list: { ...list, selected, top } });
}

/** How many lines or rows a page has. */
export const pageOf = (model: Model): number =>
  model.focus === 'thread'
    ? Math.max(1, bodyHeight(model) - 2)
    : Math.max(1, Math.floor(bodyHeight(model) / rowHeight(model)) - 1);

/** Asks for rows of the view from a place on; `ask` is the number of the request. */
const listing = ({ view, words }: Pick<Model, 'view' | 'words'>, ask: number, offset: number): Effect => ({
  ...{ do: 'list', ask, view, ...(words !== undefined && { words }), offset, most: windowRows },
});

/** After the selection: rows that are missing are asked for, and beside the list its thread is opened. */
function followed(model: Model): Step {
  const { list, view } = model;
  const end = list.offset + list.rows.length;
  const isShort = list.total === undefined ? false : end < list.total;
  const isNear = (isShort && list.selected > end - margin) || (list.offset > 0 && list.selected < list.offset + margin);
  const asked = list.asked + (isNear ? 1 : 0);
  const offset = Math.max(0, list.selected - (windowRows >> 1));
  const isAsked = isNear && offset !== list.offset;
  const next = isAsked ? { ...model, list: { ...list, asked } } : model;
  const effects = isAsked ? [listing(model, asked, offset)] : [];
  const row = selectedRow(next);
  if (!isWide(next) || !row || next.focus === 'thread' || isOpened(next, row)) return { model: next, effects };
  const opened = { row, thread: undefined };
  return { model: { ...next, opened, scroll: 0 }, effects: [...effects, { do: 'open', row, view }] };
}

const isOpened = ({ opened }: Model, row: Row): boolean => opened !== undefined && keyOf(opened.row) === keyOf(row);

/** Opens what is selected, and moves to it. */
export function openSelected(before: Model): Step {
  const row = selectedRow(before);
  if (!row) return still(before);
  // What nobody knew of was looked at.
  const { [keyOf(row)]: handled, ...others } = before.handled;
  const model = handled?.seen ? { ...before, handled: others } : before;
  const { view } = model;
  const looked = view === 'unknown' ? [{ do: 'looked' as const, row }] : [];
  if (isOpened(model, row)) return { model: { ...model, focus: 'thread' }, effects: looked };
  return {
    model: { ...model, focus: 'thread', opened: { row, thread: undefined }, scroll: 0 },
    effects: [{ do: 'open', row, view }, ...looked],
  };
}

/**
 * Back to the list. The row that was read is under the marker; where it has left the list the thread of another one
 * comes, and a key that is pressed now was meant for the one that is gone.
 */
export function toList(model: Model): Step {
  const { list, opened, now } = model;
  const at = opened ? list.rows.findIndex((row) => isOpened(model, row)) : -1;
  const selected = at < 0 ? list.selected : list.offset + at;
  const cameAt = opened && at < 0 ? now : list.cameAt;
  return moved({ ...model, focus: 'list', list: { ...list, selected, cameAt } }, 0);
}

/** A thread comes: it is shown where it is still asked for. A newer one of the same record stays where it was read. */
export function withOpened(model: Model, { row, thread, told }: Extract<Event, { is: 'opened' }>): Model {
  if (!isOpened(model, row)) return model;
  const opened = { row, thread, ...(told !== undefined && { failed: told }) };
  return scrolled({ ...model, opened }, 0);
}

function scrolled(model: Model, by: number): Model {
  const most = Math.max(0, threadLines(model).length - bodyHeight(model));
  return { ...model, scroll: Math.min(most, Math.max(0, model.scroll + by)) };
}

/** Marked rows that are no longer in the view, as far as that is known, are marked no longer. */
export function kept(marked: readonly Row[], { list }: Model): readonly Row[] {
  if (marked.length === 0 || list.total === undefined || list.rows.length < list.total) return marked;
  const present = new Map(list.rows.map((row) => [keyOf(row), row]));
  return marked.flatMap((row) => present.get(keyOf(row)) ?? []);
}

/** Another view, from its top. */
export function toView(model: Model, view: string, words?: string): Step {
  const asked = model.list.asked + 1;
  const searchedFrom = model.view === 'search' ? model.searchedFrom : model.view;
  const atTop = { list: emptyList(asked), opened: undefined, focus: 'list', scroll: 0, marked: [] } as const;
  return {
    model: { ...model, ...atTop, view, words, searchedFrom },
    effects: [listing({ view, words }, asked, 0)],
  };
}

/** Asks for the rows that are shown, and for the open thread, once more. */
export function reread(model: Model): Step {
  const { list, view, opened } = model;
  const asked = list.asked + 1;
  const offset = list.rows.length > 0 ? list.offset : 0;
  return {
    model: { ...model, list: { ...list, asked, isBehind: false } },
    effects: [listing(model, asked, offset), ...(opened ? [{ do: 'open' as const, row: opened.row, view }] : [])],
  };
}

/** Rows that were put away leave the list at once. */
export function fileAway(model: Model, rows: readonly Row[]): Step {
  const gone = new Set(rows.map(keyOf));
  const marked = model.marked.filter((row) => !gone.has(keyOf(row)));
  const left = model.focus === 'thread' ? toList(model) : still(model);
  const again = reread({ ...left.model, marked });
  return { ...again, effects: [...left.effects, ...again.effects] };
}

import { cells } from '../../screen/width.ts';
import { counted } from '../../text/number.ts';
import { sanitize } from '../../text/sanitize.ts';
import { ageWords } from '../age.ts';
import { type KeyEntry, keys } from '../keys.ts';
import { type DraftCounts, isWide, type Model } from '../model.ts';
import { hint, type Line, line, type Part, widthOf } from './parts.ts';
import { bodyHeight } from './sizes.ts';
import { threadLines } from './thread.ts';

/**
 * View, number, the place in a long thread, age of the copy, requests left in this minute, drafts that wait: from the
 * left until there is no room.
 */
export function firstLine(model: Model): Line {
  const { list, copy } = model;
  // Where there is no row, the list says itself why.
  const isSaid = list.total === undefined && list.failed === copy.told;
  const [count, ...others] = factsOf(isSaid ? { ...model, copy: { ...copy, told: undefined } } : model);
  const facts = [...(count ? [count] : []), ...placeIn(model), ...others];
  const parts: Part[] = [{ text: ` ${sanitize(titleOf(model))}`, style: 'bold' }];
  for (const { text, style } of facts) {
    const more: Part = { text: `  ${text}`, style: style ?? 'dim' };
    if (widthOf([...parts, more]) > model.size.columns) break;
    parts.push(more);
  }
  return parts;
}

export const titleOf = ({ view, words }: Model): string => (words === undefined ? view : `search: ${words}`);

/** Where the thread is longer than the screen: which of its lines are seen. */
function placeIn(model: Model): readonly Part[] {
  if (!isLong(model)) return [];
  const { length } = threadLines(model);
  return [{ text: `lines ${model.scroll + 1}-${Math.min(length, model.scroll + bodyHeight(model))} of ${length}` }];
}

const isLong = (model: Model): boolean =>
  !model.over &&
  model.opened !== undefined &&
  (isWide(model) || model.focus === 'thread') &&
  threadLines(model).length > bodyHeight(model);

/** What the first line tells, what matters most first. */
export function factsOf({ list, copy, drafts, left, marked, now }: Model): readonly Part[] {
  const age = copy.at === undefined ? undefined : `copy ${ageWords(copy.at, now)} old`;
  return [
    ...(list.total === undefined ? [] : [{ text: String(list.total) }]),
    ...(marked.length > 0 ? [{ text: `${marked.length} marked`, style: 'cyan' as const }] : []),
    ...(age === undefined ? [] : [{ text: copy.isWhole ? age : `${age}, not whole` }]),
    ...(draftWords(drafts) === '' ? [] : [{ text: draftWords(drafts), style: 'orange' as const }]),
    ...(left === undefined ? [] : [leftWords(left)]),
    ...(copy.told === undefined ? [] : [{ text: sanitize(copy.told) }]),
  ];
}

const leftWords = (left: NonNullable<Model['left']>): Part =>
  left === 'no answer' ? { text: 'the service does not answer', style: 'orange' } : { text: `${left} requests left` };

/** In the order in which they are worth their room. */
const order = `help reply take-back approve resolve open end snooze note template draft view search close reopen
  priority mark sides`.split(/\s+/u);

const rankOf = ({ act }: KeyEntry): number => (order.includes(act) ? order.indexOf(act) : order.length);

/** All of the view `drafts`, so that its number and these are one: `2 drafts wait, 1 is refused`. */
function draftWords({ waiting, sending, refused }: DraftCounts): string {
  const states = [
    [waiting, 'waits', 'wait'],
    [sending, 'is being sent', 'are being sent'],
    [refused, 'is refused', 'are refused'],
  ] as const;
  return states
    .filter(([count]) => count > 0)
    .map(([count, one, many], at) => `${at === 0 ? counted(count, 'draft') : count} ${count === 1 ? one : many}`)
    .join(', ');
}

/** The keys that work here, as many as there is room for, in the order of the table. */
export function keyLine(model: Model): Line {
  const working = keys.filter((entry) => entry.brief !== undefined && entry.works(model));
  const kept = new Set<KeyEntry>();
  const scroll: Line = model.focus === 'thread' && isLong(model) ? hint('j k', 'scroll') : [];
  let used = widthOf(scroll);
  for (const entry of [...working].sort((a, b) => rankOf(a) - rankOf(b))) {
    const room = cells(entry.shown) + 1 + cells(entry.brief ?? '') + 2;
    if (used + room > model.size.columns) break;
    used += room;
    kept.add(entry);
  }
  const shown = working.filter((entry) => kept.has(entry)).flatMap(({ shown: key, brief = '' }) => hint(key, brief));
  return shown.length > 0 ? [...scroll, ...shown] : line('');
}

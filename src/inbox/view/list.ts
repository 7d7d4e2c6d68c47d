import { cells, cut, pad, wrap } from '../../screen/width.ts';
import { sanitize } from '../../text/sanitize.ts';
import { ageWords } from '../age.ts';
import { hasMarker, type Model } from '../model.ts';
import { keyOf, nameOf, type Row, whoOf } from '../row.ts';
import { type Line, line, type Part } from './parts.ts';
import { bodyHeight, listWidth, rowHeight } from './sizes.ts';

/** The lines of the list that are on the screen, and no others. `isSelected`: of the row under the cursor. */
export type ListLine = { readonly parts: Line; readonly isSelected: boolean };

export function listLines(model: Model): readonly ListLine[] {
  const { list } = model;
  const count = Math.ceil(bodyHeight(model) / rowHeight(model));
  const total = list.total ?? list.offset + list.rows.length;
  if (total === 0) return emptyLines(model);
  const lines: ListLine[] = [];
  const numberRoom = numberRoomOf(model);
  const marked = new Set(model.marked.map(keyOf));
  // What is told may have taken the line that the selected row stood on.
  const page = Math.max(1, Math.floor(bodyHeight(model) / rowHeight(model)));
  const top = Math.max(list.top, list.selected - page + 1);
  const isShown = hasMarker(model);
  for (let at = top; at < Math.min(total, top + count); at++) {
    const row = list.rows[at - list.offset];
    const isSelected = at === list.selected && isShown;
    const isMarked = row !== undefined && marked.has(keyOf(row));
    const mark = `${isSelected ? '>' : ' '}${isMarked ? '*' : ' '}`;
    const shown = row ? rowLines(model, row, { mark, numberRoom }) : missing(model, mark);
    lines.push(...shown.map((parts) => ({ parts, isSelected })));
  }
  return lines.slice(0, bodyHeight(model));
}

const missing = (model: Model, mark: string): Line[] =>
  Array.from({ length: rowHeight(model) }, (_, at) => line(at === 0 ? `${mark}…` : '', 'dim'));

function emptyLines(model: Model): ListLine[] {
  const { list, view, words, copy } = model;
  const text = list.failed ?? (list.total === undefined ? '' : nothingIn(view, words, copy.isWhole));
  const style = list.failed === undefined ? 'dim' : 'red';
  const lines = wrap(sanitize(text), Math.max(1, listWidth(model) - 2));
  return lines.map((one) => ({ parts: line(` ${one}`, style), isSelected: false }));
}

function nothingIn(view: string, words: string | undefined, isWhole: boolean): string {
  if (words !== undefined) return `Nothing found for ${words}.`;
  const more = isWhole ? '' : ' The copy is not whole yet.';
  if (view === 'waiting') return `Nobody waits.${more}`;
  return `Nothing here.${more}`;
}

/** From 72 columns a row begins with its number, whole. */
const numberRoomOf = (model: Model): number =>
  listWidth(model) < 72 ? 0 : 1 + Math.max(0, ...model.list.rows.map((row) => cells(numberOf(row))));

const numberOf = ({ number, id }: Row): string => sanitize(number ?? `#${id}`);

function rowLines(model: Model, row: Row, { mark, numberRoom }: Pick<Laying, 'mark' | 'numberRoom'>): Line[] {
  const [handled, facts] = [markedAs(model, row), factsOf(row, model.now)];
  const laying = { row, mark, numberRoom, width: listWidth(model), facts, handled };
  return rowHeight(model) === 2 ? twoLines(laying) : [oneLine(laying)];
}

type Mark = readonly [text: string, style: 'green' | 'red' | 'orange'];

/** What was done to it and the copy does not show yet; else that a draft waits for it, or was refused. */
function markedAs({ handled, drafted }: Model, row: Row): Mark | undefined {
  const known = handled[keyOf(row)];
  if (known?.seen) return [`? ${known.mark} `, 'red'];
  if (known) return [`✓ ${known.mark} `, 'green'];
  // The view drafts holds more than what waits.
  if (row.kind === 'draft' && row.status === 'refused') return ['✗ refused ', 'red'];
  return drafted.includes(keyOf(row)) ? ['✎ draft ', 'orange'] : undefined;
}

type Laying = {
  readonly row: Row;
  readonly mark: string;
  readonly numberRoom: number;
  readonly width: number;
  readonly facts: ReturnType<typeof factsOf>;
  readonly handled: Mark | undefined;
};

function factsOf(row: Row, now: number) {
  const { subject, waiting_since: since, priority, channel, why } = row;
  // Until when it is away is what one looks for, and a narrow list cuts the rest.
  const what = why?.startsWith('until ') ? [why, subject] : [subject, why];
  return {
    who: sanitize(whoOf(row)) || (row.kind === 'draft' ? '' : 'anonymous'),
    what: sanitize(what.filter(Boolean).join(' · ') || nameOf(row)),
    age: since === null ? '' : ageWords(since, now),
    priority: priorityOf(priority),
    channel: sanitize(channel ?? ''),
  };
}

const priorityOf = (priority: Row['priority']): string => {
  if (priority === null || priority === '') return '';
  return typeof priority === 'number' ? `P${priority}` : sanitize(priority);
};

const urgent = new Set(['P3', 'P4', 'high', 'urgent']);

const priorityPart = (priority: string, width: number): Part => ({
  text: pad(cut(priority, width), width),
  style: urgent.has(priority) ? 'orange' : 'dim',
});

/** Who, what, how long, priority, channel. */
function oneLine({ row, mark, numberRoom, width, facts, handled }: Laying): Line {
  const channelRoom = width >= 72 ? 9 : 0;
  const who = Math.max(10, Math.min(22, Math.floor(width * 0.24)));
  const right = 7 + 7 + channelRoom;
  const what = Math.max(4, width - 2 - who - 1 - numberRoom - right);
  return [
    { text: mark, style: 'bold' },
    ...(numberRoom > 0 ? [{ text: pad(numberOf(row), numberRoom), style: 'dim' as const }] : []),
    { text: pad(cut(facts.who, who), who + 1), style: 'bold' },
    ...whatPart(facts.what, what, handled),
    { text: pad(cut(facts.age, 6), 7) },
    priorityPart(facts.priority, 7),
    ...(channelRoom > 0 ? [{ text: pad(cut(facts.channel, channelRoom), channelRoom), style: 'dim' as const }] : []),
  ];
}

const whatPart = (what: string, width: number, handled: Mark | undefined): Part[] => {
  if (handled === undefined) return [{ text: pad(cut(what, width - 1), width) }];
  const [told, style] = handled;
  return [{ text: told, style }, { text: pad(cut(what, width - 1 - cells(told)), width - cells(told)) }];
};

function twoLines({ row, mark, width, facts, handled }: Laying): Line[] {
  const right = facts.age === '' ? '' : ` ${facts.age}`;
  const about = [row.number ?? '', facts.channel].filter(Boolean).join(' ');
  const room = width - 2 - cells(right);
  const tail = about === '' ? '' : ` ${about}`;
  const first: Line = [
    { text: mark, style: 'bold' },
    { text: pad(cut(facts.who, room), room), style: 'bold' },
    { text: right },
  ];
  const priority = facts.priority === '' ? [] : [priorityPart(facts.priority, cells(facts.priority) + 1)];
  const used = 2 + priority.reduce((sum, { text }) => sum + cells(text), 0) + cells(tail);
  const second: Line = [
    { text: '  ' },
    ...priority,
    ...whatPart(facts.what, Math.max(4, width - used), handled),
    { text: tail, style: 'dim' },
  ];
  return [first, second];
}

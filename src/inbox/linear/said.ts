import { sanitize } from '../../text/sanitize.ts';
import { cells } from '../../text/width.ts';
import { ageWords } from '../age.ts';
import { choicesIn } from '../asking.ts';
import { keys } from '../keys.ts';
import { type Model, type Over, selectedRow, targetsOf } from '../model.ts';
import { named } from '../over.ts';
import { nameOf, type Row, keyOf as rowKey, whoOf } from '../row.ts';
import { factsOf, titleOf } from '../view/around.ts';
import { jobWords } from '../view/job.ts';
import { overLines } from '../view/over.ts';
import type { Line } from '../view/parts.ts';
import { threadLines } from '../view/thread.ts';

/** So many rows are read out at once. */
const perPage = 10;

/** Numbers that choices have of their own are not mixed with those of their places. */
const hasNumbers = ({ choices }: Extract<Over, { readonly is: 'pick' }>): boolean =>
  choices.every(({ value }) => /^\d+$/u.test(value));

/** The size that the model is laid out for: lines that are read out are broken at 80 cells, or where the terminal ends. */
export const linearSize = (columns = 80): Model['size'] => ({
  columns: Math.max(20, Math.min(80, columns)),
  rows: perPage + 3,
});

const textOf = (line: Line): string =>
  line
    .map(({ text }) => text)
    .join('')
    .trimEnd();

/** What is said once the model became another one: what came, line by line, and nothing that was said before. */
export function said(before: Model | undefined, after: Model): readonly string[] {
  return [
    ...jobsSaid(before, after),
    ...listLines(listSaid(before, after), after),
    ...threadSaid(before, after),
    ...overSaid(before, after),
  ];
}

/** What became of what was asked for, as far as that was not said yet. */
export function jobsSaid(before: Model | undefined, { jobs, now }: Model): string[] {
  const known = new Map(before?.jobs.map((job) => [job.id, job]));
  const isNew = (id: number, state: string, told: string) =>
    known.get(id)?.state !== state || known.get(id)?.told !== told;
  return jobs.filter(({ id, state, told }) => isNew(id, state, told)).map((job) => sanitize(jobWords(job, now)));
}

/** What is said of the list. `rows`: those that are named, each with the number that it is called by. */
type ListSaid = {
  readonly before: readonly string[];
  readonly rows: Places;
  readonly after?: readonly string[];
  /** The numbers of another list, which mean nothing any more. */
  readonly isOther?: true;
};

/** The rows that were said, by the number that each was said with. */
export type Places = ReadonlyMap<number, Row>;

const noRows: Places = new Map();

function listSaid(before: Model | undefined, after: Model): ListSaid {
  const { list, view, words } = after;
  if (after.over || after.focus === 'thread') return { before: [], rows: noRows };
  if (list.failed !== undefined)
    return { before: before?.list.failed === list.failed ? [] : [sanitize(list.failed)], rows: noRows };
  const isOther =
    before === undefined || before.view !== view || before.words !== words || before.list.total === undefined;
  if (isOther && list.total !== undefined) return { ...pageOf(after), before: [headOf(after)], isOther };
  if (before && Math.abs(list.selected - before.list.selected) > 1) return pageOf(after);
  const row = selectedRow(after);
  const was = before && selectedRow(before);
  const count = before && before.list.total !== list.total ? [`${view}: ${list.total}`] : [];
  const isMarked = before && before.marked.length !== after.marked.length ? [`${after.marked.length} marked.`] : [];
  const isSame = !row || (was !== undefined && isOneRow(row, was));
  return { before: [...count, ...isMarked], rows: isSame ? noRows : new Map([[list.selected + 1, row]]) };
}

const listLines = ({ before, rows, after = [] }: ListSaid, { now }: Model): string[] => [
  ...before,
  ...[...rows].map(([place, row]) => rowWords(row, place, now)),
  ...after,
];

/** The numbers that rows are called by once that was said: a number means the row that it was last said with. */
export function placesSaid(known: Places, before: Model | undefined, after: Model): Places {
  const { rows, isOther } = listSaid(before, after);
  return isOther ? rows : new Map([...known, ...rows]);
}

/**
 * Whether nobody can have meant what is asked, or the rows that a key is for: they are said for the first time. `before`: as
 * it was asked last; a row that is opened by a number which was not said is named there alone.
 */
export const isNew = (model: Model, known: Places, before?: Model): boolean => {
  const { over, list } = model;
  if (over) return over.is === 'question';
  const wereNamed = [...known.values(), ...(before ? targetsOf(before) : [])];
  const isKnown = (row: Row) => wereNamed.some((one) => isOneRow(one, row));
  return list.cameAt !== undefined || !targetsOf(model).every(isKnown);
};

export const isOneRow = (one: Row, other: Row): boolean => rowKey(one) === rowKey(other);

const headOf = (model: Model): string =>
  sanitize([titleOf(model), ...factsOf(model).map(({ text }) => text)].join(', '));

function pageOf({ list }: Model): ListSaid {
  if (list.total === 0) return { before: [], rows: noRows, after: ['Nothing here.'] };
  const from = list.selected - list.offset;
  const rows = list.rows.slice(from, from + perPage);
  const last = list.selected + rows.length;
  const total = list.total ?? last;
  return {
    before: [],
    rows: new Map(rows.map((row, at) => [list.selected + at + 1, row])),
    after: last < total ? [`${last} of ${total}; PgDn reads on.`] : [],
  };
}

/** A row as a sentence: who, what, why, how long, priority, channel. */
function rowWords(row: Row, place: number, now: number): string {
  const { subject, why, waiting_since: since, priority, channel, status } = row;
  const parts = [
    `${whoOf(row) || 'anonymous'}: ${subject ?? nameOf(row)}`,
    why,
    since === null ? undefined : `waiting ${ageWords(since, now)}`,
    priority === null ? undefined : `priority ${priority}`,
    channel,
    status,
    row.number,
  ];
  return sanitize(`${place}. ${parts.filter(Boolean).join(', ')}`);
}

function threadSaid(before: Model | undefined, after: Model): string[] {
  if (after.focus !== 'thread' || after.over) return [];
  const isSame =
    before?.focus === 'thread' && before.opened?.thread === after.opened?.thread && before.over === undefined;
  if (isSame || (after.opened?.thread === undefined && after.opened?.failed === undefined)) return [];
  return threadLines(after).map(textOf);
}

function overSaid(before: Model | undefined, after: Model): string[] {
  const { over } = after;
  if (!over || before?.over === over) return [];
  switch (over.is) {
    case 'help':
      return keys.map(({ shown, about }) => `${shown}: ${about}`);
    case 'pick':
      return [
        sanitize(over.title),
        ...choicesIn(over).map(({ name, about }, at) =>
          sanitize(`${hasNumbers(over) ? '' : `${at + 1}. `}${[name, about].filter(Boolean).join(', ')}`),
        ),
      ];
    case 'prompt':
      return over.wrong === undefined ? [] : [sanitize(over.wrong)];
    case 'question':
      return overLines({ ...after, size: { ...after.size, rows: 100_000 } }, over).lines.map(textOf);
  }
}

/** The question that is asked next. */
export function questionOf(model: Model): string {
  const { over } = model;
  if (!over || over.is === 'help') return `${[...hereIs(model), working(model).join(', ')].join(': ')} > `;
  if (over.is === 'pick') return 'A number, or part of a name; Return for none > ';
  if (over.is === 'prompt') return `${sanitize(over.title)} > `;
  return `${over.answers.map(({ key, name }) => `${key} ${name}`).join(', ')}; Return: ${over.otherwise} > `;
}

/** What the next key is for: nothing is done to what was not named. */
function hereIs(model: Model): string[] {
  const rows = targetsOf(model);
  return rows.length === 0 ? [] : [sanitize(named(rows))];
}

/** The keys that work now, the most used first, and no more than a line of them. */
function working(model: Model): string[] {
  const names = keys
    .filter(({ brief, act, works }) => brief !== undefined && act !== 'sides' && works(model))
    .map(({ act, shown, brief = '' }) => ({ act, name: `${shown} ${brief}` }));
  const last = names.filter(({ act }) => act === 'help' || act === 'end').map(({ name }) => name);
  const room = Math.min(80, model.size.columns) - 4 - cells([...hereIs(model), ...last].join(', '));
  const kept: string[] = [];
  const numbers = targetsOf(model).length > 0 ? [{ act: 'open', name: 'a number opens' }] : [];
  for (const { act, name } of [...numbers, ...names])
    if (act !== 'help' && act !== 'end' && cells([...kept, name].join(', ')) < room) kept.push(name);
  return [...kept, ...last];
}

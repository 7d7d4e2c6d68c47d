import { placeIn, placesIn } from '../../batch/places.ts';
import { priorities } from '../../command/priorities.ts';
import type { RowOf } from '../../command/row.ts';
import type { Env } from '../../env.ts';
import { Failure } from '../../errors.ts';
import { firstOf } from '../../text/first-of.ts';
import { nearest } from '../../text/near.ts';
import { zoneDoubt } from '../../text/own-zone.ts';
import { sanitize } from '../../text/sanitize.ts';
import { short } from '../../text/short.ts';
import { isLocal } from '../../text/time.ts';
import type { Columns } from './columns.ts';
import { isStatusElsewhere, remedy } from './remedy.ts';

/** What the cells of other systems mean here. */
export type Values = ReturnType<typeof valuesOf>;

export type ReadAs = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const statuses: Readonly<Record<string, string>> = {
  new: 'open',
  open: 'open',
  pending: 'pending',
  solved: 'resolved',
  resolved: 'resolved',
  closed: 'closed',
};

const words: Readonly<Record<string, Readonly<Record<string, unknown>>>> = { priority: priorities, status: statuses };

/** Reads the cells of a file: by `--map-value` where it names one, else by what everybody calls it. */
export function valuesOf(columns: Columns, row: RowOf, mapValue: readonly string[]) {
  const own = ownValues(columns, mapValue);
  const known = columns.targets.map((target, at) => {
    const path = target?.field?.path ?? '';
    const isOfStep = path === row.after?.field || row.follows?.some(({ fields }) => fields.includes(path)) === true;
    return path === 'priority' || namedAt(columns, at) || isOfStep ? words[path] : undefined;
  });
  const read = new Map<string, Map<string, unknown>>();
  const strange = new Map<number, Set<string>>();
  const local = new Map<string, string>();
  const meaning = (at: number, cell: string): unknown => {
    const key = folded(cell);
    // What --map-value says may be a word itself.
    const mapped = own.get(at)?.get(key);
    const meant: unknown = wordIn(known[at], folded(mapped ?? cell)) ?? mapped;
    if (meant === undefined || meant === cell) return cell;
    // Nobody needs to be told that `Open` is `open`.
    if (meant === key) return meant;
    const name = columns.names[at] ?? '';
    const ofColumn = read.get(name) ?? new Map<string, unknown>();
    read.set(name, ofColumn.set(cell.trim(), mapped ?? meant));
    return meant;
  };
  return {
    /** The cell of the column at that position, as this service has it. */
    of(at: number, cell: unknown) {
      if (typeof cell !== 'string') return cell;
      const value = meaning(at, cell);
      const named = namedAt(columns, at);
      const word = typeof value === 'string' ? value.trim() : '';
      // One that is nearly a known one is refused with its row.
      if (named && word !== '' && !named.includes(word) && nearest(word, named) === undefined)
        strange.set(at, (strange.get(at) ?? new Set()).add(word));
      if (word !== '' && isTimeAt(columns, at) && isLocal(word)) local.set(columns.names[at] ?? '', word);
      return value;
    },
    /** By column: what was read as what. */
    readAs: () => Object.fromEntries([...read].map(([name, values]) => [name, Object.fromEntries(values)])),
    /** A line for each column with values that the document does not name, where the service may know others, or with local times of no zone that is known. */
    doubts: (env: Env) => [
      ...[...strange].map(([at, words]) => doubtOf(columns, at, [...words])),
      ...[...local].flatMap(([name, text]) => zoneDoubt([text], name, env) ?? []),
    ],
  };
}

/** As words of a file are compared: in any case, with any space around them. */
export const folded = (text: string): string => text.normalize('NFC').trim().toLowerCase();

const wordIn = (known: Readonly<Record<string, unknown>> | undefined, key: string): unknown =>
  known && Object.hasOwn(known, key) ? known[key] : undefined;

/** `COLUMN:FROM=TO`. A column may hold a colon itself: the longest name that the file has counts. */
function ownValues({ names }: Columns, texts: readonly string[]): ReadonlyMap<number, ReadonlyMap<string, string>> {
  const own = new Map<number, Map<string, string>>();
  for (const text of texts) {
    const colons = [...text.matchAll(/:/gu)].map(({ index }) => index).reverse();
    const colon = colons.find((at) => placeIn(names, text.slice(0, at).trim()) >= 0);
    const equals = text.indexOf('=', (colon ?? colons.at(-1) ?? 0) + 1);
    if (colons.length === 0 || equals < 0) {
      throw new Failure('usage', `--map-value takes COLUMN:FROM=TO, not "${text}".`);
    }
    if (colon === undefined) {
      const column = text.slice(0, colons.at(-1)).trim();
      throw new Failure('usage', `--map-value: there is no column "${column}".`, {
        hint: sanitize(`Columns: ${names.join(', ')}.`),
      });
    }
    // What a word means does not differ between columns of one name.
    for (const at of placesIn(names, text.slice(0, colon).trim())) {
      const values = own.get(at) ?? new Map<string, string>();
      own.set(at, values.set(folded(text.slice(colon + 1, equals)), text.slice(equals + 1).trim()));
    }
  }
  return own;
}

const isTimeAt = ({ targets }: Columns, at: number): boolean => targets[at]?.field?.shape.format === 'date-time';

/** The values that the document names for that column, where others may exist. */
const namedAt = ({ targets }: Columns, at: number): readonly string[] | undefined => targets[at]?.field?.shape.known;

const mostTold = 8;

function doubtOf(columns: Columns, at: number, words: readonly string[]): string {
  const told = firstOf(words.map(short), mostTold);
  const isOne = words.length === 1;
  const isStatus = columns.targets[at]?.field?.path === 'status';
  const [foreign] = isStatus ? words.filter(isStatusElsewhere) : [];
  const way = foreign === undefined ? '' : remedy(columns.names[at] ?? '', 'status', foreign);
  return `Warning: ${columns.names[at]}: ${told} ${isOne ? 'is' : 'are'} not one of ${(namedAt(columns, at) ?? []).join(', ')}; the service decides${way}.`;
}

/** One line for people; undefined where every value is as it was written. */
export function readAsNote(readAs: ReadAs): string | undefined {
  const columns = Object.entries(readAs).map(([name, values]) => {
    const all = Object.entries(values).map(([from, to]) => `${from} is ${to === '' ? 'empty' : String(to)}`);
    return `${name}: ${firstOf(all, mostTold)}`;
  });
  return columns.length === 0 ? undefined : `Read as: ${columns.join('; ')}.`;
}

import { columnName, plain } from '../tabular/columns.ts';
import { detached } from '../text/detached.ts';
import { keyOf } from './filters.ts';
import { type Says, saysNotLeft, saysWhen } from './mark-headings.ts';

/** A column that says of some people that they want no mail, or get none. */
export type Mark = {
  readonly index: number;
  /** As the cells have them, the most frequent first; of many not all. */
  readonly values: readonly string[];
  readonly rows: number;
  /** By a date or a reason, whatever it says, and no other cell is filled. */
  readonly isAnyValue: boolean;
  /** What its other cells say; of many not all, and undefined where its heading says nothing. */
  readonly others: ReadonlySet<string> | undefined;
};

export type MarkWatch = ReturnType<typeof watchForMarks>;

/** Said of a person in any column. As `plain` leaves them. */
const marks = new Set(
  `unsubscribed unsubscribe unsub optedout optout optedoutofemail bounced bounce hardbounce hardbounced softbounced
  bouncing cleaned complained complaint complainer spamcomplaint spamreport spam markedasspam suppressed suppression
  globallysuppressed nolongersubscribed notsubscribed neversubscribed donotcontact donotemail donotmail undeliverable
  undelivered removed disengaged désabonné désinscrit nonabonné abgemeldet ausgetragen gesperrt baja dadodebaja
  annullato disiscritto uitgeschreven afgemeld`
    .split(/\s+/u)
    .map(plain),
);

/** So many flags somebody types. */
const few = 5;
/** So many values are kept, so that the most frequent are among them. */
const enough = 30;

/** No mark is longer, with its blanks. */
const longest = 30;

const yes = new Set('yes y true 1 x oui ja si sí sim da tak evet wahr vrai vero verdadero verdadeiro waar'.split(' '));
const no = new Set('no n false 0 non nein nee não nej nei nie ne falsch faux falso onwaar'.split(' '));
/** How programs write that there is no date and no reason: `-`, `0000-00-00`. */
const nothing =
  /^(?:[0\s\p{P}]*|(?:1970|1900|0001)-01-01.*|n\/?a|nan|nil|\\n|\(?(?:null|none|never|empty|keine?r?|undefined)\)?)$/iu;

/** `2024-01-31`, `31.01.2024`, `31 Jan 2024`, `Jan 31, 2024`; a time may follow. */
const date = /^(?:\d{4}[-/.]\d|\d{1,2}[-/. ]+[\p{L}\d]{1,9}[-/. ]+\d{2}|\p{L}{3,9}\.? \d{1,2},? \d{4})/u;

type Seen = { readonly counts: Map<string, { value: string; rows: number }>; rows: number; hasAny: boolean };

/** `columns` are those to look at: a name or an address marks nobody. */
export function watchForMarks(headers: readonly string[], columns: readonly number[]) {
  const watched = columns.map((index) => {
    const when = saysWhen(headers[index] ?? '');
    const seen: Seen = { counts: new Map(), rows: 0, hasAny: false };
    const isAny = (cell: string) => when === 'anything' || (when !== undefined && isDate(cell));
    return { index, says: meaningOf(when), isAny, seen, others: when && new Set<string>() };
  });
  return {
    see(cells: readonly string[]) {
      for (const { index, says, isAny, seen, others } of watched) {
        const cell = cells[index];
        if (cell === undefined || cell === '') continue;
        if (says(cell)) count(seen, cell, isAny(cell));
        else if (others && others.size <= few && cell.trim() !== '') others.add(detached(keyOf(cell)));
      }
    },
    found: () =>
      watched
        .filter(({ seen }) => seen.rows > 0)
        .map(({ index, seen: { counts, rows, hasAny }, others }) => ({
          index,
          values: [...counts.values()].toSorted((a, b) => b.rows - a.rows).map(({ value }) => value),
          rows,
          isAnyValue: hasAny && others?.size === 0,
          others,
        })),
  };
}

function count(seen: Seen, cell: string, isAny: boolean): void {
  seen.rows++;
  seen.hasAny ||= isAny;
  const key = keyOf(cell);
  const known = seen.counts.get(key);
  if (known) known.rows++;
  // Dates are as many as people.
  else if (seen.counts.size < enough) seen.counts.set(detached(key), { value: detached(cell.trim()), rows: 1 });
}

const isDate = (cell: string): boolean => date.test(cell.trim()) && !nothing.test(cell.trim());

function meaningOf(when: Says | undefined): (cell: string) => boolean {
  const saying = (words: ReadonlySet<string>, cell: string) => words.has(cell.trim().toLowerCase());
  switch (when) {
    case 'anything':
      return (cell) => !saying(no, cell) && !nothing.test(cell.trim()) && !saysNotLeft(cell);
    case 'yes':
      return (cell) => saying(yes, cell) || isDate(cell) || isMark(cell);
    case 'no':
      return (cell) => saying(no, cell) || isMark(cell);
    default:
      return isMark;
  }
}

/** Most cells need no closer look: digits, and words that no mark begins with. */
const beginning =
  /^\s*(?:unsub|unde|uitg|opt|bounc|hard|soft|clean|compl|spam|marked|supp|glob|no longer|not|never|do[ _-]?not|remov|disen|d[ée]s|non|abge|ausg|gesp|baja|dado|annull|disis|afge)/iu;

/** Signs would have a meaning to the shell that the flag is typed in. */
const words = /^[\p{L}\p{M}\p{N} _.-]+$/u;

const isMark = (cell: string): boolean =>
  cell.length <= longest &&
  !isDigit(cell.charCodeAt(0)) &&
  beginning.test(cell) &&
  words.test(cell) &&
  marks.has(plain(cell));

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** What to type to leave those people out; undefined where that were too much to type, or the shell would take it otherwise. */
export function flagsFor({ index, values, isAnyValue, others }: Mark, headers: readonly string[]): string | undefined {
  const name = columnName(headers, index);
  const flags = (flag: string, texts: readonly string[]): string | undefined =>
    texts.length <= few && texts.every((text) => typeable.test(text))
      ? texts.map((text) => `${flag} "${name}=${text}"`).join(' ')
      : undefined;
  const kept = others && flags('--only', ['', ...others]);
  return isAnyValue ? kept : (flags('--skip', values) ?? kept);
}

const typeable = /^[\p{L}\p{M}\p{N} _.,:/+-]{0,40}$/u;

import { columnName, plain } from '../tabular/columns.ts';
import { detached } from '../text/detached.ts';
import { type Says, saysWhen } from './mark-headings.ts';

/** A column that says of some people that they want no mail, or get none. */
export type Mark = {
  readonly index: number;
  /** As the cells have them, the most frequent first. */
  readonly values: readonly { readonly value: string; readonly rows: number }[];
  readonly rows: number;
  /** By a date or a reason, whatever it says: a cell that is not blank. */
  readonly isAnyValue: boolean;
};

export type MarkWatch = { see(cells: readonly string[]): void; found(): Mark[] };

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

/** No mark is longer, with its blanks. */
const longest = 30;

const yes = new Set('yes y true 1 x oui ja si sí sim da tak evet wahr vrai vero verdadero verdadeiro waar'.split(' '));
const no = new Set('no n false 0 non nein nee não nej nei nie ne falsch faux falso onwaar'.split(' '));

/** `2024-01-31`, `31.01.2024`, `31 Jan 2024`, `Jan 31, 2024`; a time may follow. */
const date = /^(?:\d{4}[-/.]\d|\d{1,2}[-/. ]+[\p{L}\d]{1,9}[-/. ]+\d{2}|\p{L}{3,9}\.? \d{1,2},? \d{4})/u;

/** `columns` are those to look at: a name or an address marks nobody. */
export function watchForMarks(headers: readonly string[], columns: readonly number[]): MarkWatch {
  const seen = new Map<number, Map<string, number>>();
  const watched = columns.map((index) => {
    const when = saysWhen(headers[index] ?? '');
    return { index, says: meaningOf(when), isAny: (cell: string) => when === 'anything' || (when && isDate(cell)) };
  });
  return {
    see(cells) {
      for (const { index, says, isAny } of watched) {
        const cell = cells[index];
        if (cell === undefined || cell === '' || !says(cell)) continue;
        const values = seen.get(index) ?? new Map<string, number>();
        const value = isAny(cell) ? '' : detached(cell.trim());
        values.set(value, (values.get(value) ?? 0) + 1);
        seen.set(index, values);
      }
    },
    found: () =>
      [...seen].map(([index, values]) => ({
        index,
        values: [...values].map(([value, rows]) => ({ value, rows })).toSorted((a, b) => b.rows - a.rows),
        rows: [...values.values()].reduce((sum, rows) => sum + rows, 0),
        isAnyValue: values.has(''),
      })),
  };
}

const isDate = (cell: string): boolean => date.test(cell.trim());

function meaningOf(when: Says | undefined): (cell: string) => boolean {
  const saying = (words: ReadonlySet<string>, cell: string) => words.has(cell.trim().toLowerCase());
  switch (when) {
    case 'anything':
      return (cell) => cell.trim() !== '' && !saying(no, cell);
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

/** What to type to leave those people out. */
export function flagsFor({ index, values, isAnyValue }: Mark, headers: readonly string[]): string {
  const name = columnName(headers, index);
  if (isAnyValue) return `--only "${name}="`;
  return values
    .slice(0, 3)
    .map(({ value }) => `--skip "${name}=${value}"`)
    .join(' ');
}

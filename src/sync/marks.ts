import { columnName, plain } from '../tabular/columns.ts';
import { detached } from '../text/detached.ts';

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

/** A yes in a column of such a name says the same, and so does a no in one of these. */
const badWhenYes =
  /^(?:is|has|email)?(?:unsubscribed|unsubscribe|optedout|optout|bounced|hardbounced|suppressed|donotcontact|donotemail|donotmail|complained|optedoutofemail|blacklisted|blocklisted|emailblacklisted|abgemeldet|ausgetragen|desabonne|desinscrit|baja|disiscritto|uitgeschreven|afgemeld)(?:from(?:all)?emails?|ofemail|emails?|all)?$/u;
const badWhenNo =
  /^(?:is|has)?(?:(?:email)?subscribed(?:toemails?)?|activesubscription|subscriptionactive|emailoptin|optin|optedin|emailoptedin|accepts(?:email)?marketing|email(?:marketing)?consent|marketingconsent|marketingoptin|newsletteroptin|canemail)$/u;
const badWhenFilled =
  /^(?:unsub(?:scribed?)?|optout|optedout|bounced?|cleaned?|suppress(?:ed|ion)|complain(?:ed|t))(?:at|on|time|date|reason|timestamp|campaigntitle|dateutc)$/u;

const yes = new Set(['yes', 'y', 'true', '1', 'x', 'oui', 'ja', 'si', 'sí']);
const no = new Set(['no', 'n', 'false', '0', 'non', 'nein']);

/** `columns` are those to look at: a name or an address marks nobody. */
export function watchForMarks(headers: readonly string[], columns: readonly number[]): MarkWatch {
  const seen = new Map<number, Map<string, number>>();
  const watched = columns.map((index) => {
    const header = plain(headers[index] ?? '');
    return { index, says: meaningOf(header), isAny: badWhenFilled.test(header) };
  });
  return {
    see(cells) {
      for (const { index, says, isAny } of watched) {
        const cell = cells[index];
        if (cell === undefined || cell === '' || !says(cell)) continue;
        const values = seen.get(index) ?? new Map<string, number>();
        const value = isAny ? '' : detached(cell.trim());
        values.set(value, (values.get(value) ?? 0) + 1);
        seen.set(index, values);
      }
    },
    found: () =>
      [...seen].map(([index, values]) => ({
        index,
        values: [...values].map(([value, rows]) => ({ value, rows })).toSorted((a, b) => b.rows - a.rows),
        rows: [...values.values()].reduce((sum, rows) => sum + rows, 0),
        isAnyValue: badWhenFilled.test(plain(headers[index] ?? '')),
      })),
  };
}

function meaningOf(header: string): (cell: string) => boolean {
  if (badWhenFilled.test(header)) return (cell) => cell.trim() !== '';
  if (badWhenYes.test(header)) return (cell) => yes.has(cell.trim().toLowerCase()) || isMark(cell);
  if (badWhenNo.test(header)) return (cell) => no.has(cell.trim().toLowerCase()) || isMark(cell);
  return isMark;
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

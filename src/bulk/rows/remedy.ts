import { shellWord } from '../../text/shell-word.ts';

/** What other systems, in the languages that they are set to, call a status. */
const statuses: Readonly<Record<string, string>> = {
  open: 'active reopened inprogress workinprogress inbearbeitung offen neu ouvert nouveau encours abierto nuevo aperto aberto otwarte nieuw',
  pending:
    'hold onhold waiting waitingoncustomer waitingforcustomer waitingonthirdparty awaitingreply wartend wartet zurückgestellt inwartestellung enattente enespera pendiente inattesa pendente oczekujące inafwachting',
  resolved:
    'done fixed complete completed gelöst erledigt behoben résolu resuelto risolto resolvido rozwiązane opgelost',
  closed:
    'geschlossen abgeschlossen archived fermé clos cerrado chiuso fechado zamknięte gesloten stängd lukket suljettu',
};

const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}]+/gu, '');

const known = new Map(
  Object.entries(statuses).flatMap(([status, words]) => words.split(' ').map((word) => [plain(word), status] as const)),
);

/** Another system calls a status so. */
export const isStatusElsewhere = (word: string): boolean => known.has(plain(word));

const longest = 200;

/** What a person types for a word that the service does not know: its meaning where that is known, else which field's value goes there. */
export function remedy(column: string, field: string, text: string): string {
  const meant = (field === 'status' ? known.get(plain(text)) : undefined) ?? field.replace(/^.*\./u, '').toUpperCase();
  // What is cut could not be typed.
  if (text.length > longest) return '';
  const value = `${column}:${text}=${meant}`;
  // The cell is somebody else's: in double quotes a shell would run what stands in it.
  return ` (to read it: --map-value ${inDoubleQuotes.test(value) ? `"${value}"` : shellWord(value)})`;
}

const inDoubleQuotes = /^[\p{L}\p{M}\p{N} _.,;:/+=()#-]*$/u;

/** A date as spreadsheets write it, as the service reads it; both where it may be either. */
export function isoDates(text: string): readonly string[] {
  const [, first, sign, second, year] = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})\b/u.exec(text.trim()) ?? [];
  const iso = (month: string | undefined, day: string | undefined): string[] => {
    const date = `${year}-${month?.padStart(2, '0')}-${day?.padStart(2, '0')}`;
    const time = new Date(`${date}T00:00:00Z`);
    // A day that the month does not have would be read as one of the next.
    return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(date) ? [date] : [];
  };
  // Whoever writes points has the day first.
  const ways = sign === '.' ? iso(second, first) : [...iso(first, second), ...iso(second, first)];
  return [...new Set(ways)];
}

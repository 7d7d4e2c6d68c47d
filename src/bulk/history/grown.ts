import { rowsInWords } from '../../batch/pace.ts';
import { Failure } from '../../errors.ts';
import type { FileRow } from '../../tabular/rows.ts';
import { firstOf } from '../../text/first-of.ts';
import type { Found } from '../journal/on-disk.ts';
import type { Past } from '../journal/reader.ts';
import { noRequest, type Plan } from '../rows/plan.ts';
import { contentReader, type RowShape, shapeKey } from '../rows/row-content.ts';
import { createNumbering } from '../rows/row-requests.ts';
import { type Drafted, fateOf } from './drafted.ts';
import type { Judges } from './judges.ts';
import { type Goes, type Match, type Matches, type OpenMatches, otherNames } from './match-table.ts';
import { origins } from './origins.ts';

/** A row that would be sent as a new one, though all that an earlier row held stands in it: an export with one more column. */
export type Grown = Match & { readonly line: number };

/** Columns that rows of earlier runs fill, and those runs. */
type Earlier = { readonly shape: RowShape; readonly runs: Found[] };

export type Judged = { readonly journals: Judges; readonly drafted: Drafted; readonly goesOn?: Goes | undefined };

/** Reads the file once more where an earlier run had rows that fill fewer columns. */
export async function grownRows(plan: Plan, judged: Judged, matches: Matches): Promise<Grown[]> {
  const grown: Grown[] = [];
  const { shapeOf } = contentReader(plan.columns);
  const fits: Fits = (shape, row) => isLess(shape, shapeOf(row));
  for await (const { ref, match, line } of sentWithLess(plan, judged, matches, fits))
    if (!judged.goesOn?.(ref, match)) grown.push({ ...match, line });
  return grown;
}

/** Rows that are those of an earlier run but for cells that `--map` says to ignore: as if those were not in the file. */
export async function matchCounted(plan: Plan, judged: Judged, matches: OpenMatches): Promise<OpenMatches> {
  if (plan.columns.ignored.size === 0) return matches;
  const { countedOf } = contentReader(plan.columns);
  const fits: Fits = (shape, row) => isSame(shape, countedOf(row));
  const taken = new Set<string>();
  for await (const { ref, match } of sentWithLess(plan, judged, matches, fits)) {
    if (taken.has(match.key)) continue;
    taken.add(match.key);
    matches.set(ref, match);
  }
  return matches;
}

/** Whether a row may be one of an earlier run that filled these columns. */
type Fits = (shape: RowShape, row: FileRow) => boolean;

/** Rows that nothing is known of, and that an earlier run sent with some of their columns, as `fits` tells. */
async function* sentWithLess(
  plan: Plan,
  { journals: { all, isSame: isSameWork }, drafted }: Judged,
  matches: Matches,
  fits: Fits,
): AsyncGenerator<{ readonly ref: string; readonly line: number; readonly match: Match }, void, undefined> {
  const earlier = earlierShapes(plan, all);
  if (earlier.length === 0) return;
  const { nameOf, nameBy } = contentReader(plan.columns);
  const known = otherNames(matches, plan.refs);
  const numbered = createNumbering(plan.refs.names);
  let index = 0;
  const sentOf = (row: FileRow, ref: string): Match | undefined => {
    for (const { shape, runs } of earlier) {
      if (!fits(shape, row)) continue;
      const name = nameBy(row, shape);
      for (const from of runs) {
        if (!isSameWork(from, ref)) continue;
        const key = nameNow(from.past, name);
        const rowStatus = from.past.rowStatuses.get(key);
        const isOver = plan.refs.has(key) || known.has(key);
        if (!rowStatus || isOver) continue;
        // What the service rejected may go in another form; what a person rejected is known in each.
        if (rowStatus.status === 'rejected' && fateOf(drafted, { from, key }) !== 'rejected') continue;
        return { rowStatus, key, from };
      }
    }
    return undefined;
  };
  for await (const batch of plan.rows.read()) {
    for (const row of batch) {
      const ref = numbered(nameOf(row), index++);
      if (matches.has(ref) || plan.refs.get(ref) === noRequest) continue;
      const match = sentOf(row, ref);
      if (match) yield { ref, line: row.line, match };
    }
  }
}

/** Far more often than anybody exports a file again. */
const mostNames = 20;

/** What the journal calls a row now that an earlier run of it called so: a later one knows rows by more columns, or by others. */
function nameNow({ rowStatuses, former }: Pick<Past, 'rowStatuses' | 'former'>, name: string): string {
  let now = name;
  for (let i = 0; i < mostNames && !rowStatuses.has(now); i++) {
    const next = former.get(now);
    if (next === undefined) break;
    now = next;
  }
  return now;
}

/** Each once, however many runs had it: to name a row takes longer than to look for it. */
function earlierShapes({ shapes }: Plan, journals: readonly Found[]): Earlier[] {
  const found = new Map<string, Earlier>();
  for (const from of journals) {
    for (const shape of from.past.shapes) {
      const key = shapeKey(shape);
      const known = found.get(key);
      if (known?.runs.includes(from)) continue;
      if (known) known.runs.push(from);
      else if (shapes.some((now) => isLess(shape, now))) found.set(key, { shape, runs: [from] });
    }
  }
  return [...found.values()];
}

const isLess = (shape: RowShape, now: RowShape): boolean =>
  shape.length > 0 && shape.length < now.length && shape.every((key) => now.includes(key));

const isSame = (shape: RowShape, now: RowShape): boolean =>
  shape.length > 0 && shape.length === now.length && shape.every((key) => now.includes(key));

/** So many are named. */
const mostNamed = 10;

export function linesOf(rows: readonly Grown[]): string {
  const lines = rows.map(({ line }) => line);
  return `${lines.length === 1 ? 'line' : 'lines'} ${firstOf(lines, mostNamed)}`;
}

/** What `--again` would send beside the rows for which it is advised. `elsewhere`: rows that other files have sent. */
export function againBeside(elsewhere: number): string {
  if (elsewhere === 0) return 'add --again.';
  const [rows, were] = [rowsInWords(elsewhere), elsewhere === 1 ? 'was' : 'were'];
  return `put them into a file of their own and add --again: over this file it would send ${rows} more that ${were} sent from another one.`;
}

/** Refused whatever `--yes` says: a script passes that every time, and a customer would hear it twice. */
export function refuseGrown(grown: readonly Grown[], { rows }: Pick<Plan, 'rows'>, elsewhere: number): void {
  if (grown.length === 0) return;
  const hold = grown.length === 1 ? 'holds' : 'hold';
  throw new Failure(
    'usage',
    `${rowsInWords(grown.length)} of ${rows.source.name} ${hold} what was sent before, ${origins(grown.map(({ from }) => from))}, and more: ${linesOf(grown)}.`,
    {
      hint: `Nothing was sent now. Leave the cells that came since out of the file, and svc knows the rows again. To send them as new rows, ${againBeside(elsewhere)}`,
    },
  );
}

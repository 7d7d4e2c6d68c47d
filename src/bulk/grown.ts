import { Failure } from '../errors.ts';
import type { FileRow } from '../tabular/rows.ts';
import type { Found } from './journals-on-disk.ts';
import { rowsInWords } from './pace.ts';
import { noRequest, type Plan } from './plan.ts';
import { origins } from './resume.ts';
import { contentReader, createNumbering, type RowShape } from './row-content.ts';
import type { Match } from './weigh.ts';

/** A row that would be sent as a new one, though all that an earlier row held stands in it: an export with one more column. */
export type Grown = Match & { readonly line: number };

/** Columns that rows of earlier runs fill, and those runs. */
type Earlier = { readonly shape: RowShape; readonly runs: Found[] };

/** Reads the file once more where an earlier run had rows that fill fewer columns. */
export async function grownRows(
  plan: Plan,
  journals: readonly Found[],
  matches: ReadonlyMap<string, Match>,
): Promise<Grown[]> {
  const earlier = earlierShapes(plan, journals);
  if (earlier.length === 0) return [];
  const { nameOf, shapeOf, nameBy } = contentReader(plan.columns);
  const taken = new Set([...matches.values()].map(({ key }) => key));
  const numbered = createNumbering();
  /** What an earlier run sent with some of the columns of this row, and no row of this file is. */
  const sentOf = (row: FileRow): Match | undefined => {
    const now = shapeOf(row);
    for (const { shape, runs } of earlier) {
      if (!isLess(shape, now)) continue;
      const name = nameBy(row, shape);
      for (const from of runs) {
        const key = nameNow(from, name);
        const fate = from.past.fates.get(key);
        const isOver = taken.has(key) || plan.refs.has(key);
        if (fate && fate.status !== 'rejected' && !isOver) return { fate, key, from };
      }
    }
    return undefined;
  };
  const grown: Grown[] = [];
  for await (const batch of plan.rows.read()) {
    for (const row of batch) {
      const ref = numbered(nameOf(row));
      if (matches.has(ref) || plan.refs.get(ref) === noRequest) continue;
      const match = sentOf(row);
      if (match) grown.push({ ...match, line: row.line });
    }
  }
  return grown;
}

/** Each once, however many runs had it: to name a row takes longer than to look for it. */
function earlierShapes({ shapes }: Plan, journals: readonly Found[]): Earlier[] {
  const found = new Map<string, Earlier>();
  for (const from of journals) {
    for (const shape of from.past.shapes) {
      const key = shape.join('\n\n');
      const known = found.get(key);
      if (known?.runs.includes(from)) continue;
      if (known) known.runs.push(from);
      else if (shapes.some((now) => isLess(shape, now))) found.set(key, { shape, runs: [from] });
    }
  }
  return [...found.values()];
}

/** Far more often than anybody exports a file again. */
const mostNames = 20;

/** A row that a later run knows by more columns. */
function nameNow({ past: { fates, former } }: Found, name: string): string {
  let now = name;
  for (let i = 0; i < mostNames && !fates.has(now); i++) now = former.get(now) ?? now;
  return now;
}

const isLess = (shape: RowShape, now: RowShape): boolean =>
  shape.length > 0 && shape.length < now.length && shape.every((key) => now.includes(key));

/** So many are named. */
const mostNamed = 10;

/** Refused whatever `--yes` says: a script passes that every time, and a customer would hear it twice. */
export function refuseGrown(grown: readonly Grown[], { rows }: Pick<Plan, 'rows'>): void {
  if (grown.length === 0) return;
  const lines = grown.slice(0, mostNamed).map(({ line }) => line);
  const more = grown.length > lines.length ? `, and ${grown.length - lines.length} more` : '';
  const hold = grown.length === 1 ? 'holds' : 'hold';
  const where = `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}${more}`;
  throw new Failure(
    'usage',
    `${rowsInWords(grown.length)} of ${rows.source.name} ${hold} what was sent before, ${origins(grown)}, and more: ${where}.`,
    {
      hint: 'Nothing was sent now. Leave the cells that came since out of the file, and svc knows the rows again. To send them as new rows, add --again.',
    },
  );
}

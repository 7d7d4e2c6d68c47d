import { commandLine, definitions, filled, helpWidth } from '../text/layout.ts';

export type Row = readonly [term: string, about: string];

/** A topic is paragraphs, tables of terms, points and command lines, each laid out for the width. */
type Part =
  | { readonly say: string }
  | { readonly rows: readonly Row[] }
  | { readonly points: readonly string[] }
  | { readonly run: readonly string[] };

/** The text of a topic, for a screen of so many columns. */
export const laidOut =
  (parts: readonly Part[]) =>
  (columns?: number): string => {
    const width = helpWidth(columns);
    return `${parts.map((part) => partOf(part, width)).join('\n\n')}\n`;
  };

function partOf(part: Part, width: number): string {
  if ('say' in part) return filled(part.say, width);
  if ('rows' in part) return definitions(part.rows, width);
  if ('points' in part) return part.points.map((point) => `  - ${filled(point, width, '    ').trimStart()}`).join('\n');
  return part.run.map((line) => commandLine(line, width)).join('\n');
}

import type { Terminal } from '../output/view.ts';
import { number } from '../text/number.ts';
import { sanitize } from '../text/sanitize.ts';
import { cut, pad, wrap } from '../text/width.ts';
import type { Files } from './ending.ts';

/** What is wrong with a row. `email`: what a row of contacts is known by. */
export type Problem = { readonly line: number; readonly error: string; readonly email?: string };

/** On a terminal that many problems are enough to see what is wrong; the files have them all. */
export const shownProblems = 10;

/** The first problems as a table, below what became of the rows. */
export function problemLines(errors: readonly Problem[], files: Files, { width, paint }: Terminal): string[] {
  const shown = errors.slice(0, shownProblems);
  if (shown.length === 0) return [];
  const lineRoom = Math.max(4, ...shown.map(({ line }) => String(line).length));
  const hasEmails = shown.some(({ email }) => email !== undefined);
  const emailRoom = Math.min(32, Math.max(5, ...shown.map(({ email = '' }) => email.length)));
  const before = (line: string, email = ''): string =>
    `  ${line.padStart(lineRoom)}  ${hasEmails ? `${pad(cut(sanitize(email), emailRoom), emailRoom)}  ` : ''}`;
  const room = lineRoom + 4 + (hasEmails ? emailRoom + 2 : 0);
  const more = errors.length - shown.length;
  return [
    '',
    paint('dim', `${before('line', 'email')}problem`),
    ...shown.flatMap(({ line, email, error }) =>
      wrap(sanitize(error), Math.max(20, width - room)).map(
        (text, at) => (at === 0 ? before(String(line), email) : ' '.repeat(room)) + text,
      ),
    ),
    ...(more > 0 ? wrap(moreProblems(more, files), width).map((text) => paint('dim', text)) : []),
  ];
}

/** Below the first problems: where the others are. */
const moreProblems = (more: number, { rejects, report }: Files) =>
  `  … and ${number(more)} more${
    rejects === undefined && report === undefined
      ? '; --rejects FILE or --report FILE has them all'
      : `, all in ${sanitize(rejects ?? report ?? '')}`
  }`;

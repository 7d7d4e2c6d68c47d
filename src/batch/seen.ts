import { detached } from '../text/detached.ts';
import { sanitize } from '../text/sanitize.ts';
import { beginning } from '../text/short.ts';

/** How many lines, and the first few of them with their text. */
export type Seen = ReturnType<typeof newSeen>;

const mostExamples = 3;
const longestExample = 60;

export function newSeen() {
  const examples: { readonly line: number; readonly text: string }[] = [];
  const seen = {
    count: 0,
    examples,
    add(line: number, text: string): void {
      if (++seen.count <= mostExamples) examples.push({ line, text: detached(beginning(text, longestExample)) });
    },
  };
  return seen;
}

export const examplesOf = ({ count, examples }: Seen): string =>
  examples.map(({ line, text }) => `line ${line}: ${sanitize(text)}`).join('; ') +
  (count > examples.length ? '; …' : '');

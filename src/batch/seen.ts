import { detached } from '../text/detached.ts';
import { sanitize } from '../text/sanitize.ts';

/** How many lines, and the first few of them with their text. */
export type Seen = {
  count: number;
  readonly examples: { readonly line: number; readonly text: string }[];
  add(line: number, text: string): void;
};

const mostExamples = 3;
const longestExample = 60;

export function newSeen(): Seen {
  const seen: Seen = {
    count: 0,
    examples: [],
    add(line, text) {
      if (++seen.count > mostExamples) return;
      const shown = text.length > longestExample ? `${text.slice(0, longestExample - 1)}…` : text;
      seen.examples.push({ line, text: detached(shown) });
    },
  };
  return seen;
}

export const examplesOf = ({ count, examples }: Seen): string =>
  examples.map(({ line, text }) => `line ${line}: ${sanitize(text)}`).join('; ') +
  (count > examples.length ? '; …' : '');

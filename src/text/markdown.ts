import { Marked } from 'marked';

/**
 * The Markdown library for one text. To every mark of emphasis it looks at all that follow in the paragraph, and at some
 * several times, so that a few KB of them take minutes. A text that has far too many keeps the rest as they were typed.
 * Throws a RangeError for one that even so takes too long.
 */
export function markdownFor(text: string): Marked {
  if (stepsThrough(text) > mostSteps) throw new RangeError('it has too many marks in one word');
  // A paragraph that thanks seven hundred people in bold has room in it; of one with twenty marks these are some hundred looks.
  let looksLeft = 10_000_000 + text.length;
  let paragraph = '';
  let marks = 0;
  return new Marked({
    tokenizer: {
      emStrong(src, masked) {
        if (!/^[*_]/u.test(src)) return undefined;
        if (masked !== paragraph) [paragraph, marks] = [masked, marksIn(masked)];
        looksLeft -= marks;
        // False: the library itself reads it.
        return looksLeft > 0 ? false : undefined;
      },
    },
  });
}

const mostSteps = 50_000_000;

/** Behind every mark the library reads to the end of the word: it could be an address of mail. */
const stepsThrough = (text: string): number =>
  withoutFences(text)
    .split(/\s+/u)
    .reduce((steps, word) => steps + (word.length > 1_000 ? word.length * marksIn(word) : 0), 0);

/** Nobody looks for marks in a block of code, which may hold a line of any length. */
function withoutFences(text: string): string {
  let fence = '';
  const kept = text.split('\n').filter((line) => {
    const [, mark = ''] = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/u.exec(line) ?? [];
    if (fence === '') fence = mark;
    else if (mark.startsWith(fence) && line.trim() === mark) fence = '';
    return fence === '';
  });
  return kept.join('\n');
}

const marksIn = (text: string): number => text.split(/[*_`~]/u).length - 1;

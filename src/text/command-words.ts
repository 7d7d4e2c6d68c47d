import { Failure } from '../errors.ts';

/** Words as a shell would see them, of quotes and backslashes alone: nothing is expanded, nothing else is special. */
export function splitWords(text: string, flag: string): string[] {
  const words: string[] = [];
  const pattern = /(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/gsu;
  let end = 0;
  for (const { 0: word, index } of text.matchAll(pattern)) {
    if (text.slice(end, index).trim() !== '') break;
    words.push(
      word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/gsu, (_, double, single, escaped) =>
        double !== undefined ? double.replace(/\\(["\\])/gu, '$1') : (single ?? escaped),
      ),
    );
    end = index + word.length;
  }
  if (text.slice(end).trim() !== '') throw new Failure('usage', `${flag} has a quote that does not end: ${text}`);
  return words;
}

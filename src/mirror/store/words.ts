/** The words of a text, for the full-text index of either engine: both get the same words, and split nothing themselves. */

/** Scripts that are written without spaces, and Korean, whose words carry endings. */
const scripts = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar'];
const unspacedLetter = `[ー${scripts.map((script) => `\\p{Script=${script}}`).join('')}]`;
const unspaced = new RegExp(unspacedLetter, 'u');
const runs = new RegExp(`${unspacedLetter}+|(?:(?!${unspacedLetter})[\\p{L}\\p{N}\\p{M}])+`, 'gu');
/** Accents of scripts that people also type without. */
const accents = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\u0300-\u036f]+/gu;

/** No index needs more of one word, and none takes words without end. */
const longestWord = 100;
const mostWords = 10_000;

/** In lower case, without accents; a run of a script without spaces as pairs of its characters. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [run] of folded(text).matchAll(runs)) {
    if (unspaced.test(run)) words.push(...pairs(run));
    else words.push(cut(run));
    if (words.length >= mostWords) return words.slice(0, mostWords);
  }
  return words;
}

const folded = (text: string): string =>
  text.toWellFormed().normalize('NFKD').replace(accents, '$1').toLowerCase().normalize('NFC');

const cut = (word: string): string => (word.length > longestWord ? [...word].slice(0, longestWord).join('') : word);

/** 東京都 as 東京, 京都, 都: each pair, and the last character, which a search for it alone finds. */
function pairs(run: string): string[] {
  const characters = [...run];
  return characters.map((character, at) => character + (characters[at + 1] ?? ''));
}

/** What is looked for: all of the phrases, each of words that follow each other, the last of them perhaps begun only. */
export type Phrase = { readonly words: readonly string[]; readonly isBegun: boolean };

/** A word as typed is found wherever a word begins with it; in "double quotes" it is found as it is. */
export function phrasesOf(text: string): Phrase[] {
  const phrases: Phrase[] = [];
  for (const [, quoted, word = ''] of text.matchAll(/"([^"]+)"|(\S+)/gu)) {
    const words = wordsOf(quoted ?? word);
    // The last character of a run stands alone in the index only where the run ends in the text too.
    if (words.length > 1 && unspaced.test(words.at(-1) ?? '') && [...(words.at(-1) ?? '')].length === 1) words.pop();
    if (words.length > 0) phrases.push({ words, isBegun: quoted === undefined || unspaced.test(words.at(-1) ?? '') });
  }
  return phrases;
}

/** What other searches have as operators, and is a word like any other here: `AND` in capitals, outside of quotes. */
export const operatorsIn = (text: string): string[] => [
  ...new Set(text.replaceAll(/"[^"]*"/gu, ' ').match(/(?<![^\s()])(?:AND|OR|NOT|NEAR)(?![^\s()])/gu)),
];

/** Where in `texts` the first phrase is found: the field, and a piece of its text around it. */
export function placeOf(texts: readonly (readonly [field: string, text: string])[], phrases: readonly Phrase[]) {
  for (const { words } of phrases) {
    for (const [field, text] of texts) {
      const at = positionOf(text, words[0] ?? '');
      if (at !== undefined) return { field, piece: pieceAround(text, at) };
    }
  }
  const [field = '', text = ''] = texts[0] ?? [];
  return texts.length > 0 ? { field, piece: pieceAround(text, 0) } : undefined;
}

function positionOf(text: string, word: string): number | undefined {
  if (unspaced.test(word)) {
    const at = folded(text).indexOf(word);
    return at < 0 ? undefined : Math.min(at, text.length);
  }
  for (const match of text.matchAll(runs))
    if (wordsOf(match[0]).some((one) => one.startsWith(word))) return match.index;
  return undefined;
}

const pieceLength = 120;
/** Few, so that a narrow table, which cuts the end, shows the word itself. */
const lettersBefore = 16;

function pieceAround(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - lettersBefore), at);
  // From a whole word on, where there is one.
  const start = at > lettersBefore ? at - before.length + (/^\S*\s+(?=\S)/u.exec(before)?.[0].length ?? 0) : 0;
  const piece = text
    .slice(start, start + pieceLength)
    .toWellFormed()
    .replaceAll(/\s+/gu, ' ')
    .trim();
  return `${start > 0 ? '…' : ''}${piece}${start + pieceLength < text.length ? '…' : ''}`;
}

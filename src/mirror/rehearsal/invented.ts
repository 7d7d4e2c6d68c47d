import { capital } from '../../text/capital.ts';

const { createHmac } = process.getBuiltinModule('node:crypto');

/** Something else in the place of a word or a number: the same for the same, never the same for two. */
export type Invent = (original: string) => string;

const wordPattern = /[\p{L}\p{M}]{1,24}|\p{N}{1,24}/gu;
const isNumber = /^\p{N}/u;

const folded = (word: string): string => word.normalize('NFC').toLowerCase();

/** Every word and number of the texts, so that none of them is invented again. */
export function wordsIn(texts: Iterable<string>): Set<string> {
  const words = new Set<string>();
  for (const text of texts) for (const [word] of text.matchAll(wordPattern)) words.add(folded(word));
  return words;
}

const consonants = 'bcdfghjklmnprstvwz';
const vowels = 'aeiou';
const shortestWord = 3;
/** Numbers that are shorter stand for nobody, and there are too few of them to avoid those that exist. */
const shortestTaken = 5;
const triesAtOneLength = 20;

/**
 * `key`: of one run, so that nobody can work out what a word became. `taken`: the words of the original, none of which is
 * invented for another.
 */
export function inventor(key: Uint8Array, taken: ReadonlySet<string>): Invent {
  const invented = new Map<string, string>();
  const used = new Set<string>();
  const isFree = (candidate: string, word: string): boolean =>
    candidate !== word &&
    !used.has(candidate) &&
    !(taken.has(candidate) && (!isNumber.test(candidate) || candidate.length >= shortestTaken));
  return (original) => {
    const word = folded(original);
    let found = invented.get(word);
    for (let n = 0; found === undefined; n++) {
      const digest = createHmac('sha256', key).update(`${n} ${word}`).digest();
      const length = original.length + Math.floor(n / triesAtOneLength);
      const candidate = isNumber.test(word) ? figures(digest, length) : letters(digest, Math.max(length, shortestWord));
      if (isFree(candidate, word)) found = candidate;
    }
    invented.set(word, found);
    used.add(found);
    return inCaseOf(original, found);
  };
}

const letters = (digest: Uint8Array, length: number): string =>
  Array.from({ length }, (_, at) => pick(at % 2 === 0 ? consonants : vowels, digest, at)).join('');

const figures = (digest: Uint8Array, length: number): string =>
  Array.from({ length }, (_, at) => pick('0123456789', digest, at)).join('');

const pick = (from: string, digest: Uint8Array, at: number): string =>
  from[((digest[at % digest.length] ?? 0) + at) % from.length] ?? '';

function inCaseOf(original: string, word: string): string {
  const lower = original.toLowerCase();
  if (original === lower) return word;
  if (original.length > 1 && original === original.toUpperCase()) return word.toUpperCase();
  return /^\p{Lu}/u.test(original) ? capital(word) : word;
}

/** Plain signs stay, so that a text keeps its shape; any other, such as a picture, is one more thing to know it by. */
const otherSign = /[^\p{L}\p{M}\p{N}\s\x20-\x7e]/gu;

/** Word by word. */
export const replacedWords = (invent: Invent, text: string): string =>
  text.replaceAll(wordPattern, (word) => invent(word)).replaceAll(otherSign, '*');

/** A word as a POSIX shell reads it: as it is where that is safe, else in single quotes. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./\\-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** A flag that is named like one for a secret, with or without its value. */
const secretFlag = /^(--(?:[\w-]*-)?(?:key|token|secret|password))(=.*|)$/su;

/** A line that was typed, as a message repeats it: what may be a secret is left out. */
export const typedLine = (words: readonly string[]): string => words.map(typedWord).join(' ');

/** A header or a parameter that is named like one for a secret. */
const secretPart = /(?:authorization|bearer|key|token|secret|password)['"]?\s*[:= ]/iu;

function typedWord(word: string, at: number, words: readonly string[]): string {
  const [, flag, value] = secretFlag.exec(word) ?? [];
  if (value) return `${flag}=…`;
  if (secretPart.test(word)) return '…';
  return secretFlag.exec(words[at - 1] ?? '')?.[2] === '' && !word.startsWith('-') ? '…' : shellWord(word);
}

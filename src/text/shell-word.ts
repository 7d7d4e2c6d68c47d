/** A word as a POSIX shell reads it: as it is where that is safe, else in single quotes. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./\\-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** `a, b and c`. */
export const listed = (words: readonly (string | number)[], last: 'and' | 'or' = 'and'): string =>
  words.length > 1 ? `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}` : words.join('');

/** `a, b, and 3 more`: so many of them, and how many there are besides. */
export const firstOf = (words: readonly (string | number)[], most: number): string =>
  words.slice(0, most).join(', ') + (words.length > most ? `, and ${words.length - most} more` : '');

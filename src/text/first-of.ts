/** `a, b, and 3 more`: so many of them, and how many there are besides. */
export const firstOf = (words: readonly (string | number)[], most: number): string =>
  words.slice(0, most).join(', ') + (words.length > most ? `, and ${words.length - most} more` : '');

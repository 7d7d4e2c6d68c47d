/** `a, b and c`. */
export const listed = (words: readonly (string | number)[], last: 'and' | 'or' = 'and'): string =>
  words.length > 1 ? `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}` : words.join('');

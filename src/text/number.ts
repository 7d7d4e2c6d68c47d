/** A number as people read it: 2,400. */
export const number = (value: number): string =>
  // Loading the rules of a language takes longer than most commands have to say.
  Math.abs(value) < 1000 ? String(value) : value.toLocaleString('en');

/** Several of an English noun: contacts, entries. */
export const plural = (noun: string): string => (/[^aeiou]y$/u.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`);

/** `1 contact`, `2,400 contacts`. */
export const counted = (count: number, noun: string): string => `${number(count)} ${count === 1 ? noun : plural(noun)}`;

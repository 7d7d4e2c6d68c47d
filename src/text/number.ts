/** A number as people read it: 2,400. */
export function number(value: number): string {
  if (Math.abs(value) < 1000) return String(value);
  // Loading the rules of a language takes longer than most commands have to say.
  return Number.isSafeInteger(value) ? String(value).replaceAll(groups, ',') : value.toLocaleString('en');
}

const groups = /\B(?=(?:\d{3})+$)/gu;

/** Several of an English noun: contacts, entries. */
export const plural = (noun: string): string => (/[^aeiou]y$/u.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`);

/** `1 contact`, `2,400 contacts`. */
export const counted = (count: number, noun: string): string => `${number(count)} ${count === 1 ? noun : plural(noun)}`;

/** A number as people read it: 2,400. */
export const number = (value: number): string =>
  // Loading the rules of a language takes longer than most commands have to say.
  Math.abs(value) < 1000 ? String(value) : value.toLocaleString('en');

/** `1 contact`, `2,400 contacts`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${number(count)} ${count === 1 ? noun : plural}`;

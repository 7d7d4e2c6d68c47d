/** A text of at most so many characters: of a longer one the beginning. */
export const beginning = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** A text as a person would quote it in a sentence. */
export const short = (text: string): string => beginning(text, 40);

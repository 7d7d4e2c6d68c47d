/** A text as a person would quote it in a sentence: of a long one the beginning. */
export const short = (text: string): string => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

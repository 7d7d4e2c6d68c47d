/** With a capital at its beginning, as a sentence or a heading has it. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Without it, as a part of a sentence. */
export const uncapital = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** A string of its own, where a slice would keep all of the text alive that it was cut from. */
export const detached = (text: string): string => Buffer.from(text).toString();

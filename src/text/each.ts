/** Whether one of them is so; stops there, and holds none of them, as a list of a million would. */
export function someOf<T>(all: Iterable<T>, isSo: (one: T) => boolean): boolean {
  for (const one of all) if (isSo(one)) return true;
  return false;
}

/** How many are so. */
export function countOf<T>(all: Iterable<T>, isSo: (one: T) => boolean): number {
  let count = 0;
  for (const one of all) if (isSo(one)) count++;
  return count;
}

/** What is known of rows, as a Map would hold it, in far less memory. */
export type Table<K, V> = Iterable<readonly [K, V]> & {
  readonly size: number;
  has(key: K): boolean;
  get(key: K): V | undefined;
  values(): Iterable<V>;
};

/** What is known of rows by their position in the file, and in its order. */
export type RowTable<R, Given = R> = Table<number, R> & { set(index: number, row: Given): void };

/** Such a table over columns: `get` and `put` read and write them at a position. */
export function rowTable<R, Given = R>(
  get: (index: number) => R | undefined,
  put: (index: number, row: Given) => void,
): RowTable<R, Given> {
  let [size, end] = [0, 0];
  const has = (index: number) => get(index) !== undefined;
  function* pairs() {
    for (let index = 0; index < end; index++) {
      const row = get(index);
      if (row) yield [index, row] as const;
    }
  }
  return {
    get size() {
      return size;
    },
    has,
    get,
    *values() {
      for (const [, row] of pairs()) yield row;
    },
    [Symbol.iterator]: pairs,
    set(index, row) {
      if (!has(index)) size++;
      end = Math.max(end, index + 1);
      put(index, row);
    },
  };
}

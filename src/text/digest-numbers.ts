import { column } from './column.ts';
import { shortDigestOf } from './digest.ts';
import { digestTable } from './digest-table.ts';
import type { NumberTable } from './number-table.ts';

/** With each text a number from 0 to 4,294,967,295. */
export type DigestNumbers = ReturnType<typeof digestNumbers>;

/** About 30 bytes for each, however long: a text is known by 132 bits of its digest. */
export function digestNumbers() {
  const names = digestTable();
  const values = column(32);
  return {
    /** Undefined where the text was never added; 0 where no number was set for it. */
    get(text: string) {
      const place = names.find(shortDigestOf(text));
      return place < 0 ? undefined : values.get(place);
    },
    set: (text: string, value: number) => values.set(names.add(shortDigestOf(text)), value),
  };
}

/** A table of numbers that is a part of another: `name` tells it from the other parts. */
export function numbersWithin(all: DigestNumbers, name: string): Pick<NumberTable, 'add' | 'get' | 'set'> {
  const textOf = (key: number) => `${name} ${key}`;
  const get = (key: number) => all.get(textOf(key));
  return {
    add(key) {
      if (get(key) === undefined) all.set(textOf(key), 0);
    },
    get,
    set: (key, value) => all.set(textOf(key), value),
  };
}

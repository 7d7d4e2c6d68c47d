import { linesOf, type OutFile } from '../../disk/draft/out-file.ts';
import { Failure } from '../../errors.ts';

/** The key of a row: one or two ids. */
export type Key = readonly number[];

/** What was exported of one row. */
export type Seen = { readonly key: Key; readonly digest: string; readonly isDeleted: boolean };

export const compareKeys = (one: Key, other: Key): number => {
  for (const [at, id] of one.entries()) if (id !== other[at]) return id - (other[at] ?? 0);
  return 0;
};

/** A line for each row, in the order of the keys, and one that says how many: a file that was cut does not have it. */
export function seenWriter(out: OutFile) {
  let rows = 0;
  return {
    async put({ key, digest, isDeleted }: Seen): Promise<void> {
      rows++;
      await out.write(`${key.join(':')} ${digest}${isDeleted ? ' gone' : ''}\n`);
    },
    async end(): Promise<void> {
      await out.write(`end ${rows}\n`);
      await out.close();
    },
  };
}

export const exportWhole = 'To export everything, leave out --since-last, or give --to a new folder.';

/** @throws Failure `usage` where the file is not whole */
export async function* readSeen(path: string): AsyncGenerator<Seen> {
  const damaged = new Failure('usage', `${path} is damaged, so what was exported last cannot be told.`, {
    hint: exportWhole,
  });
  let rows = 0;
  let isWhole = false;
  for await (const line of linesOf(path)) {
    // What follows the last line break is a line of its own, and empty.
    if (isWhole && line === '') return;
    if (isWhole) throw damaged;
    isWhole = line === `end ${rows}`;
    if (isWhole) continue;
    const [, key = '', digest = '', gone] = /^(-?\d+(?::-?\d+)?) ([\w-]{22})( gone)?$/u.exec(line) ?? [];
    if (key === '') throw damaged;
    rows++;
    yield { key: key.split(':').map(Number), digest, isDeleted: gone !== undefined };
  }
  throw damaged;
}

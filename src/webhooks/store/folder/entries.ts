import { crc32 } from 'node:zlib';

/** What an entry of the index leads to: an event by its id, what became of it, or an event by what it tells of. */
export const kinds = { arrival: 0, outcome: 1, live: 2, rebuilt: 3 } as const;
export type Kind = keyof typeof kinds;

/** What is to go into the index, of lines that follow each other: under which hash each is found, and where it begins. */
export type Entries = {
  readonly hashes: number[];
  readonly kinds: number[];
  readonly starts: number[];
  /** Of the very bytes of the lines: of some that end at a place, and of those behind them. */
  readonly sums: Sum[];
  crc: number;
};

export type Sum = { readonly to: number; readonly crc: number };

export const noEntries = (): Entries => ({ hashes: [], kinds: [], starts: [], sums: [], crc: 0 });

export function addEntry(entries: Entries, kind: Kind, text: string, start: number): void {
  entries.hashes.push(hashOf(text));
  entries.kinds.push(kinds[kind]);
  entries.starts.push(start);
}

/** With its line feed. */
export function addBytes(entries: Entries, line: Uint8Array | string): void {
  entries.crc = crc32(line, entries.crc);
}

/** Behind those that end at `to`: those that were taken down beside them, and stand `by` bytes further on. */
export function joinEntries(
  entries: Entries,
  later: Entries,
  { to, by }: { readonly to: number; readonly by: number },
): void {
  for (const [at, start] of later.starts.entries()) {
    entries.hashes.push(later.hashes[at] ?? 0);
    entries.kinds.push(later.kinds[at] ?? 0);
    entries.starts.push(start + by);
  }
  entries.sums.push({ to, crc: entries.crc });
  entries.crc = later.crc;
}

/** Of those that are in no index yet. */
export function startsIn(entries: Entries, kind: Kind, text: string): number[] {
  const hash = hashOf(text);
  return entries.starts.filter((_, at) => entries.hashes[at] === hash && entries.kinds[at] === kinds[kind]);
}

/** 53 bits, evenly spread (cyrb53). Two texts may have the same one, so what is found by it has to be looked at. */
export function hashOf(text: string): number {
  let [one, two] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 2654435761);
    two = Math.imul(two ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return 2 ** 32 * (two & 0x1fffff) + (one >>> 0);
}

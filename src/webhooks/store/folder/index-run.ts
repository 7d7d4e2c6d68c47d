import { read as readFrom } from 'node:fs';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { type Entries, kinds, type Sum } from './entries.ts';

const read = promisify(readFrom);

/**
 * Entries of the index, in the order of their hashes and never changed: pages of 4 KiB, each with its checksum, then a
 * filter (Bloom) that says of most ids that they are not there, then the first hash of each page. Only the last two are
 * in memory: 2 bytes for each event.
 */
export type Run = Stretch & { readonly filter: Buffer; readonly firsts: Uint32Array };

/** Where it stands in the file of the index, and where the bytes of the inbox end that it is about. */
export type Stretch = {
  readonly at: number;
  readonly pages: number;
  readonly filterBytes: number;
  /** Of what follows the pages. */
  readonly crc: number;
  readonly to: number;
  /** Of those bytes of the inbox. */
  readonly sums: readonly Sum[];
};

export const bytesOf = ({ pages, filterBytes }: Stretch): number => pages * (pageBytes + 4) + filterBytes;

const pageBytes = 4096;
const entryBytes = 11;
const inPage = Math.floor((pageBytes - 4) / entryBytes);
/** In a place that holds no entry. */
const nothing = 255;

/** 16 bits for each, of which 7 are looked at: one of 1,500 that are not there seems to be. */
const bitsForEach = 16;
const looks = 7;

const keyOf = (hash: number): number => hash >>> 0;

/** `at`: where it will stand. */
export function makeRun(entries: Entries, about: Pick<Stretch, 'at' | 'to'>): { run: Run; bytes: Buffer } {
  const order = ordered(entries);
  const pages = Math.max(1, Math.ceil(order.length / inPage));
  const body = Buffer.alloc(pages * pageBytes, 0xff);
  const firsts = new Uint32Array(pages);
  for (let page = 0; page < pages; page++) {
    const start = page * pageBytes;
    for (let n = 0; n < inPage; n++) {
      const entry = order[page * inPage + n];
      if (entry === undefined) break;
      const at = start + n * entryBytes;
      const key = keyOf(entries.hashes[entry] ?? 0);
      if (n === 0) firsts[page] = key;
      body.writeUInt32LE(key, at);
      body.writeUInt8(entries.kinds[entry] ?? nothing, at + 4);
      body.writeUIntLE(entries.starts[entry] ?? 0, at + 5, 6);
    }
    const end = start + pageBytes - 4;
    body.writeUInt32LE(crc32(body.subarray(start, end)), end);
  }
  const filter = filterOf(entries);
  const rest = Buffer.concat([filter, Buffer.from(firsts.buffer)]);
  const sums = [...entries.sums, { to: about.to, crc: entries.crc }];
  const run = { ...about, pages, filterBytes: filter.length, crc: crc32(rest), sums, filter, firsts };
  return { run, bytes: Buffer.concat([body, rest]) };
}

/** So many are told apart in the 53 bits of a number, beside the 32 of the hash. */
const room = 2 ** 21;

/** As numbers that hold both: a comparison in JavaScript for each two takes several times as long. */
function ordered({ hashes }: Entries): Uint32Array {
  const keyAt = (at: number) => keyOf(hashes[at] ?? 0);
  if (hashes.length > room) return Uint32Array.from(hashes.keys()).sort((a, b) => keyAt(a) - keyAt(b));
  const both = Float64Array.from(hashes, (hash, at) => keyOf(hash) * room + at).sort();
  return Uint32Array.from(both, (one) => one % room);
}

function filterOf({ hashes, kinds: ofKind }: Entries): Buffer {
  const count = ofKind.filter(isFiltered).length;
  const filter = Buffer.alloc(Math.max(8, Math.ceil((count * bitsForEach) / 8)));
  for (const [at, hash] of hashes.entries()) {
    if (!isFiltered(ofKind[at] ?? nothing)) continue;
    for (let look = 0; look < looks; look++) {
      const bit = bitOf(filter, hash, look);
      filter[bit >>> 3] = (filter[bit >>> 3] ?? 0) | (1 << (bit & 7));
    }
  }
  return filter;
}

const bitOf = (filter: Buffer, hash: number, look: number): number =>
  (keyOf(hash) + look * (2 * Math.floor(hash / 2 ** 32) + 1)) % (filter.length * 8);

/** What each delivery asks for. The rest is looked up by somebody who waits. */
const isFiltered = (kind: number): boolean => kind === kinds.arrival || kind === kinds.rebuilt;

export function mayHold({ filter }: Run, hash: number): boolean {
  for (let look = 0; look < looks; look++) {
    const bit = bitOf(filter, hash, look);
    if (((filter[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/** Undefined where its file does not hold it. */
export async function readRun(fd: number, about: Stretch): Promise<Run | undefined> {
  const { at, pages, filterBytes, crc } = about;
  const rest = Buffer.alloc(filterBytes + 4 * pages);
  const { bytesRead } = await read(fd, rest, 0, rest.length, at + pages * pageBytes);
  if (bytesRead < rest.length || crc32(rest) !== crc) return undefined;
  const firsts = new Uint32Array(new Uint8Array(rest.subarray(filterBytes)).buffer);
  return { ...about, filter: rest.subarray(0, filterBytes), firsts };
}

/** Where the lines begin that have this hash. Undefined where a page is damaged. */
export async function findIn(
  fd: number,
  { at, pages, firsts }: Run,
  { hash, kind }: { readonly hash: number; readonly kind: number },
): Promise<number[] | undefined> {
  const key = keyOf(hash);
  const found: number[] = [];
  const page = Buffer.alloc(pageBytes);
  for (let number = pageBefore(firsts, key); number < pages && (firsts[number] ?? 0) <= key; number++) {
    const { bytesRead } = await read(fd, page, 0, pageBytes, at + number * pageBytes);
    const end = pageBytes - 4;
    if (bytesRead < pageBytes || crc32(page.subarray(0, end)) !== page.readUInt32LE(end)) return undefined;
    for (let entry = 0; entry < inPage * entryBytes; entry += entryBytes) {
      if (page.readUInt32LE(entry) !== key || page.readUInt8(entry + 4) !== kind) continue;
      found.push(page.readUIntLE(entry + 5, 6));
    }
  }
  return found;
}

/** The last page that begins before the key: it may end with it. */
function pageBefore(firsts: Uint32Array, key: number): number {
  let [low, high] = [0, firsts.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((firsts[middle] ?? 0) < key) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

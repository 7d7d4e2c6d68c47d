import { type Column, column, pieceLength } from './column.ts';

/**
 * Names of rows in few bytes. A name is 132 bits of a digest as 22 characters of base64url, and for the second row of
 * equal content and those behind it `~2`, `~3` and so on. Every bit is kept, so no two names are ever taken for one; any
 * other text is kept as it is.
 */
const name = /^[\w-]{22}(?:~[1-9]\d{0,8})?$/;
const digestLength = 22;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** What a place holds: nothing, a digest whose last 4 bits are the kind less 1, another text, or an empty one. */
const kinds = { nothing: 0, otherText: 17, empty: 18 } as const;

const wordsOf = 4;
const pieceBits = 12;
const pieceSize = 1 << pieceBits;

/** The digest that was read last: its first 128 bits, its last 4 and one, and the number behind `~`. */
const read = new Uint32Array(wordsOf);
const readBytes = Buffer.from(read.buffer);
let readKind = 0;
let readTime = 0;

/** What is told of a place: a Buffer of its own for each would be much garbage. */
const told = new Uint32Array(wordsOf + 1);
const toldBytes = Buffer.from(told.buffer);

/** False for a text that is no name. */
function isRead(text: string): boolean {
  if (!name.test(text)) return false;
  const isNumbered = text.length > digestLength;
  readBytes.write(isNumbered ? text.slice(0, digestLength) : text, 'base64url');
  readKind = (alphabet.indexOf(text.charAt(digestLength - 1)) & 15) + 1;
  readTime = isNumbered ? Number(text.slice(digestLength + 1)) : 0;
  return true;
}

/** A text for each place of a long list; 17 bytes for one that is a name. */
export const digestColumn = (): Pick<ReturnType<typeof openColumn>, 'get' | 'set'> => openColumn();

function openColumn() {
  const pieces: (Uint32Array | undefined)[] = [];
  const kindOf = column(8);
  const timeOf: Column = column(32);
  const others = new Map<number, string>();
  const from = (at: number) => (at & (pieceSize - 1)) * wordsOf;
  const setRead = (at: number) => {
    const number = at >>> pieceBits;
    const length = pieceLength(number, at & (pieceSize - 1), pieceSize) * wordsOf;
    let piece = pieces[number];
    if (!piece || piece.length < length) {
      const before: ArrayLike<number> = piece ?? [];
      piece = new Uint32Array(length);
      piece.set(before);
      pieces[number] = piece;
    }
    piece.set(read, from(at));
    kindOf.set(at, readKind);
    timeOf.set(at, readTime);
  };
  return {
    get(at: number) {
      const kind = kindOf.get(at);
      if (kind === kinds.nothing) return undefined;
      if (kind === kinds.empty) return '';
      const piece = pieces[at >>> pieceBits];
      if (kind === kinds.otherText || !piece) return others.get(at);
      const start = from(at);
      for (let word = 0; word < wordsOf; word++) told[word] = piece[start + word] ?? 0;
      toldBytes[wordsOf * 4] = (kind - 1) << 4;
      const digest = toldBytes.toString('base64url', 0, wordsOf * 4 + 1).slice(0, digestLength);
      const time = timeOf.get(at);
      return time === 0 ? digest : `${digest}~${time}`;
    },
    set(at: number, text: string | undefined) {
      if (others.size > 0) others.delete(at);
      if (text === undefined) kindOf.set(at, kinds.nothing);
      else if (text === '') kindOf.set(at, kinds.empty);
      else if (isRead(text)) setRead(at);
      else {
        kindOf.set(at, kinds.otherText);
        others.set(at, text);
      }
    },
    /** Whether it holds the name that was read last. */
    holdsRead(at: number) {
      const piece = pieces[at >>> pieceBits];
      const start = from(at);
      return (
        piece !== undefined &&
        kindOf.get(at) === readKind &&
        piece[start] === read[0] &&
        piece[start + 1] === read[1] &&
        piece[start + 2] === read[2] &&
        piece[start + 3] === read[3] &&
        timeOf.get(at) === readTime
      );
    },
    /** Where a search for what it holds begins; undefined for a text that is no name. */
    hashAt(at: number) {
      const kind = kindOf.get(at);
      if (kind === kinds.nothing || kind >= kinds.otherText) return undefined;
      return hashOf(pieces[at >>> pieceBits]?.[from(at)] ?? 0, timeOf.get(at));
    },
  };
}

/** A digest is spread evenly as it is; many rows may have one and differ in their number alone. */
const hashOf = (word: number, time: number): number => (word ^ Math.imul(time, 0x9e3779b1)) >>> 0;

/** Names, each with its place: 0 for the first that was added, and so on. About 27 bytes for each. */
export type DigestTable = ReturnType<typeof digestTable>;

const firstLength = 256;
/** Beyond it, looks take longer than a larger index takes room. */
const fullest = 0.8;

/** Open addressing with linear probing: the index holds places, and 0 for none. */
export function digestTable() {
  const names = openColumn();
  /** Texts that are no names. */
  const others = new Map<string, number>();
  let index = new Uint32Array(firstLength);
  let size = 0;
  /** Where the index holds the name that was read last, or has room for it. */
  const seek = (): number => {
    const mask = index.length - 1;
    let at = hashOf(read[0] ?? 0, readTime) & mask;
    for (let held = index[at] ?? 0; held !== 0 && !names.holdsRead(held - 1); held = index[at] ?? 0)
      at = (at + 1) & mask;
    return at;
  };
  const grow = () => {
    index = new Uint32Array(index.length * 2);
    const mask = index.length - 1;
    for (let place = 0; place < size; place++) {
      const hash = names.hashAt(place);
      if (hash === undefined) continue;
      let at = hash & mask;
      while (index[at] !== 0) at = (at + 1) & mask;
      index[at] = place + 1;
    }
  };
  const addOther = (text: string): number => {
    others.set(text, size);
    names.set(size, text);
    return size++;
  };
  return {
    size: () => size,
    /** -1 where it was never added. */
    find: (text: string) => (isRead(text) ? (index[seek()] ?? 0) - 1 : (others.get(text) ?? -1)),
    /** The place of a name that is new, or was added before. */
    add(text: string) {
      if (!isRead(text)) return others.get(text) ?? addOther(text);
      const at = seek();
      const held = index[at] ?? 0;
      if (held !== 0) return held - 1;
      index[at] = size + 1;
      names.set(size, text);
      size++;
      if (size > index.length * fullest) grow();
      return size - 1;
    },
    nameAt: (place: number) => names.get(place) ?? '',
  };
}

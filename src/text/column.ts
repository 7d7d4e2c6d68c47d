/** A whole number for each place of a long list, 0 where none was set. */
export type Column = { get(at: number): number; set(at: number, value: number): void };

const bits = 14;
const size = 1 << bits;
const least = 64;

/** How long a piece becomes for that place in it: the first one grows with the list, for most lists are short. */
export const pieceLength = (number: number, place: number, most: number): number => {
  if (number > 0) return most;
  let length = least;
  while (length <= place) length *= 2;
  return Math.min(length, most);
};

/**
 * Numbers side by side, of 8 bits (0 to 255) or of 32 (0 to 4,294,967,295). Memory is taken piece by piece, and only
 * where something else than 0 stands: a Map of as many numbers takes ten times as much.
 */
export function column(width: 8 | 32): Column {
  const pieces: (Uint8Array | Uint32Array | undefined)[] = [];
  const longer = (number: number, place: number) => {
    const length = pieceLength(number, place, size);
    const piece = width === 8 ? new Uint8Array(length) : new Uint32Array(length);
    piece.set(pieces[number] ?? []);
    pieces[number] = piece;
    return piece;
  };
  return {
    get: (at) => pieces[at >>> bits]?.[at & (size - 1)] ?? 0,
    set(at, value) {
      const place = at & (size - 1);
      let piece = pieces[at >>> bits];
      if (!piece || place >= piece.length) {
        if (value === 0) return;
        piece = longer(at >>> bits, place);
      }
      piece[place] = value;
    },
  };
}

const wordSize = 2 ** 32;

/** A whole number from 0 to `Number.MAX_SAFE_INTEGER` for each place; undefined where none was set. Takes 4 bytes for each, and 4 more around those that need them. */
export function numberColumn() {
  const [low, high] = [column(32), column(32)];
  return {
    get(at: number) {
      const held = high.get(at) * wordSize + low.get(at);
      return held === 0 ? undefined : held - 1;
    },
    set(at: number, value: number | undefined) {
      const held = value === undefined ? 0 : value + 1;
      low.set(at, held % wordSize);
      high.set(at, Math.floor(held / wordSize));
    },
  };
}

/** A text for each place; undefined where none was set. For few texts at many places, such as what is wrong with rows: each is held once, and as long as the column is. */
export function textColumn() {
  const texts: string[] = [];
  const numbers = new Map<string, number>();
  const held = column(32);
  const numberOf = (text: string): number => {
    const known = numbers.get(text);
    if (known !== undefined) return known;
    numbers.set(text, texts.push(text));
    return texts.length;
  };
  return {
    get: (at: number) => texts[held.get(at) - 1],
    set: (at: number, text: string | undefined) => held.set(at, text === undefined ? 0 : numberOf(text)),
  };
}

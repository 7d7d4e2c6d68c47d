import { isUtf8 } from 'node:buffer';
import { Failure, orElse } from '../errors.ts';
import { isText } from '../text/record.ts';

/** How messages name what has no name. */
export const stdinName = 'standard input';

/** As the first words of a sentence; the name of a file stays as it is. */
export const subject = (name: string): string => (name === stdinName ? 'Standard input' : name);

const foreign: readonly (readonly [magic: string, what: string])[] = [
  ['504b0304', 'an Excel workbook or another archive'],
  ['d0cf11e0', 'an old Excel workbook'],
  ['25504446', 'a PDF'],
];

export function refuseForeign(start: Buffer, name: string): void {
  const what = foreign.find(([magic]) => start.subarray(0, 4).toString('hex') === magic)?.[1];
  if (what) throw new Failure('usage', `${subject(name)} is ${what}, not CSV.`, { hint: 'Save it as CSV (UTF-8).' });
  if (/^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)\b/iu.test(start.toString('latin1', 0, 200)))
    throw new Failure('usage', `${subject(name)} is a web page, not CSV.`, {
      hint: 'Export it again as CSV. Where the page asks for a login, log in there first.',
    });
}

/** A byte order mark overrides `--encoding`. */
export function bomOf(start: Buffer): string | undefined {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return 'utf-8';
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be';
  return undefined;
}

/** Of UTF-16 without a mark, a header shows itself: every other byte is zero. */
export function guessEncoding(start: Buffer): string {
  const zeros = [0, 0];
  for (const [i, byte] of start.entries()) if (byte === 0) zeros[i % 2] = (zeros[i % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const many = start.length / 4;
  if (odd > many && even === 0) return 'utf-16le';
  if (even > many && odd === 0) return 'utf-16be';
  return 'utf-8';
}

export function labelOf(wanted: string): string {
  try {
    return new TextDecoder(wanted).encoding;
  } catch {
    throw new Failure('usage', `There is no encoding "${wanted}".`, {
      hint: 'Common ones: utf-8, utf-16le, windows-1252, iso-8859-15, shift_jis, gb18030, euc-kr.',
    });
  }
}

/**
 * The text of the bytes, without its byte order mark, a piece at a time. Bytes that are no character are refused with
 * their line; so is what is no text at all.
 */
export async function* decode(
  bytes: () => AsyncIterable<Buffer>,
  encoding: string,
  name: string,
  /** Sees the bytes before they are decoded; it must not keep them. */
  onBytes: (bytes: Uint8Array) => void,
): AsyncGenerator<string> {
  const toText = encoding === 'utf-8' ? utf8Decoder() : otherDecoder(encoding);
  let isFirst = true;
  const checked = async (piece: Buffer | undefined): Promise<string> => {
    let text: string;
    try {
      text = toText(piece);
    } catch (error) {
      const line = await firstBadLine(bytes(), encoding);
      const shown = encoding === 'utf-8' ? 'UTF-8' : encoding;
      throw new Failure('usage', `Line ${line} of ${name} is not valid ${shown}.`, {
        hint: (await beginsWithMark(bytes()))
          ? `The file begins with a byte order mark, so it is read as ${shown} whatever --encoding says. A part of it was written in another encoding: save the whole file as UTF-8.`
          : 'Name the encoding that it was written in, for example --encoding windows-1252',
        cause: error,
      });
    }
    if (text.includes('\0')) {
      throw new Failure('usage', `${subject(name)} is not text: it holds NUL bytes.`, {
        hint: 'Save it as CSV (UTF-8).',
      });
    }
    if (isFirst && text !== '') {
      isFirst = false;
      if (text.charCodeAt(0) === 0xfeff) return text.slice(1);
    }
    return text;
  };
  for await (const piece of bytes()) {
    onBytes(piece);
    const text = await checked(piece);
    if (text !== '') yield text;
  }
  const text = await checked(undefined);
  if (text !== '') yield text;
}

async function beginsWithMark(bytes: AsyncIterable<Buffer>): Promise<boolean> {
  let start = Buffer.alloc(0);
  for await (const piece of bytes) {
    start = Buffer.concat([start, piece.subarray(0, 3)]);
    if (start.length >= 3) break;
  }
  return bomOf(start) !== undefined;
}

/** Throws at bytes that are no character; undefined ends the text. */
type ToText = (piece: Buffer | undefined) => string;

/** Several times as fast as TextDecoder with `stream`, which this job would spend most of its time in. */
function utf8Decoder(): ToText {
  let carry = Buffer.alloc(0);
  return (piece) => {
    const bytes = carry.length === 0 ? (piece ?? carry) : Buffer.concat(piece ? [carry, piece] : [carry]);
    const end = piece ? completeUntil(bytes) : bytes.length;
    const whole = bytes.subarray(0, end);
    if (!isUtf8(whole)) throw new RangeError('invalid UTF-8');
    carry = Buffer.from(bytes.subarray(end));
    return whole.toString('utf8');
  };
}

/** Where the last character that is there in full ends. */
function completeUntil(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) {
      const needed = bytesOf(byte);
      return needed > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

/** How long the character is that this byte begins. */
function bytesOf(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}

function otherDecoder(encoding: string): ToText {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  return (piece) => decoder.decode(piece, { stream: piece !== undefined });
}

/** Reads again from the beginning: only a file that is refused pays for finding its line. */
async function firstBadLine(bytes: AsyncIterable<Buffer>, encoding: string): Promise<number> {
  // One goes ahead by whole pieces, so that only the one that is bad is read byte by byte.
  const [ahead, behind] = [otherDecoder(encoding), otherDecoder(encoding)];
  let line = 1;
  let endsWithCr = false;
  const count = (text: string) => {
    line += text.match(/\r\n|\r|\n/gu)?.length ?? 0;
    if (endsWithCr && text.startsWith('\n')) line--;
    if (text !== '') endsWithCr = text.endsWith('\r');
  };
  for await (const piece of bytes) {
    if (accepts(ahead, piece)) {
      count(behind(piece));
      continue;
    }
    for (let at = 0; at < piece.length; at++) {
      const byte = piece.subarray(at, at + 1);
      try {
        count(behind(byte));
      } catch {
        return line;
      }
    }
  }
  return line;
}

const accepts = (toText: ToText, piece: Buffer): boolean => orElse(() => isText(toText(piece)), false);

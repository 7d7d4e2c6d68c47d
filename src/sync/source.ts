import { isUtf8 } from 'node:buffer';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import type { Context } from '../context.ts';
import { isCode } from '../disk/atomic-file.ts';
import { Failure } from '../errors.ts';

/** A file of text that can be read from its beginning any number of times, in constant memory. */
export type Source = {
  /** As messages and the report name it. */
  readonly name: string;
  /** Undefined for standard input. */
  readonly path: string | undefined;
  readonly encoding: string;
  readonly hasBom: boolean;
  /** `onBytes` sees the same bytes before they are decoded; it must not keep them. */
  read(onBytes?: (bytes: Uint8Array) => void): AsyncIterable<string>;
  close(): Promise<void>;
};

const pieceSize = 64 * 1024;

const stdinName = 'standard input';

type Opened = { readonly handle: FileHandle; readonly close: () => Promise<void> };

/**
 * Opens a file, or standard input (`-`). What can be read only once (a pipe, a terminal's paste, a process
 * substitution) is first copied into the state folder: every row is checked before the first one is sent, and a
 * resumed run has to recognise the content.
 */
export async function openSource(
  ctx: Pick<Context, 'stdin' | 'files'>,
  file: string,
  wantedEncoding?: string,
): Promise<Source> {
  const isStdin = file === '-';
  const name = isStdin ? stdinName : basename(file);
  const opened = isStdin ? await spool(ctx, ctx.stdin, name) : await openFile(ctx, file, name);
  try {
    return await describe(opened, name, isStdin ? undefined : resolve(file), wantedEncoding);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function describe(
  { handle, close }: Opened,
  name: string,
  path: string | undefined,
  wantedEncoding: string | undefined,
): Promise<Source> {
  const head = Buffer.alloc(4096);
  const { bytesRead } = await handle.read(head, 0, head.length, 0);
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  const bytes = isGzip ? () => unzipped(handle, name) : () => pieces(handle, true);
  const start = isGzip ? await firstPiece(bytes()) : head.subarray(0, bytesRead);
  if (start.length === 0) throw new Failure('usage', `${subject(name)} is empty.`);
  refuseForeign(start, name);

  const bom = bomOf(start);
  const encoding = bom ?? (wantedEncoding === undefined ? guessEncoding(start) : labelOf(wantedEncoding));
  return {
    name,
    path,
    encoding,
    hasBom: bom !== undefined,
    read: (onBytes) => decode(bytes, encoding, name, onBytes),
    close,
  };
}

async function openFile(ctx: Pick<Context, 'files'>, file: string, name: string): Promise<Opened> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) throw new Failure('usage', `There is no file ${file}.`);
    if (isCode(error, 'EACCES')) throw new Failure('usage', `${file} may not be read.`);
    if (isCode(error, 'EISDIR')) throw new Failure('usage', `${file} is a folder, not a file.`);
    throw new Failure('usage', `${file} cannot be opened.`, { cause: error });
  });
  const stat = await handle.stat();
  if (stat.isFile()) return { handle, close: () => handle.close() };
  try {
    if (stat.isDirectory()) throw new Failure('usage', `${file} is a folder, not a file.`);
    return await spool(ctx, handle.createReadStream({ autoClose: false }), name);
  } finally {
    await handle.close();
  }
}

/** A private copy, gone with this process: where the system allows it, the file has no name while it is in use. */
async function spool(
  ctx: Pick<Context, 'files'>,
  input: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean },
  name: string,
): Promise<Opened> {
  if (input.isTTY) {
    throw new Failure('usage', 'Standard input is a terminal.', { hint: 'Pipe a CSV file in, or name one.' });
  }
  const folder = join(ctx.files.state, 'sync');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `input-${process.pid}-${Math.random().toString(36).slice(2)}`);
  const handle = await open(path, 'wx+', 0o600);
  const hasNoName = process.platform !== 'win32';
  if (hasNoName) await rm(path);
  const close = async () => {
    await handle.close();
    if (!hasNoName) await rm(path, { force: true });
  };
  try {
    for await (const bytes of input) await handle.writeFile(bytes);
  } catch (error) {
    await close();
    throw new Failure('failed', `${subject(name)} could not be copied to ${folder}.`, {
      hint: 'Is the disk full? A file needs no copy: svc contacts sync FILE',
      cause: error,
    });
  }
  return { handle, close };
}

/** `reuse`: the same buffer each time, for a reader that is done with it before it asks for the next. */
async function* pieces(handle: FileHandle, reuse: boolean): AsyncGenerator<Buffer> {
  let buffer = Buffer.allocUnsafe(pieceSize);
  for (let position = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
    if (!reuse) buffer = Buffer.allocUnsafe(pieceSize);
  }
}

async function* unzipped(handle: FileHandle, name: string): AsyncGenerator<Buffer> {
  const gunzip = process.getBuiltinModule('node:zlib').createGunzip({ chunkSize: pieceSize });
  // Its errors come out of the reading below.
  const input = pipeline(Readable.from(pieces(handle, false), { highWaterMark: 2 }), gunzip, () => {});
  try {
    for await (const piece of input) yield piece as Buffer;
  } catch (error) {
    throw new Failure('usage', `${subject(name)} is a damaged or incomplete gzip file.`, { cause: error });
  } finally {
    input.destroy();
  }
}

async function firstPiece(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  for await (const piece of bytes) return Buffer.from(piece.subarray(0, 4096));
  return Buffer.alloc(0);
}

const foreign: readonly (readonly [magic: string, what: string])[] = [
  ['504b0304', 'an Excel workbook or another archive'],
  ['d0cf11e0', 'an old Excel workbook'],
  ['25504446', 'a PDF'],
];

function refuseForeign(start: Buffer, name: string): void {
  const what = foreign.find(([magic]) => start.subarray(0, 4).toString('hex') === magic)?.[1];
  if (what) throw new Failure('usage', `${subject(name)} is ${what}, not CSV.`, { hint: 'Save it as CSV (UTF-8).' });
}

/** A byte order mark settles it, also against `--encoding`: it is there to be believed. */
function bomOf(start: Buffer): string | undefined {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return 'utf-8';
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be';
  return undefined;
}

/** Of UTF-16 without a mark, a header shows itself: every other byte is zero. */
function guessEncoding(start: Buffer): string {
  const zeros = [0, 0];
  for (const [i, byte] of start.entries()) if (byte === 0) zeros[i % 2] = (zeros[i % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const many = start.length / 4;
  if (odd > many && even === 0) return 'utf-16le';
  if (even > many && odd === 0) return 'utf-16be';
  return 'utf-8';
}

function labelOf(wanted: string): string {
  try {
    return new TextDecoder(wanted).encoding;
  } catch {
    throw new Failure('usage', `There is no encoding "${wanted}".`, {
      hint: 'Common ones: utf-8, utf-16le, windows-1252, iso-8859-15, shift_jis, gb18030, euc-kr.',
    });
  }
}

async function* decode(
  bytes: () => AsyncIterable<Buffer>,
  encoding: string,
  name: string,
  onBytes?: (bytes: Uint8Array) => void,
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
        hint: 'Name the encoding that it was written in, for example --encoding windows-1252',
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
    onBytes?.(piece);
    const text = await checked(piece);
    if (text !== '') yield text;
  }
  const text = await checked(undefined);
  if (text !== '') yield text;
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
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needed > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

function otherDecoder(encoding: string): ToText {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  return (piece) => decoder.decode(piece, { stream: piece !== undefined });
}

/** Reads again from the beginning: only a file that is refused pays for finding its line. */
async function firstBadLine(bytes: AsyncIterable<Buffer>, encoding: string): Promise<number> {
  const decoder = new TextDecoder(encoding);
  let line = 1;
  let endsWithCr = false;
  for await (const piece of bytes) {
    const text = decoder.decode(piece, { stream: true });
    const bad = text.indexOf('\ufffd');
    const before = bad < 0 ? text : text.slice(0, bad);
    line += before.match(/\r\n|\r|\n/gu)?.length ?? 0;
    if (endsWithCr && before.startsWith('\n')) line--;
    if (bad >= 0) return line;
    endsWithCr = before === '' ? endsWithCr : before.endsWith('\r');
  }
  return line;
}

/** As the first words of a sentence; the name of a file stays as it is. */
const subject = (name: string): string => (name === stdinName ? 'Standard input' : name);

import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import type { Context } from '../context.ts';
import { makeFolders } from '../disk/file/make-folders.ts';
import { randomName } from '../disk/file/random-name.ts';
import { noFile } from '../disk/place/no-file.ts';
import { openUserInput, untilEnded } from '../disk/place/user-input.ts';
import { codeOf, Failure } from '../errors.ts';
import { bomOf, decode, guessEncoding, labelOf, refuseForeign, stdinName, subject } from './decode.ts';

/**
 * A file of text that can be read from its beginning any number of times, in constant memory. What was made of one
 * reading is true of the next: it throws at the end where it was not the same bytes as those of the first whole one.
 */
export type Source = {
  /** As messages and the report name it. */
  readonly name: string;
  /** Undefined for standard input. */
  readonly path: string | undefined;
  readonly encoding: string;
  readonly hasBom: boolean;
  /** At most 16 KB, and not zipped: what is made of it takes little memory. */
  readonly isSmall: boolean;
  read(): AsyncIterable<string>;
  /** SHA-256 of the bytes, unzipped, in hexadecimal; empty before the first whole reading. */
  digest(): string;
  /** Whether other bytes than those of the first reading stand at its path now; of a pipe, never. */
  hasChanged(): Promise<boolean>;
  close(): Promise<void>;
};

const pieceSize = 64 * 1024;
const stepSize = 4 * pieceSize;
const mostOfSmall = pieceSize / 4;

type Ports = Pick<Context, 'stdin' | 'stderr' | 'files' | 'signal' | 'progress'>;
type Opened = {
  readonly handle: FileHandle;
  readonly close: () => Promise<void>;
  /** What the path led to; undefined for what was copied. */
  readonly found?: BigIntStats;
};

/**
 * Opens a file, or standard input (`-`). What can be read only once (a pipe, a terminal's paste, a process
 * substitution) is first copied into the state folder: every row is checked before the first one is sent, and a
 * resumed run has to recognise the content.
 */
export async function openSource(ctx: Ports, file: string, wantedEncoding?: string): Promise<Source> {
  const isStdin = file === '-';
  // What a shell or the system names, such as /dev/fd/63, says nothing without its folder.
  const name = isStdin ? stdinName : /^\/(?:proc\/|dev\/(?:fd\/)?[^/]+$)/u.test(file) ? file : basename(file);
  const opened = isStdin ? await spool(ctx, stdinOf(ctx), name) : await openFile(ctx, file, name);
  try {
    const described = await describe(opened, name, isStdin ? undefined : resolve(file), wantedEncoding);
    const hasChanged = async () => {
      const now = await stat(file, { bigint: true }).catch(() => undefined);
      if (!opened.found || !now?.isFile() || isSameAs(opened.found, now)) return false;
      // It may only have been touched.
      const again = await openSource(ctx, file, wantedEncoding);
      try {
        for await (const _ of again.read());
        return again.digest() !== described.digest();
      } finally {
        await again.close();
      }
    };
    return { ...described, hasChanged };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

const isSameAs = (one: BigIntStats, other: BigIntStats): boolean =>
  (['dev', 'ino', 'size', 'mtimeNs'] as const).every((key) => one[key] === other[key]);

async function describe(
  { handle, close }: Opened,
  name: string,
  path: string | undefined,
  wantedEncoding: string | undefined,
): Promise<Omit<Source, 'hasChanged'>> {
  const head = Buffer.alloc(mostOfSmall + 1);
  const { bytesRead } = await handle.read(head, 0, head.length, 0);
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  const bytes = isGzip ? () => unzipped(handle, name) : () => pieces(handle, { reuse: true });
  const start = isGzip ? await firstPiece(bytes()) : head.subarray(0, Math.min(bytesRead, 4096));
  if (start.length === 0) {
    const isFile = path !== undefined;
    throw new Failure('usage', `${subject(name)} is empty.`, {
      hasNoRows: !isFile,
      hint: isFile ? needsRows : undefined,
    });
  }
  refuseForeign(start, name);

  const bom = bomOf(start);
  const encoding = bom ?? (wantedEncoding === undefined ? guessEncoding(start) : labelOf(wantedEncoding));
  return {
    name,
    path,
    encoding,
    hasBom: bom !== undefined,
    isSmall: !isGzip && bytesRead <= mostOfSmall,
    ...sameEachTime((onBytes) => decode(bytes, encoding, name, onBytes), name),
    close,
  };
}

function sameEachTime(
  readWith: (onBytes: (bytes: Uint8Array) => void) => AsyncIterable<string>,
  name: string,
): Pick<Source, 'read' | 'digest'> {
  let first = '';
  async function* read(): AsyncGenerator<string> {
    const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
    yield* readWith((bytes) => hash.update(bytes));
    const digest = hash.digest('hex');
    first ||= digest;
    if (digest !== first) throw changedMeanwhile(name);
  }
  return { read, digest: () => first };
}

/** Of a file without any. */
export const needsRows = 'Check what made the file: it needs a row for each record.';

export const changedMeanwhile = (name: string): Failure =>
  new Failure('failed', `${name} was changed while it was being read.`, {
    hint: 'Run the same command again: it goes on with the file as it is now.',
  });

const stdinOf = ({ stdin, signal }: Ports) => Object.assign(untilEnded(stdin, signal), { isTTY: stdin.isTTY });

const folder = (file: string): Failure =>
  new Failure('usage', `${file} is a folder, not a file.`, { hint: 'Name a file in it.' });

async function openFile(ctx: Ports, file: string, name: string): Promise<Opened> {
  const opened = await openUserInput(file, ctx.signal).catch(async (error: unknown) => {
    if (codeOf(error) === 'ENOENT') throw await noFile(file, `There is no file ${file}`);
    if (codeOf(error) === 'EACCES') throw new Failure('usage', `No permission to read ${file}.`);
    if (codeOf(error) === 'EISDIR') throw folder(file);
    throw new Failure('usage', `${file} cannot be opened.`, { cause: error });
  });
  if (opened.kind === 'once') return spool(ctx, opened.bytes, name);
  const { handle } = opened;
  const found = await handle.stat({ bigint: true });
  if (found.isFile()) return { handle, close: () => handle.close(), found };
  try {
    if (found.isDirectory()) throw folder(file);
    return await spool(ctx, handle.createReadStream({ autoClose: false }), name);
  } finally {
    await handle.close();
  }
}

/** A private copy, gone with this process: where the system allows it, the file has no name while it is in use. */
async function spool(
  ctx: Ports,
  input: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean },
  name: string,
): Promise<Opened> {
  if (input.isTTY) {
    throw new Failure('usage', 'Standard input is a terminal.', { hint: 'Pipe a CSV file in, or name one.' });
  }
  const folder = join(ctx.files.state, 'sync');
  await makeFolders(folder);
  const path = join(folder, `input-${process.pid}-${randomName()}`);
  const handle = await open(path, 'wx+', 0o600);
  const hasNoName = process.platform !== 'win32';
  if (hasNoName) await rm(path);
  const close = async () => {
    await handle.close();
    if (!hasNoName) await rm(path, { force: true });
  };
  // On a terminal the program that writes into a pipe shows its own signs of life.
  const tells = name !== stdinName || !ctx.stderr.isTTY;
  if (tells) ctx.progress(`Waiting for ${name}`);
  try {
    for await (const bytes of input) {
      if (tells) ctx.progress(undefined);
      await handle.writeFile(bytes);
    }
  } catch (error) {
    await close();
    if (error instanceof Failure) throw error;
    throw new Failure('failed', `${subject(name)} could not be copied to ${folder}.`, {
      hint: 'Is the disk full? A file needs no copy: svc contacts sync FILE',
      cause: error,
    });
  } finally {
    if (tells) ctx.progress(undefined);
  }
  return { handle, close };
}

/**
 * Read from the disk in large steps, since each is a wait, and handed on in small ones, since what is made of a piece
 * lives until the next. `reuse`: the same buffer each time, for a reader that is done with a piece before it asks for
 * the next.
 */
async function* pieces(handle: FileHandle, { reuse = false } = {}): AsyncGenerator<Buffer> {
  let buffer = Buffer.allocUnsafe(stepSize);
  for (let position = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    for (let at = 0; at < bytesRead; at += pieceSize) yield buffer.subarray(at, Math.min(at + pieceSize, bytesRead));
    if (!reuse) buffer = Buffer.allocUnsafe(stepSize);
  }
}

async function* unzipped(handle: FileHandle, name: string): AsyncGenerator<Buffer> {
  const gunzip = process.getBuiltinModule('node:zlib').createGunzip({ chunkSize: pieceSize });
  // Its errors come out of the reading below.
  const input = pipeline(Readable.from(pieces(handle), { highWaterMark: 2 }), gunzip, () => {});
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

import { constants, promises as fs } from 'node:fs';
import type { Context } from '../../context.ts';
import { codeOf, Failure, messageOf } from '../../errors.ts';
import { parseExactly, quoteIt, roundedIn } from '../../text/exact-json.ts';
import { unmeantIn } from '../../text/json-keys.ts';
import { toAppend } from '../file/open-flags.ts';
import { noFile } from './no-file.ts';

type Input = Pick<Context, 'stdin' | 'signal'>;

const largestText = 16 * 1024 * 1024;

/** The text of a file that the user named; `-` is standard input. UTF-8, with or without a byte order mark. */
export async function readUserText(ctx: Input, path: string, flag: string): Promise<string> {
  const bytes = await readUserBytes(ctx, path, flag);
  const convert = 'Convert it first, for example with iconv.';
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Failure('usage', `${flag}: ${path} is not UTF-8 text.`, { hint: convert });
  }
  // UTF-16 without a byte order mark, or no text at all: its reader would see neither.
  if (text.includes('\0'))
    throw new Failure('usage', `${flag}: ${path} is not UTF-8 text: it holds NUL bytes.`, { hint: convert });
  return text;
}

/** The very bytes, whatever they are; `-` is standard input. */
export async function readUserBytes(ctx: Input, path: string, flag: string): Promise<Uint8Array> {
  const { openUserInput, untilEnded } = await import('./user-input.ts');
  if (path === '-') return whole(untilEnded(ctx.stdin, ctx.signal), `${flag}: standard input`);
  try {
    const opened = await openUserInput(path, ctx.signal);
    return await whole(opened.kind === 'once' ? opened.bytes : opened.handle.createReadStream(), `${flag}: ${path}`);
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (codeOf(error) === 'ENOENT') throw await noFile(path, `${flag}: there is no file ${path}`);
    if (codeOf(error) === 'EISDIR')
      throw new Failure('usage', `${flag}: ${path} is a folder.`, { hint: 'Name a file in it.' });
    throw new Failure('usage', `${flag}: ${path} cannot be read: ${messageOf(error)}.`);
  }
}

/** The same as JSON. */
export async function readUserJson(ctx: Input, path: string, flag: string): Promise<unknown> {
  const text = await readUserText(ctx, path, flag);
  if (text.trim() === '') throw new Failure('usage', `${flag}: ${path} is empty.`);
  try {
    const value = parseExactly(text);
    const unmeant = unmeantIn(text);
    if (unmeant !== undefined) throw new Failure('usage', `${flag}: ${path} ${unmeant}.`);
    const rounded = roundedIn(value);
    if (rounded !== undefined) throw new Failure('usage', `${flag}: ${path} ${quoteIt(rounded)}.`);
    return value;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('usage', `${flag}: ${path} is not JSON: ${messageOf(error)}.`);
  }
}

/** Adds to a file that somebody else reads, for example that of a CI job's outputs. Waits for nobody. */
export async function appendUserText(path: string, text: string, what: string): Promise<void> {
  try {
    const file = await fs.open(path, constants.O_WRONLY | toAppend);
    await file.appendFile(text).finally(() => file.close());
  } catch (error) {
    throw new Failure('failed', `${what} cannot be written: ${whyNot(path, error)}.`);
  }
}

function whyNot(path: string, error: unknown): string {
  if (codeOf(error) === 'ENXIO') return `${path} is a pipe that nobody reads`;
  if (codeOf(error) === 'EAGAIN') return `whoever reads ${path} does not take all of it`;
  return messageOf(error);
}

async function whole(pieces: AsyncIterable<Uint8Array>, name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > largestText) throw new Failure('usage', `${name} is larger than 16 MiB.`);
    chunks.push(piece);
  }
  return Buffer.concat(chunks);
}

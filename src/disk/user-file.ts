import { promises as fs } from 'node:fs';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { isCode } from './atomic-file.ts';

const largestText = 16 * 1024 * 1024;

/** The text of a file that the user named; `-` is standard input. UTF-8, with or without a byte order mark. */
export async function readUserText(ctx: Pick<Context, 'stdin'>, path: string, flag: string): Promise<string> {
  const bytes = await readUserBytes(ctx, path, flag);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Failure('usage', `${flag}: ${path} is not UTF-8 text.`, {
      hint: 'Convert it first, for example with iconv.',
    });
  }
}

/** The very bytes, whatever they are; `-` is standard input. */
export async function readUserBytes(ctx: Pick<Context, 'stdin'>, path: string, flag: string): Promise<Uint8Array> {
  const bytes = path === '-' ? await readAll(ctx.stdin, flag) : await readNamed(path, flag);
  if (bytes.length > largestText) throw new Failure('usage', `${flag}: ${path} is larger than 16 MiB.`);
  return bytes;
}

/** The same as JSON. */
export async function readUserJson(ctx: Pick<Context, 'stdin'>, path: string, flag: string): Promise<unknown> {
  const text = await readUserText(ctx, path, flag);
  if (text.trim() === '') throw new Failure('usage', `${flag}: ${path} is empty.`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Failure('usage', `${flag}: ${path} is not JSON: ${(error as Error).message}.`);
  }
}

/** Adds to a file that somebody else reads, for example that of a CI job's outputs. */
export async function appendUserText(path: string, text: string, what: string): Promise<void> {
  try {
    await fs.appendFile(path, text);
  } catch (error) {
    throw new Failure('failed', `${what} cannot be written: ${(error as Error).message}.`);
  }
}

async function readNamed(path: string, flag: string): Promise<Uint8Array> {
  try {
    return await fs.readFile(path);
  } catch (error) {
    if (isCode(error, 'ENOENT')) throw new Failure('usage', `${flag}: there is no file ${path}.`);
    if (isCode(error, 'EISDIR')) throw new Failure('usage', `${flag}: ${path} is a folder.`);
    throw new Failure('usage', `${flag}: ${path} cannot be read: ${(error as Error).message}.`);
  }
}

export async function readAll(stdin: AsyncIterable<Uint8Array>, flag: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    size += chunk.length;
    if (size > largestText) throw new Failure('usage', `${flag}: standard input is larger than 16 MiB.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

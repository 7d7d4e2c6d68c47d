import { promisify } from 'node:util';
import type { InputType, ZlibOptions } from 'node:zlib';
import { largestAnswer, tooLarge } from './sending.ts';

/** No honest answer is larger. */
const mostEncodings = 3;

/** The body as text, its `Content-Encoding` undone. Every step is bounded: a small body may hold a huge one. */
export async function decode(bytes: Buffer, encoding = ''): Promise<string> {
  const encodings = encoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (encodings.length === 0 || bytes.length === 0) return bytes.toString('utf8');
  const decoders = await known();
  let decoded = bytes;
  // The encoding named last was applied last, so it is undone first.
  for (const name of encodings.reverse()) {
    const decoder = decoders.get(name);
    if (!decoder || encodings.length > mostEncodings) throw coded('SVC_ENCODING', encoding);
    decoded = await decoder(decoded, { maxOutputLength: largestAnswer }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
      throw error.code === 'Z_BUF_ERROR' ? coded('SVC_CUT', error.message) : coded('SVC_ENCODING', encoding);
    });
  }
  return decoded.toString('utf8');
}

type Decoder = (bytes: InputType, options: ZlibOptions) => Promise<Buffer>;

// A Map: names come from the peer, and an object has names of its own, such as `constructor`.
async function known(): Promise<ReadonlyMap<string, Decoder>> {
  const { brotliDecompress, gunzip, inflate } = await import('node:zlib');
  const gzip: Decoder = promisify<InputType, ZlibOptions, Buffer>(gunzip);
  return new Map<string, Decoder>([
    ['gzip', gzip],
    ['x-gzip', gzip],
    ['br', promisify<InputType, ZlibOptions, Buffer>(brotliDecompress)],
    ['deflate', promisify<InputType, ZlibOptions, Buffer>(inflate)],
  ]);
}

const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code });

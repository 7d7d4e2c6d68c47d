import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { lineReader } from '../../src/node/line-reader.ts';

test('a character that comes in two parts is one, and what comes behind a line waits for the next question', async () => {
  const input = new PassThrough();
  const { next } = lineReader(input as unknown as NodeJS.ReadStream, new AbortController().signal);
  const bytes = Buffer.from('Grüße 👋\nand more\r\nlast');
  for (let at = 0; at < bytes.length; at++) input.write(bytes.subarray(at, at + 1));
  input.end();
  expect([await next(), await next(), await next(), await next()]).toEqual(['Grüße 👋', 'and more', 'last', undefined]);
});

// The digest of a short text without node:crypto, held against node:crypto.
import { expect, test } from 'vitest';
import { hexDigestOf } from '../../src/text/digest.ts';
import { hexDigestOfShort } from '../../src/text/short-digest.ts';
import { anyText, fc } from '../chance.ts';

test('is the digest of node:crypto at every length around the ends of blocks', () => {
  for (let length = 0; length <= 200; length++) {
    const text = 'x'.repeat(length);
    expect([length, hexDigestOfShort(text)]).toEqual([length, hexDigestOf(text)]);
  }
});

test('is the digest of node:crypto for any text', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 300 }), (text) => {
      expect(hexDigestOfShort(text)).toBe(hexDigestOf(text));
    }),
  );
});

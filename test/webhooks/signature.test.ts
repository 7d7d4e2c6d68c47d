import { expect, test } from 'vitest';
import { sign } from '../../src/api/signature.ts';

// RFC 4231, test cases 1 and 2: made by others, so that the function does not judge itself.
const cases: [string, Uint8Array, Uint8Array, string][] = [
  [
    'a key of 20 bytes',
    Buffer.alloc(20, 0x0b),
    Buffer.from('Hi There'),
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  ],
  [
    'a key shorter than the hash',
    Buffer.from('Jefe'),
    Buffer.from('what do ya want for nothing?'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
];

test.each(cases)('the signature agrees with RFC 4231: %s', (_, key, body, signature) => {
  expect(sign(Buffer.from(key).toString('latin1'), body)).toBe(signature);
});

test('the bytes are signed, not the text: a body that is no UTF-8 and an empty one have a signature too', () => {
  expect(sign('whsec_sample', Uint8Array.of(0xff, 0xfe))).toMatch(/^[0-9a-f]{64}$/u);
  expect(sign('whsec_sample', new Uint8Array())).not.toBe(sign('whsec_sample', Uint8Array.of(0)));
});

test('a secret outside ASCII keys by its UTF-8 bytes', () => {
  // printf '{}' | openssl dgst -sha256 -hmac 'clé'
  expect(sign('clé', Buffer.from('{}'))).toBe('601f34a13f988e6e9f3a8069cc08856e777dd3fbb72f8fe98b9dc72c91b76269');
});

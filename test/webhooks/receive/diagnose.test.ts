import { createHash, createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { sign } from '../../../src/api/signature.ts';
import { diagnose } from '../../../src/webhooks/receive/diagnose.ts';

const secret = 'sample-secret';
const body = Buffer.from('{"id":"evt_1","url":"https://example.com/ü"}');
const right = sign(secret, body);
const given = (text: string) => Buffer.from(text);

test.each([
  ['with the secret', [secret]],
  ['with one of several secrets', ['a', secret, 'b']],
])('nothing is wrong %s', (_, secrets) => {
  expect(diagnose(right, body, secrets)).toBeUndefined();
  expect(diagnose(right.toUpperCase(), body, secrets)).toBeUndefined();
});

test.each([
  ['cut off', right.slice(0, 20), body, /cut off after 20 of 64/u],
  ['empty', '', body, /no X-SVC-Signature/u],
  ['too short', 'abc', body, /not 64 characters/u],
  ['not hex', 'z'.repeat(64), body, /not hexadecimal/u],
  ['in upper case, and wrong', 'ABCDEF'.padEnd(64, 'A'), body, /another secret, or the body is not/u],
  ['with a prefix', `sha256=${right}`, body, /right signature in another form/u],
  ['with a line end', `${right}\n`, body, /right signature in another form/u],
  ['in base64', createHmac('sha256', secret).update(body).digest('base64'), body, /base64/u],
  ['a plain hash', createHash('sha256').update(body).digest('hex'), body, /no secret was used/u],
  ['of another secret', sign('other', body), body, /another secret, or the body is not/u],
  ['of the secret with a line end', sign(`${secret}\n`, body), body, /another form/u],
])('a signature that is %s: the reason is told', (_, signature, bytes, why) => {
  expect(diagnose(signature, bytes, [secret])).toMatch(why);
});

const inAnotherForm =
  'It is the right signature in another form: the service sends 64 hex characters and nothing else.';

test.each([
  ['cut off after 7 characters', right.slice(0, 7), 'The signature is not 64 characters long.'],
  ['cut off after 8 characters', right.slice(0, 8), 'It is the right signature cut off after 8 of 64 characters.'],
  ['cut off after 63 characters', right.slice(0, 63), 'It is the right signature cut off after 63 of 64 characters.'],
  ['the right one and more', `${right}00`, 'The signature is not 64 characters long.'],
  [
    'with a prefix in the middle',
    `${right.slice(0, 9)}0x${right.slice(9)}`,
    'The signature is not 64 characters long.',
  ],
  ['with spaces', ` ${right} `, inAnotherForm],
  ['with a prefix in upper case', `V1=${right}`, inAnotherForm],
  ['with the prefix of hex', `0x${right}`, inAnotherForm],
  [
    'in base64 with a line end',
    `${Buffer.from(right, 'hex').toString('base64')}\n`,
    'It is the right signature in base64; the service sends hex.',
  ],
])('a signature that is %s: the reason is told in a sentence', (_, signature, sentence) => {
  expect(diagnose(signature, body, [secret])).toBe(sentence);
  expect(diagnose(signature, body, ['another', secret])).toBe(sentence);
});

const hex = Buffer.from(secret).toString('hex');
const base64 = Buffer.from(secret).toString('base64');
test.each([
  ['a line end after it', secret, `${secret}\n`],
  ['a space before it', secret, ` ${secret}`],
  ['a space after it', secret, `${secret} `],
  ['its hex decoded', hex, secret],
  ['its base64 decoded', base64, secret],
])('the secret was used with %s', (_, known, used) => {
  const signature = sign(used, body);
  expect(diagnose(signature, body, [known])).toMatch(/^It was signed with this secret in another form/u);
  expect(diagnose(signature, body, ['another', known])).toMatch(/^It was signed with this secret in another form/u);
});

const fits = (what: string) => `The body was changed: the signature fits the body ${what}.`;
const again = fits('before it was parsed and written again');

test.each([
  ['a line end was added', '{"a":1}', '{"a":1}\n', fits('without its final line end')],
  ['a line end was added to several', '{\n"a":1}', '{\n"a":1}\r\n', fits('without its final line end')],
  ['its line end was cut', '{"a":1}\n', '{"a":1}', fits('with a final line end')],
  ['line feeds became CRLF', '{\n"a":1\n}', '{\r\n"a":1\r\n}', fits('with other line ends')],
  ['CRLF became line feeds', '{\r\n"a":1\r\n}', '{\n"a":1\n}', fits('with other line ends')],
  [
    'a byte order mark was put before it',
    '{"a":"\ufeff"}',
    '\ufeff{"a":"\ufeff"}',
    fits('without its byte order mark'),
  ],
  ['white space was put around it', '{"a":1}', ' \n{"a":1}\t\n', fits('without the white space around it')],
  ['spaces were put into it', '{"a":"x/y"}', '{ "a": "x/y" }', again],
  ['escaped slashes were written plainly', '{"a":"x\\/y"}', '{"a":"x/y"}', again],
  ['escaped slashes beside plain letters were written plainly', '{"a":"ü\\/"}', '{"a":"ü/"}', again],
  ['escaped letters were written plainly', '{"a":"\\u00fc\\u20ac/"}', '{"a":"ü€/"}', again],
  ['escaped letters and slashes were written plainly', '{"a":"\\u00fc\\/"}', '{"a":"ü/"}', again],
  ['an escaped emoji was written plainly', '{"a":"\\ud83d\\ude00"}', '{"a":"😀"}', again],
  ['an indent of two was taken out', '{\n  "a": "ü"\n}', '{"a":"ü"}', again],
  ['an indent of four was taken out', '{\n    "a": "ü"\n}', '{"a":"ü"}', again],
])('a body that was changed: %s', (_, sent, received, sentence) => {
  expect(diagnose(sign(secret, given(sent)), given(received), [secret])).toBe(sentence);
  expect(diagnose(sign(secret, given(sent)), given(received), ['another', secret])).toBe(sentence);
});

test('what became of the body or the secret otherwise cannot be told', () => {
  const unknown = 'it was signed with another secret, or the body is not byte for byte the one that was sent.';
  expect(diagnose(sign('x', body), body, [secret])).toBe(`It does not match: ${unknown}`);
  expect(diagnose(sign('x', body), body, ['a', 'b'])).toBe(`None of the secrets matches: ${unknown}`);
  expect(diagnose(sign('x', body), given('no JSON'), ['a'])).toBe(`It does not match: ${unknown}`);
});

import { createHash, createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { sign } from '../../src/api/signature.ts';
import { diagnose } from '../../src/webhooks/receiving/diagnose.ts';

const secret = 'sample-secret';
const body = Buffer.from('{"id":"evt_1","url":"https://example.com/ü"}');
const right = sign(secret, body);
const given = (text: string) => Buffer.from(text);

test.each([
  ['with the secret', [secret]],
  ['with one of several secrets', ['a', secret, 'b']],
])('nothing is wrong %s', (_, secrets) => {
  expect(diagnose(right, body, secrets)).toBeUndefined();
});

test.each([
  ['cut off', right.slice(0, 20), body, /cut off after 20 of 64/u],
  ['empty', '', body, /no X-SVC-Signature/u],
  ['too short', 'abc', body, /not 64 characters/u],
  ['not hex', 'z'.repeat(64), body, /not hexadecimal/u],
  ['in upper case', right.toUpperCase(), body, /right signature in another form/u],
  ['in upper case, and wrong', 'ABCDEF'.padEnd(64, 'A'), body, /upper case/u],
  ['with a prefix', `sha256=${right}`, body, /right signature in another form/u],
  ['with a line end', `${right}\n`, body, /right signature in another form/u],
  ['in base64', createHmac('sha256', secret).update(body).digest('base64'), body, /base64/u],
  ['a plain hash', createHash('sha256').update(body).digest('hex'), body, /no secret was used/u],
  ['of another secret', sign('other', body), body, /another secret, or the body is not/u],
  ['of the secret with a line end', sign(`${secret}\n`, body), body, /another form/u],
])('a signature that is %s: the reason is told', (_, signature, bytes, why) => {
  expect(diagnose(signature, bytes, [secret])).toMatch(why);
});

test.each([
  ['a line end was added', `${body}\n`, /without its final line end/u],
  ['a carriage return and line feed were added', `${body}\r\n`, /without its final line end/u],
  ['it was written anew with spaces', JSON.stringify(JSON.parse(String(body)), undefined, 2), /written again/u],
  ['its letters were escaped', String(body).replace('ü', '\\u00fc'), /written again/u],
  ['a byte order mark was put before it', `\ufeff${body}`, /byte order mark|white space/u],
])('a body that was changed: %s', (_, changed, why) => {
  expect(diagnose(right, given(changed), [secret])).toMatch(why);
});

test('with several secrets it is said that none matches', () => {
  expect(diagnose(sign('x', body), body, ['a', 'b'])).toMatch(/None of the secrets matches/u);
});

import { expect, test } from 'vitest';
import { sign } from '../../../src/api/signature.ts';
import { judge, type Refusal } from '../../../src/webhooks/receive/judge.ts';
import { fc } from '../../chance.ts';

const secret = 'sample-secret';
const bytes = (text: string) => Buffer.from(text);
const envelope = {
  event: 'ticket.created',
  id: 'evt_1',
  created_at: '2026-01-02T03:04:05+00:00',
  data: { ticket_id: 7 },
};
const body = bytes(JSON.stringify(envelope));
const never = () => false;
const signed = (raw: Uint8Array, key = secret) => ({
  'x-svc-signature': sign(key, raw),
  'x-svc-event': 'ticket.created',
});

test('a delivery signed with the secret is accepted', () => {
  expect(judge(signed(body), body, [secret], never)).toEqual({ kind: 'accepted', envelope });
});

test('a signature in upper case is hex as well', () => {
  const headers = { ...signed(body), 'x-svc-signature': sign(secret, body).toUpperCase() };
  expect(judge(headers, body, [secret], never)).toEqual({ kind: 'accepted', envelope });
});

test('the signature is that of the document: hex HMAC-SHA256 of the raw bytes', () => {
  // printf '{"id":"a"}' | openssl dgst -sha256 -hmac key
  const known = '5639c1cb16d1b599fedbc21d6392a596942a6b171b1be9e0fd60014bbb7ba483';
  expect(sign('key', bytes('{"id":"a"}'))).toBe(known);
});

test('any one of several secrets is enough, whichever place it has', () => {
  for (const secrets of [
    [secret, 'b', 'c'],
    ['a', secret, 'c'],
    ['a', 'b', secret],
  ]) {
    expect(judge(signed(body), body, secrets, never).kind).toBe('accepted');
  }
});

const good = sign(secret, body);
const refused: readonly (readonly [string, string | undefined, Refusal])[] = [
  ['missing', undefined, 'no-signature'],
  ['empty', '', 'no-signature'],
  ['truncated', good.slice(0, 63), 'wrong-length'],
  ['one character too long', `${good}0`, 'wrong-length'],
  ['sent twice', `${good}, ${good}`, 'wrong-length'],
  ['with a prefix', `sha256=${good}`, 'wrong-length'],
  ['not hexadecimal', `${good.slice(0, 62)}zz`, 'not-hex'],
  ['not hexadecimal at its beginning', `zz${good.slice(2)}`, 'not-hex'],
  ['in upper case and not hexadecimal at its beginning', `ZZ${good.slice(2).toUpperCase()}`, 'not-hex'],
  ['with a space in it', `${good.slice(0, 63)} `, 'not-hex'],
  ['with a non-ASCII digit', `${good.slice(0, 63)}١`, 'not-hex'],
  ['of another secret', sign('other', body), 'no-match'],
  ['of another body', sign(secret, bytes('{}')), 'no-match'],
  ['of another secret, in upper case', sign('other', body).toUpperCase(), 'no-match'],
  ['all zeros', '0'.repeat(64), 'no-match'],
];

test.each(refused)('a signature that is %s is refused', (_, signature, why) => {
  const headers: Record<string, string> = signature === undefined ? {} : { 'x-svc-signature': signature };
  expect(judge(headers, body, [secret], never)).toEqual({ kind: 'rejected', why });
});

test('without any secret nothing is accepted', () => {
  expect(judge(signed(body), body, [], never)).toEqual({ kind: 'rejected', why: 'no-match' });
});

test('a repeat is told by its envelope id', () => {
  expect(judge(signed(body), body, [secret], (id) => id === 'evt_1').kind).toBe('repeat');
  expect(judge(signed(body), body, [secret], (id) => id === 'evt_2').kind).toBe('accepted');
});

test.each([
  ['not JSON', bytes('hello')],
  ['not JSON', bytes('')],
  ['not JSON', Uint8Array.of(0xff, 0xfe, 0x7b)],
  ['not JSON', Buffer.concat([bytes('{"id":"'), Uint8Array.of(0xff), bytes('"}')])],
  ['not an object', bytes('[]')],
  ['not JSON', bytes('\ufeff{"id":"evt_1"}')],
  ['not an object', bytes('null')],
  ['not an object', bytes('7')],
  ['not an object', bytes('"evt_1"')],
  ['without an id', bytes('{"event":"ticket.created"}')],
  ['without an id', bytes('{"id":""}')],
  ['without an id', bytes('{"id":7}')],
  ['nested too deeply', bytes(`{"id":"x","data":${'['.repeat(300_000)}${']'.repeat(300_000)}}`)],
])('a signed body that is %s is unreadable, not refused', (why, raw) => {
  expect(judge(signed(raw), raw, [secret], never)).toEqual({ kind: 'unreadable', why, event: 'ticket.created' });
});

test('200 levels are read, one more is too deep', () => {
  const nested = (levels: number) => bytes(`{"id":"x","data":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`);
  expect(judge(signed(nested(200)), nested(200), [secret], never).kind).toBe('accepted');
  expect(judge(signed(nested(201)), nested(201), [secret], never)).toMatchObject({ why: 'nested too deeply' });
});

test('brackets within texts do not count as nesting', () => {
  const raw = bytes(JSON.stringify({ id: 'x', data: { body: '[{"'.repeat(1000) } }));
  expect(judge(signed(raw), raw, [secret], never).kind).toBe('accepted');
});

test('the envelope names the event, not the header, which is not signed', () => {
  const verdict = judge({ ...signed(body), 'x-svc-event': 'feedback.created' }, body, [secret], never);
  expect(verdict).toMatchObject({ kind: 'accepted', envelope: { event: 'ticket.created' } });
});

test.each([
  ['{"id":"evt_1"}', 'feedback.created', 'accepted', { envelope: { id: 'evt_1', event: 'feedback.created' } }],
  ['{"id":"evt_1","event":7}', 'feedback.created', 'accepted', { envelope: { event: 'feedback.created' } }],
  ['{"id":"evt_1"}', undefined, 'accepted', { envelope: { event: null } }],
  ['{"event":"ticket.created"}', 'feedback.created', 'unreadable', { event: 'ticket.created' }],
  ['hello', undefined, 'unreadable', { event: null }],
])('the event of %s with the header %s', (text, header, kind, rest) => {
  const raw = bytes(text);
  const { 'x-svc-event': _, ...bare } = signed(raw);
  expect(judge({ ...bare, ...(header && { 'x-svc-event': header }) }, raw, [secret], never)).toMatchObject({
    kind,
    ...rest,
  });
});

test('nothing but the true signature is ever accepted, and no input makes judging throw', () => {
  fc.assert(
    fc.property(fc.string(), fc.uint8Array({ maxLength: 400 }), (signature, raw) => {
      expect(judge({ 'x-svc-signature': signature }, raw, [secret], never).kind).toBe('rejected');
      expect(['accepted', 'unreadable']).toContain(judge(signed(raw), raw, [secret], never).kind);
    }),
  );
});

import { expect, test } from 'vitest';
import { isRevocation } from '../../src/auth/revocation.ts';

const answer = (body: string) => ({ status: 200, headers: { 'content-type': 'application/json' }, body });

test.each([
  '',
  '{}',
  'null',
  'true',
  '[]',
  'OK',
  '"OK"',
  '"revoked"',
  '{"success":true,"message":"Token invalidated"}',
  '{"success":true,"message":"Logged out"}',
  '{"status":"ok","message":""}',
  '{"success":true,"status":"completed"}',
  '{"revoked":true,"error":null}',
  '{"message":"The token was revoked."}',
  '{"data":{"revoked":true},"request_id":"7"}',
  '{"status":200}',
  '{"result":"revoked"}',
  '{"deleted":true}',
  '{"invalidated":true}',
  '{"data":null}',
  '{"error":""}',
])('%s says that it is done', (body) => {
  expect(isRevocation(answer(body))).toBe(true);
});

test.each([
  '{"redirect":"https://portal.example/login","reason":"login required"}',
  '{"code":"unauthorized"}',
  '{"result":"failed"}',
  '{"fault":"invalid token"}',
  '{"login_required":true}',
  '{"token_revoked":false}',
  '{"data":{"error":"x"}}',
  '{"success":true,"error":"busy"}',
  '{"success":false}',
  '{"ok":true,"status":"error"}',
  '{"success":true,"message":"Token was not revoked"}',
  '{"success":1,"detail":"denied"}',
  '{"not_revoked":true}',
  '{"status":"ok","code":503}',
  '{"message":"The token could not be revoked"}',
  '"unauthorized"',
  '<html>Sign in</html>',
  '7',
])('%s does not', (body) => {
  expect(isRevocation(answer(body))).toBe(false);
});

test('whatever type a server gives to a bare word: OK says that it is done, markup does not', () => {
  const html = { 'content-type': 'text/html; charset=UTF-8' };
  expect(isRevocation({ ...answer('OK'), headers: html })).toBe(true);
  for (const body of ['<p>OK</p>', '<!doctype html>\nOK', 'OK <a href="/login">Sign in</a>']) {
    expect(isRevocation({ ...answer(body), headers: html })).toBe(false);
    expect(isRevocation({ ...answer(body), headers: {} })).toBe(false);
  }
});

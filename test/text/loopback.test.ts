import { expect, test } from 'vitest';
import { isLoopbackHost } from '../../src/text/loopback.ts';

test.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.9.8.7', '[::1]'])('%s is this machine', (hostname) => {
  expect(isLoopbackHost(hostname)).toBe(true);
});

test.each([
  '127.example.com',
  '127.0.0.1.example.com',
  'localhost.example.com',
  '128.0.0.1',
  '[::2]',
  '127.0.0.1\n',
  '',
])('%j is not this machine', (hostname) => {
  expect(isLoopbackHost(hostname)).toBe(false);
});

import { expect, test } from 'vitest';
import { isOwnHost } from '../../src/sandbox/host.ts';

test.each([
  ...['127.0.0.1:4010', 'localhost', 'LOCALHOST:4010', '[::1]:4010', '0.0.0.0:4010', 'acme.localhost', '127.3.2.1'],
  ...['host.docker.internal:4010', 'host.containers.internal'],
])('%s names this machine', (host) => expect(isOwnHost(host)).toBe(true));

test.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '0.0.0.0.evil.example', '10.0.0.7', ''])(
  '%s may be a name of somebody else',
  (host) => expect(isOwnHost(host)).toBe(false),
);

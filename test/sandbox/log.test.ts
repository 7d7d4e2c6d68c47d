import { expect, test } from 'vitest';
import { createLog, type LogEntry } from '../../src/sandbox/control/log.ts';

const entry = (fields: Partial<LogEntry> = {}): LogEntry => ({
  at: 0,
  method: 'POST',
  path: '/x',
  query: '',
  status: 200,
  credential: 'api_key',
  body: '',
  ...fields,
});
const shown = (fields: Partial<LogEntry>) => {
  const log = createLog();
  log.add(entry(fields));
  return log.entries()[0] as { body: unknown; query: string };
};

test('the log keeps the last ten thousand requests', () => {
  const log = createLog();
  for (let n = 1; n <= 25_000; n++) log.add(entry({ status: n }));
  const kept = log.entries() as { status: number }[];
  expect([kept.length, kept[0]?.status, kept.at(-1)?.status]).toEqual([10_000, 15_001, 25_000]);
});

test('large bodies push older requests out', () => {
  const log = createLog();
  const megabytes = 'x'.repeat(4 * 1024 * 1024);
  for (let n = 1; n <= 20; n++) log.add(entry({ status: n, path: '', body: megabytes }));
  expect(log.entries().map((each) => (each as { status: number }).status)).toEqual([13, 14, 15, 16, 17, 18, 19, 20]);
});

test('long paths and queries push older requests out too', () => {
  const log = createLog();
  const long = 'x'.repeat(2 * 1024 * 1024);
  for (let n = 1; n <= 20; n++) log.add(entry({ status: n, path: long, query: long }));
  expect(log.entries()).toHaveLength(8);
});

test.each([
  [
    '{"name":"Ada","client_secret":"abc","nested":{"access_token":"t"}}',
    { name: 'Ada', client_secret: '[redacted]', nested: { access_token: '[redacted]' } },
  ],
  ['{"note":"the key is key_acme, ok?"}', { note: 'the key is [redacted], ok?' }],
  ['grant_type=refresh_token&refresh_token=abc', 'grant_type=refresh_token&refresh_token=[redacted]'],
  ['code=abc&code_verifier=def&redirect_uri=x', 'code=[redacted]&code_verifier=[redacted]&redirect_uri=x'],
  ['{broken key_globex', '{broken [redacted]'],
  ['', null],
])('secrets in a body are redacted: %s', (body, expected) => {
  expect(shown({ body }).body).toEqual(expected);
});

test('secrets in a query are redacted', () => {
  expect(shown({ query: 'page=2&token=abc' }).query).toBe('page=2&token=[redacted]');
});

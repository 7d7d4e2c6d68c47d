import { expect, test } from 'vitest';
import { message } from '../../src/text/layout.ts';

test.each([
  ['fits', 'Error: It fits.', 'Error: It fits.'],
  [
    'is broken between words',
    'The ticket may or may not have been created (HTTP 502).',
    'The ticket may or may not have been\ncreated (HTTP 502).',
  ],
  [
    'keeps a command whole, on a line of its own',
    'Check the id, and the account with: svc whoami',
    'Check the id, and the account with:\nsvc whoami',
  ],
  [
    'keeps a command whole that is longer than a line',
    "Look with: svc -p third tickets list --search 'hello, you' --json. Then go on.",
    "Look with:\nsvc -p third tickets list --search 'hello, you' --json.\nThen go on.",
  ],
  [
    'goes on behind a command',
    'Run: svc login (or with --with-api-key). In CI, set SVC_API_KEY.',
    'Run: svc login (or with --with-api-key).\nIn CI, set SVC_API_KEY.',
  ],
  [
    'keeps a flag and its value in quotes whole',
    "To see the urgent ones first: --sort -priority. Those alone: --jq 'map(select(.priority == 4))'",
    "To see the urgent ones first: --sort\n-priority. Those alone:\n--jq 'map(select(.priority == 4))'",
  ],
  [
    'takes no apostrophe for a quote',
    "It is the service's own limit and not the account's. See --max-wait for it.",
    "It is the service's own limit and not\nthe account's. See --max-wait for it.",
  ],
  [
    'leaves what is laid out already',
    `  https://service.test/${'x'.repeat(40)}`,
    `  https://service.test/${'x'.repeat(40)}`,
  ],
])('a message on a terminal of 40 columns %s', (_, text, shown) => {
  expect(message(text, 40)).toBe(shown);
});

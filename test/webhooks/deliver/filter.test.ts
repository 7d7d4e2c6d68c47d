// The filter of a sink: what counts against its second, and whose the event is.
import { expect, test } from 'vitest';
import { createFilter } from '../../../src/webhooks/deliver/filter.ts';

const event = (id: string, fields: object, account?: string) => ({
  id,
  body: Buffer.from(JSON.stringify({ id, event: 'ticket.created', ...fields })),
  ...(account !== undefined && { account }),
});

test('the second of a filter begins when jq is loaded, so a machine that has much to do gets through', {
  tags: ['long'],
}, async () => {
  const asked: string[] = [];
  const limit = (id: string) => {
    asked.push(id);
    // The first one is over at once, and its thread with it.
    return id === 'first' ? AbortSignal.timeout(1) : new AbortController().signal;
  };
  const filter = createFilter('if .data == "hangs" then last(repeat(1)) else .data end', () => {}, limit);
  const first = filter(event('first', { data: 'hangs' }));
  const second = filter(event('second', { data: true }));
  // No thread answers before this one is at rest.
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  expect(asked).toEqual([]);
  expect(await first).toEqual({ undecided: 'the filter took more than a second' });
  expect([await second, asked]).toEqual(['wanted', ['first', 'second']]);
});

test('the account is the one that it came in for, whatever the envelope says', async () => {
  const filter = createFilter('.account == "acme" and .data == 1', () => {});
  expect(await filter(event('forged', { account: 'acme', data: 1 }, 'globex'))).toBe('unwanted');
  expect(await filter(event('own', { account: 'globex', data: 1 }, 'acme'))).toBe('wanted');
});

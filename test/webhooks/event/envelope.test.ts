import { expect, test } from 'vitest';
import { accountOf, readEnvelope } from '../../../src/webhooks/event/envelope.ts';

test.each([
  [{ account_id: 7 }, 7],
  [{ account_id: 0 }, 0],
  [{ account_id: '7' }, undefined],
  [{ account_id: 7.5 }, undefined],
  [{ account_id: 2 ** 53 }, undefined],
  [{ account_id: null }, undefined],
  [{}, undefined],
  [[7], undefined],
  ['account_id', undefined],
  [null, undefined],
  [undefined, undefined],
])('%#: the account is told where the data names a whole number', (data, account) => {
  expect(accountOf({ data })).toBe(account);
});

test.each([
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'not JSON'],
  ['a byte order mark', Buffer.from('\ufeff{"id":"evt_1"}'), 'not JSON'],
  ['UTF-16', Buffer.from('{"id":"evt_1"}', 'utf16le'), 'not JSON'],
])('%s make no envelope, and the event is what the header claims', (_, raw, why) => {
  expect(readEnvelope(raw, 'ticket.created')).toEqual({ why, event: 'ticket.created' });
});

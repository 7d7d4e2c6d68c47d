import { afterEach, expect, test } from 'vitest';
import { momentText } from '../../src/inbox/moment.ts';
import { momentOf } from '../../src/inbox/snoozing.ts';

const before = process.env.TZ;
afterEach(() => {
  process.env.TZ = before;
});

test.each([
  ['Europe/Berlin', '2027-10-31T00:30:00.000Z', '2027-10-31 02:30 +02:00'],
  ['Europe/Berlin', '2027-10-31T01:30:00.000Z', '2027-10-31 02:30 +01:00'],
  ['Europe/Berlin', '2027-10-31T02:00:00.000Z', '2027-10-31 03:00'],
  ['Europe/Berlin', '2027-03-28T01:30:00.000Z', '2027-03-28 03:30'],
  ['Australia/Lord_Howe', '2027-04-03T14:45:00.000Z', '2027-04-04 01:45 +11:00'],
  ['America/St_Johns', '2027-11-07T03:45:00.000Z', '2027-11-07 01:15 -02:30'],
  ['UTC', '2027-10-31T01:30:00.000Z', '2027-10-31 01:30'],
])('in %s, %s is told as %s', (zone, time, text) => {
  process.env.TZ = zone;
  expect(momentText(time)).toBe(text);
});

test('Monday 9:00 that is chosen early on a Monday is the next one; typed, it is today', () => {
  const early = new Date(2027, 2, 1, 7);
  expect(momentOf('monday', early)).toBe(new Date(2027, 2, 8, 9).toISOString());
  expect(momentOf({ time: 'monday 9:00' }, early)).toBe(new Date(2027, 2, 1, 9).toISOString());
});

// Times as people type them: none becomes another day.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseComing, parsePast, parseTime } from '../../src/text/time.ts';

const zone = process.env.TZ;
afterEach(() => {
  process.env.TZ = zone;
});

const days = [
  '2026-02-29',
  '2026-02-30',
  '2027-04-31',
  '2026-13-01',
  '2026-00-10',
  '2026-01-00',
  '0050-01-01',
  '0000-01-01',
  '0099-12-31',
];
const forms = ['', 'T10:00', ' 10:00', 'T10:00:00', 'T10:00:00.5'];

test.each(days.flatMap((day) => forms.map((form) => day + form)))('%s is refused', (text) => {
  expect(() => parseTime(text, '--due-at')).toThrow('--due-at must be a time like');
  expect(() => parsePast(text, '--since', new Date())).toThrow('--since must be a time like');
});

test.each(['01-31-2026', '31-01-2026', 'Sat, 31 Jan 2026 09:00:00 +0100', '2026-01-31-2026', '1/31/2026 10:00+01:00'])(
  '%s is refused: the service would read another time, or none',
  (text) => {
    expect(() => parseTime(text, '--due-at')).toThrow('--due-at must be a time like');
  },
);

const zones = ['Z', ' 10:00Z', 'T10:00:00Z', 'T10:00:00+01:00', 'T10:00:00+0100', ' 10:00+01:00'];

test.each(['2027-02-29', '2027-04-31', '2026-13-01'].flatMap((day) => zones.map((form) => day + form)))(
  '%s is refused',
  (text) => {
    expect(() => parseTime(text, '--due-at')).toThrow('--due-at must be a time like');
  },
);

test.each([
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ['2028-02-29T10:00', '2028-02-29T10:00:00.000Z'],
  ['2026-01-31 24:00', '2026-02-01T00:00:00.000Z'],
  ['2026-12-31 23:59:59.5', '2026-12-31T23:59:59.500Z'],
  ['2028-02-29T10:00:00+01:00', '2028-02-29T10:00:00+01:00'],
])('%s is %s', (text, iso) => expect(parseTime(text, '--due-at')).toBe(iso));

describe('where the clocks go forward', () => {
  beforeEach(() => {
    process.env.TZ = 'Europe/Berlin';
  });

  test.each(['2026-03-29 02:30', '2026-03-29T02:00', '2026-03-29T02:59:59'])('%s is no time here', (text) => {
    expect(() => parseTime(text, '--due-at')).toThrow(
      /^--due-at: there is no .* here, since the clocks skip that hour\./u,
    );
  });

  test.each([
    ['2026-03-29 01:59', '2026-03-29T00:59:00.000Z'],
    ['2026-03-29 03:00', '2026-03-29T01:00:00.000Z'],
    ['2026-03-29T02:30:00+01:00', '2026-03-29T02:30:00+01:00'],
    ['2026-10-25 02:30', '2026-10-25T00:30:00.000Z'],
    ['2026-03-28 24:00', '2026-03-28T23:00:00.000Z'],
  ])('%s is %s', (text, iso) => expect(parseTime(text, '--due-at')).toBe(iso));

  test('an hour of a day to come that is skipped is refused too', () => {
    const now = new Date('2026-03-28T12:00:00Z');
    expect(() => parseComing('tomorrow 2:30', '--at', now)).toThrow('there is no tomorrow 2:30 here');
    expect(parseComing('tomorrow 3:00', '--at', now)).toBe('2026-03-29T01:00:00Z');
  });

  test('of an hour that comes twice the first is over in the second: a weekday at that time is next week’s', () => {
    process.env.TZ = 'America/New_York';
    const between = new Date('2026-11-01T06:04:00Z');
    expect(parseComing('sunday 1:15', '--at', between)).toBe('2026-11-08T06:15:00Z');
    expect(parseComing('sunday 1:15', '--at', new Date('2026-11-01T05:04:00Z'))).toBe('2026-11-01T05:15:00Z');
  });

  test('an hour that was skipped today is next week’s', () => {
    process.env.TZ = 'America/New_York';
    expect(parseComing('sunday 2:30', '--at', new Date('2026-03-08T07:10:00Z'))).toBe('2026-03-15T06:30:00Z');
    expect(() => parseComing('sunday 2:30', '--at', new Date('2026-03-08T06:10:00Z'))).toThrow('skip that hour');
  });

  test('a day to come that has no midnight begins when it begins', () => {
    process.env.TZ = 'Africa/Cairo';
    const now = new Date('2026-04-23T12:00:00Z');
    expect(parseComing('tomorrow', '--at', now)).toBe('2026-04-23T22:00:00Z');
    expect(() => parseComing('tomorrow 0:00', '--at', now)).toThrow('the clocks skip that hour');
  });

  test.each(['2011-12-30', '2011-12-30 10:00'])('%s, of a day that was skipped, is no time here', (text) => {
    process.env.TZ = 'Pacific/Apia';
    expect(() => parseTime(text, '--due-at')).toThrow(
      `--due-at: there is no ${text} here, since the clocks skip that day.`,
    );
    expect(parseTime('2011-12-29 24:00', '--due-at')).toBe('2011-12-30T10:00:00.000Z');
    expect(parseTime('2011-12-31', '--due-at')).toBe('2011-12-30T10:00:00.000Z');
  });

  test('a day that has no midnight begins when it begins', () => {
    process.env.TZ = 'America/Sao_Paulo';
    expect(parseTime('2018-11-04', '--due-at')).toBe('2018-11-04T03:00:00.000Z');
  });
});

test.each(['1M', '2 M', '1mo', '3months', '1y', '2Y', 'in 1M'])('%s is no minute: the units are named', (text) => {
  for (const read of [parsePast, parseComing])
    expect(() => read(text, '--since', new Date())).toThrow('The units are m (minutes), h, d and w.');
});

test('1m is a minute, and hours and days may be capitals', () => {
  const now = new Date('2026-03-01T12:00:00Z');
  expect(parsePast('1m', '--since', now)).toBe('2026-03-01T11:59:00Z');
  expect([parsePast('1H', '--since', now), parseComing('IN 2D', '--at', now)]).toEqual([
    '2026-03-01T11:00:00Z',
    '2026-03-03T12:00:00Z',
  ]);
});

test('whoever mistypes a time that is over is told the words that are taken', () => {
  for (const word of ['today', 'yesterday']) {
    expect(() => parsePast(word, '--since', new Date())).not.toThrow();
    expect(() => parsePast('lately', '--since', new Date())).toThrow(word);
  }
});

import { afterEach, expect, test } from 'vitest';
import { frameOf } from '../../src/answers/period.ts';
import { zoneNamed } from '../../src/answers/zone.ts';

const zone = process.env.TZ;
afterEach(() => {
  process.env.TZ = zone;
});

const begins = (since: string, of: string, machine: string) => {
  process.env.TZ = machine;
  const asked = { span: undefined, since, until: undefined, compare: false };
  return new Date(frameOf(asked, zoneNamed(of), new Date('2026-06-01T00:00:00Z')).now.begins).toISOString();
};

test.each([
  ['2026-03-29 02:30', 'UTC', 'Europe/Berlin', '2026-03-29T02:30:00.000Z'],
  ['2026-03-29 01:30', 'Europe/Berlin', 'UTC', '2026-03-29T00:30:00.000Z'],
  ['2026-03-29T03:00:15', 'Europe/Berlin', 'UTC', '2026-03-29T01:00:15.000Z'],
  ['2026-03-28 24:00', 'Europe/Berlin', 'UTC', '2026-03-28T23:00:00.000Z'],
])('%s in %s, on a machine in %s, is %s', (since, of, machine, moment) => {
  expect(begins(since, of, machine)).toBe(moment);
});

test.each(['UTC', 'Europe/Berlin'])('an hour that the report zone skips is refused, on a machine in %s', (machine) => {
  expect(() => begins('2026-03-29 02:30', 'Europe/Berlin', machine)).toThrow(
    '--since: there is no 2026-03-29 02:30 in Europe/Berlin, since the clocks skip that hour.',
  );
});

test.each(['2026-02-30 10:00', '2026-03-01 10:61', '2026-03-01 25:00', '0026-01-31 09:00'])(
  '%s is no time',
  (since) => {
    expect(() => begins(since, 'Europe/Berlin', 'UTC')).toThrow(`not "${since}"`);
  },
);

test('on the day that the clocks are put back each hour has a name of its own', () => {
  const asked = { span: undefined, since: '2026-10-25', until: '2026-10-25', compare: false };
  const { parts } = frameOf(asked, zoneNamed('Europe/Berlin'), new Date('2026-12-01T00:00:00Z'));
  const names = parts.map(({ label }) => label);
  expect(new Set(names).size).toBe(25);
  expect(names.slice(1, 5)).toEqual([
    ...['2026-10-25 01:00', '2026-10-25 02:00 +02:00', '2026-10-25 02:00 +01:00', '2026-10-25 03:00'],
  ]);
});

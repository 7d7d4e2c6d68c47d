import { expect, test } from 'vitest';
import { ownZone, zoneNamed } from '../../src/answers/zone.ts';

const before = process.env.TZ;

test.each([
  ['Europe/Berlin', 'Europe/Berlin'],
  ['UTC', 'UTC'],
])('the zone of this machine is the one that TZ names: %s', (name, zone) => {
  process.env.TZ = name;
  try {
    expect(ownZone()).toBe(zone);
  } finally {
    process.env.TZ = before;
  }
});

test.each(['UTC0', 'Bogus/Zone', '/usr/share/zoneinfo/Europe/Berlin', ''])(
  'where TZ is %j it is none, or one that there is, and never an error',
  (name) => {
    process.env.TZ = name;
    try {
      const zone = ownZone() ?? 'UTC';
      expect(zoneNamed(zone).name).toBe(zone);
    } finally {
      process.env.TZ = before;
    }
  },
);

test.each([
  ['Asia/Kathmandu', 'Asia/Kathmandu'],
  ['Asia/Calcutta', 'Asia/Calcutta'],
  ['europe/berlin', 'Europe/Berlin'],
  ['utc', 'UTC'],
])('a zone keeps the name that it was given: %s', (given, name) => {
  expect(zoneNamed(given).name).toBe(name);
});

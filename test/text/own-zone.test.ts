// A TZ that Node does not know counts as UTC: whoever types a local time is told.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { unknownZone } from '../../src/text/own-zone.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const before = process.env.TZ;
afterEach(() => {
  if (before === undefined) delete process.env.TZ;
  else process.env.TZ = before;
});

const posix = 'EST5EDT,M3.2.0,M11.1.0';

test.each([
  ...[posix, 'CET-1CEST', '<+03>-3', 'Bogus/Zone', 'Europe/Berlinn'],
  // Names of zones elsewhere, and not for Node.
  ...['europe/berlin', 'ECT', 'PST', '/usr/share/zoneinfo/Europe/Berlin'],
])('%s is none that is known', (TZ) => {
  process.env.TZ = TZ;
  expect(unknownZone({ TZ })).toBe(TZ);
});

test.each([
  ...['', 'UTC', 'utc', 'UTC0', 'GMT', 'GMT0', '<+00>0', 'Etc/UTC', 'Zulu', ':UTC', ':/etc/localtime'],
  ...['Europe/Berlin', ':Europe/Berlin', '/usr/share/zoneinfo/Etc/UTC', 'EST5EDT', 'GMT+3', 'Africa/Abidjan'],
])('%j is known', (TZ) => {
  process.env.TZ = TZ;
  expect(unknownZone({ TZ })).toBeUndefined();
});

/** A run where TZ is that, for Node as well. */
function runIn(TZ: string, argv: readonly string[], world = sandboxWorld()) {
  process.env.TZ = TZ;
  return svc(world, argv, { env: { TZ } });
}

describe('of a TZ that is none that is known svc says that it goes by UTC', () => {
  test.each([
    ['--due-at', ['tickets', 'update', '8', '--due-at', 'tomorrow 9:00', '--dry-run']],
    ['--due-at', ['tickets', 'update', '8', '--due-at', '2026-11-30T09:00', '--dry-run']],
    ['--updated-since', ['tickets', 'list', '--updated-since', 'yesterday']],
    ['--created-since', ['tickets', 'list', '--created-since', '2026-01-31']],
    ['--at', ['changelog', 'publish', '1', '--at', 'monday 9:00', '--dry-run']],
    ['--since', ['audit', 'list', '--since', 'today']],
  ] as const)('%s: %j', async (flag, argv) => {
    const said = `(TZ=${posix}) is none that is known, so ${flag} may be read as UTC.`;
    expect(await runIn(posix, argv)).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(said) });
    expect((await runIn('America/New_York', argv)).stderr).not.toContain('TZ=');
  });

  test.each(['in 2h', '2026-11-30T09:00:00Z', '2026-11-30T09:00+01:00', 'now'])('not of %s', async (text) => {
    const ran = await runIn(posix, ['tickets', 'update', '8', '--due-at', text, '--dry-run']);
    expect([ran.exitCode, ran.stderr]).toEqual([0, expect.not.stringContaining('TZ=')]);
  });

  test('of the times in a file', async () => {
    const world = sandboxWorld();
    const file = join(world.folder, 'due.csv');
    writeFileSync(file, 'id,subject,due_at\n7,New,\n8,New,2030-01-31 09:00\n');
    const argv = ['tickets', 'update', '--from', file, '--dry-run'];
    const said = 'so due_at may be read as UTC';
    expect(await runIn(posix, argv, world)).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(said) });
    writeFileSync(file, 'id,subject,due_at\n7,New,\n8,New,2030-01-31T09:00:00Z\n');
    expect((await runIn(posix, argv, world)).stderr).not.toContain(said);
  });

  test('of the days of a report, which --zone names', { tags: ['long'] }, async () => {
    const world = sandboxWorld();
    expect((await runIn(posix, ['mirror', 'pull'], world)).exitCode).toBe(0);
    const said = 'is none that is known, so days are those of UTC';
    expect((await runIn(posix, ['report'], world)).stderr).toContain(said);
    expect((await runIn(posix, ['report', '--zone', 'Europe/Berlin'], world)).stderr).not.toContain(said);
  });

  test('in svc doctor', async () => {
    const { stdout } = await runIn('Bogus/Zone', ['doctor', '--json']);
    const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
    expect(checks.find(({ name }) => name === 'time zone')).toMatchObject({
      ok: false,
      message: expect.stringContaining('TZ=Bogus/Zone is no time zone that is known'),
    });
  });
});

test('quiet hours of such a zone forbid every send, unless they name a zone', async () => {
  const reply = ['tickets', 'reply', '8', '--body', 'Hello', '--yes'];
  for (const [more, exitCode] of [
    ['', 5],
    [', zone: UTC', 0],
  ] as const) {
    const world = sandboxWorld();
    const folder = join(world.folder, 'config');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'policy.yaml'), `sends:\n  quiet: { from: '03:00', to: '04:00'${more} }\n`);
    const ran = await runIn('Bogus/Zone', reply, world);
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr.includes('sends.quiet.zone')).toBe(exitCode === 5);
  }
});

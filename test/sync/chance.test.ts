// @module-tag long
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fc } from '../chance.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

// Files and faults by chance: whatever happens on the way, every row is accounted for at each end, and once a run gets
// through, the account holds what a run without faults would have left.

const row = fc.record({
  // Few addresses, so that many rows share one, within a chunk and across chunks.
  email: fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min: 0, max: 400 }).map((n) => `p${n}@example.com`) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 400 }).map((n) => `P${n}@Example.com`) },
    { weight: 1, arbitrary: fc.constantFrom('', 'bad', 'a@b', '"quoted"@example.com') },
  ),
  name: fc.constantFrom('', 'Ada', 'Bo, Jr', 'Two\nlines', 'Zoë "Z"', '😀'),
  company: fc.constantFrom('', 'Acme', 'Globex'),
  tag: fc.constantFrom('', 'x', 'y;z'),
  tail: fc.constantFrom('', '', '', '', ',too,many', ',', '\n', '\r\n,,,'),
});

const cell = (text: string) => (/[",\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const file = fc
  .tuple(fc.array(row, { minLength: 150, maxLength: 900, size: 'max' }), fc.constantFrom('\n', '\r\n', '\r'))
  .map(([rows, lineEnd]) => {
    const lines = rows.map(
      ({ email, name, company, tag, tail }) => [email, name, company, tag].map(cell).join(',') + tail,
    );
    return `Email,First Name,Company,Tags${lineEnd}${lines.join(lineEnd)}${lineEnd}`;
  });

const path = '/platform/contacts/sync';
const fault = fc.oneof(
  fc.record({
    path: fc.constant(path),
    nth: fc.integer({ min: 1, max: 5 }),
    times: fc.integer({ min: 1, max: 5 }),
    action: fc.constantFrom('drop-before', 'drop-after', 'truncate', 'malformed', 'html', 'rate-limit'),
  }),
  fc.record({
    path: fc.constant(path),
    nth: fc.integer({ min: 1, max: 5 }),
    times: fc.integer({ min: 1, max: 5 }),
    action: fc.constant('status'),
    status: fc.constantFrom(500, 502, 503),
  }),
);

type Stored = { email: string; name: string; company: string; tags: string[] };

const world = async (text: string) => {
  const there = sandboxWorld({ seed: 'empty', rateLimit: 'off' });
  await writeFile(join(there.folder, 'contacts.csv'), text);
  const sync = async (flags: readonly string[] = []) => {
    const ran = await svc(there, ['contacts', 'sync', join(there.folder, 'contacts.csv'), '--json', ...flags]);
    const report = ran.stdout === '' ? undefined : JSON.parse(ran.stdout);
    if (report) {
      const { rows, created, updated, rejected, unsent, errors } = report;
      expect(created + updated + rejected + unsent).toBe(rows);
      expect(errors).toHaveLength(rejected);
    }
    return { exitCode: ran.exitCode, report };
  };
  const stored = async () =>
    ((await there.control('GET', 'state')) as { contacts: Stored[] }).contacts
      .map(({ email, name, company, tags }) => `${email.toLowerCase()}|${name}|${company}|${[...tags].sort()}`)
      .sort();
  return { ...there, sync, stored };
};

test('any file through any faults ends as without them', async () => {
  await fc.assert(
    fc.asyncProperty(
      file,
      fc.array(fault, { maxLength: 4 }),
      fc.integer({ min: 1, max: 6 }),
      async (text, faults, concurrency) => {
        const calm = await world(text);
        const expected = await calm.sync(['--concurrency', '1']);

        const rough = await world(text);
        await rough.control('POST', 'faults', faults);
        let last = await rough.sync(['--concurrency', String(concurrency)]);
        // Every fault ends at some time; each run wears some of them off.
        for (let again = 0; again < 12 && ![0, 2, 8].includes(last.exitCode); again++) last = await rough.sync();

        expect(last.exitCode).toBe(expected.exitCode);
        expect(last.report?.rows).toBe(expected.report?.rows);
        expect(last.report?.rejected).toBe(expected.report?.rejected);
        expect(last.report?.unsent).toBe(expected.report?.unsent);
        expect(await rough.stored()).toEqual(await calm.stored());
      },
    ),
    { numRuns: 20 },
  );
});

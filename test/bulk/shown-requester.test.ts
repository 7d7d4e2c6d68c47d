// Who asks, as the service itself shows it: contact.email and contact.contact_id, with and without --create-contacts.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Contact = { readonly contact_id: number; readonly email: string };

async function setUp() {
  const world = sandboxWorld({ rateLimit: 'off' });
  const contacts = async (): Promise<readonly [Contact, Contact]> =>
    JSON.parse((await svc(world, ['contacts', 'list', '--limit', '2', '--json'])).stdout);
  const run = async (text: string, ...flags: string[]) => {
    const file = join(world.folder, 'rows');
    writeFileSync(file, text);
    world.sent.length = 0;
    const ran = await svc(world, ['tickets', 'create', '--from', file, '--json', ...flags]);
    return {
      exitCode: ran.exitCode,
      stderr: ran.stderr,
      report: JSON.parse(ran.stdout || '{}'),
      posted: world.sent.filter((one) => one.startsWith('POST')),
    };
  };
  const requesters = async (count: number): Promise<(number | null)[]> => {
    const { stdout } = await svc(world, ['tickets', 'list', '--limit', String(count), '--json']);
    const shown = JSON.parse(stdout) as { contact: Contact | null }[];
    return shown.map(({ contact }) => contact?.contact_id ?? null).reverse();
  };
  const [one, two] = await contacts();
  return { run, requesters, contacts, one, two };
}

test.each([[[]], [['--create-contacts']]])('fill the requester of a ticket (%j)', async (flags) => {
  const { run, requesters, one, two } = await setUp();
  const csv = `subject,contact.contact_id,contact.email\nA,${one.contact_id},\nB,999999,${two.email.toUpperCase()}\n`;
  expect(await run(csv, ...flags)).toMatchObject({ exitCode: 0, stderr: '', report: { done: 2 } });
  expect(await requesters(2)).toEqual([one.contact_id, two.contact_id]);
  const json = [
    { subject: 'C', contact: { contact_id: one.contact_id, email: one.email, name: 'A', last_name: 'B', phone: null } },
    { subject: 'D', contact: null },
  ];
  const ran = await run(json.map((row) => JSON.stringify(row)).join('\n'), ...flags);
  expect(ran).toMatchObject({ exitCode: 0, report: { done: 2 } });
  expect(await requesters(2)).toEqual([one.contact_id, null]);
});

test.each([
  ['contact.email', 'email'],
  ['contact_email', 'email'],
  ['contact.contact_id', 'contact_id'],
  ['contact', 'email'],
  ['contact', 'contact_id'],
  ['contact_id', 'email'],
] as const)('%s with the %s: the row is the same row with and without --create-contacts', async (column, field) => {
  const { run, requesters, one } = await setUp();
  const csv = `subject,${column}\nA,${one[field]}\n`;
  for (const [flags, posted] of [
    [[], ['POST /tickets']],
    [['--create-contacts'], []],
    [[], []],
  ] as const)
    expect(await run(csv, ...flags)).toMatchObject({ exitCode: 0, report: { done: 1 }, posted });
  expect(await requesters(1)).toEqual([one.contact_id]);
});

test('a requester whom nobody knows is said before anything is sent, with the flag that creates it', async () => {
  const { run } = await setUp();
  expect(await run('subject,contact.email\nA,new@zd.example\n')).toMatchObject({
    exitCode: 2,
    report: {
      errors: [{ error: 'contact.email new@zd.example: no contact has this email (to create it: --create-contacts)' }],
    },
    posted: [],
  });
});

test('a column that --map names goes before those with the name of the field', async () => {
  const { run, requesters, one, two } = await setUp();
  const csv = `subject,contact.email,Mail\nA,${one.email},${two.email}\n`;
  expect(await run(csv, '--map', 'Mail=contact.email')).toMatchObject({ exitCode: 0 });
  expect(await requesters(1)).toEqual([two.contact_id]);
});

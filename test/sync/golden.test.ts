import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

// Exports as other tools write them: headers, quoting, encodings and line ends after their public formats, the people
// and companies made up. Expected is what the account holds afterwards.

type Case = {
  readonly flags?: readonly string[];
  readonly contacts: readonly Record<string, unknown>[];
  /** By line. */
  readonly errors?: Readonly<Record<number, string>>;
  readonly unused?: string;
};

const cases: Readonly<Record<string, Case>> = {
  'hubspot.csv': {
    contacts: [
      {
        email: 'amara.dangelo@example.com',
        name: 'Amara',
        last_name: "D'Angelo",
        phone: '+12125550141',
        company: 'Example & Sons, Ltd.',
      },
      { email: 'zoe.mueller@example.org', name: 'Zoë', last_name: 'Müller', phone: '', company: '' },
    ],
    errors: { 4: 'email is missing' },
    unused: 'Record ID, Contact owner',
  },
  'salesforce.csv': {
    flags: ['--encoding', 'iso-8859-1'],
    contacts: [
      { email: 'ines.garcia@example.com', name: 'Inès', phone: '+12125550151', company: 'Sample "Bright" Studio' },
      { email: 'hiro.tanaka@example.net', last_name: 'Tanaka', company: 'Contoso Sample' },
    ],
    unused: 'Salutation, Title',
  },
  'mailchimp.csv': {
    flags: ['--tag-separator', ','],
    contacts: [
      { email: 'noor.haddad@example.com', phone: '+12125550161', tags: ['VIP', 'Spring webinar'] },
      { email: 'tomas.rossi@example.org', name: 'Tomás', tags: [] },
    ],
    unused: 'Address, Birthday',
  },
  'google-contacts.csv': {
    flags: ['--tag-separator', ':::'],
    contacts: [
      {
        email: 'wei.xu@example.com',
        name: 'Wei',
        last_name: 'Xu',
        phone: '+14155550171',
        company: 'Placeholder, Inc.',
        tags: ['Friends'],
      },
    ],
    errors: { 4: 'email is missing' },
  },
  'google-contacts-2023.csv': {
    flags: ['--tag-separator', ':::'],
    contacts: [
      {
        email: 'priya.usman@example.com',
        name: 'Priya',
        last_name: 'Usman',
        phone: '+14155550173',
        company: 'Fabrikam Sample',
      },
    ],
  },
  'outlook.csv': {
    flags: ['--encoding', 'windows-1252'],
    contacts: [
      {
        email: 'juergen.weiss@example.com',
        name: 'Jürgen',
        last_name: 'Weiß',
        phone: '+4915123456789',
        company: 'Contoso Sample GmbH',
        tags: ['Kunde', 'VIP'],
      },
      { email: 'carmen.vargas@example.org', name: 'Carmen' },
    ],
    unused: 'Business Fax',
  },
  'excel-german.csv': {
    flags: ['--encoding', 'windows-1252'],
    contacts: [
      {
        email: 'juergen@example.com',
        name: 'Jürgen',
        last_name: 'Schäfer',
        phone: '+49309018123',
        company: 'Muster; Söhne',
      },
      { email: 'aenne@example.com', name: 'Änne', last_name: 'Groß' },
    ],
    unused: 'Umsatz',
  },
  'excel-utf8.csv': {
    contacts: [
      { email: 'yz@example.com', name: 'Yılmaz', last_name: 'Zając', tags: ['vip', 'beta'] },
      { email: 'formula@example.com', name: '=SUM(1)' },
    ],
  },
  'excel-unicode-text.txt': {
    contacts: [
      { email: 'lev@example.com', name: 'Лев', company: 'Пример "А"' },
      { email: 'hanako@example.com', name: '花子', last_name: '田中' },
    ],
  },
  'excel-sep.csv': { contacts: [{ email: 'ben@example.com', name: 'Ben' }] },
};

test.each(Object.entries(cases))('%s', async (name, { flags = [], contacts, errors = {}, unused }) => {
  const world = sandboxWorld({ seed: 'empty' });
  const file = join(import.meta.dirname, 'golden', name);
  const ran = await svc(world, ['contacts', 'sync', file, '--json', ...flags]);
  const report = JSON.parse(ran.stdout);
  expect(
    Object.fromEntries(report.errors.map(({ line, error }: { line: number; error: string }) => [line, error])),
  ).toEqual(errors);
  expect(ran.exitCode).toBe(Object.keys(errors).length > 0 ? 8 : 0);
  const state = (await world.control('GET', 'state')) as { contacts: unknown[] };
  expect(state.contacts).toMatchObject(contacts);
  expect(state.contacts).toHaveLength(contacts.length);
  if (unused) expect(ran.stderr).toContain(unused);
});

test.each(['excel-german.csv', 'outlook.csv'])(
  '%s without its encoding is refused by line, with the way out',
  async (name) => {
    const ran = await svc(sandboxWorld(), ['contacts', 'sync', join(import.meta.dirname, 'golden', name)]);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain(`Line 2 of ${name} is not valid UTF-8.`);
    expect(ran.stderr).toContain('--encoding windows-1252');
  },
);

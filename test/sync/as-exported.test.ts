// Lines and cells that programs write into their exports and that are no rows, no tags and no first names.

import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const sync = async (csv: string, ...flags: string[]) => {
  const world = sandboxWorld();
  const { exitCode, stdout, stderr } = await svc(world, ['contacts', 'sync', '-', '--dry-run', '--json', ...flags], {
    stdin: csv,
  });
  const { rows, rejected, sample, errors } = JSON.parse(stdout);
  return { exitCode, stderr, rows, rejected, sample, errors };
};

test('the footer of a report is no row, and is named', async () => {
  const rows = '"First Name","Last Name","Email"\n"Ann","Lee","ann@sf.example"\n"Bo","Diaz","bo@sf.example"\n';
  const footer = '\n\n"All Contacts"\n"Copyright (c) 2000-2026"\n"Confidential - Do Not Distribute"\n"Acme"\n';
  const read = await sync(rows + footer);
  expect(read).toMatchObject({ exitCode: 0, rows: 2, rejected: 0 });
  expect(read.stderr).toContain(
    'Not read below the rows (lines 6 to 9): "All Contacts", "Copyright (c) 2000-2026", "Confidential - Do Not Distribute", ….',
  );
});

test.each([
  'Total,,,',
  'TOTAL,,"1,200.00",',
  'Grand Total,,,3',
  'Summe;;;'.replaceAll(';', ','),
  'Totaal: 3,,,',
  'Antal i alt: 3,,,',
])('a line of totals is no row: %s', async (line) => {
  const read = await sync(
    `Customer,Email,Balance,Count\nAnn,ann@qb.example,1,200.00,3\n${line}\n`.replace('1,200.00', '0'),
  );
  expect(read).toMatchObject({ exitCode: 0, rows: 1, rejected: 0 });
  expect(read.stderr).toContain('Not read below the rows (line 3)');
});

test.each([
  ['a short last row', 'Name,Email,Tags\nAnn,ann@a.example,\nBo\n'],
  [
    'a short row behind a blank line, with rows below it',
    'Name,Email,Tags\nAnn,ann@a.example,\n\nBo\nCy,cy@a.example,\n',
  ],
  ['an address alone', 'Email,Name,Tags\nann@a.example,,\n\nbo@@a.example\n'],
  ['a text that begins with a total', 'Name,Email,Tags\nAnn,ann@a.example,\nTotal: see Bo,,\n'],
  ['a person named Total', 'Name,Email,Tags\nAnn,ann@a.example,\nTotal,total@@a.example,\n'],
])('%s stays a row', async (_, csv) => {
  const { rows, rejected } = await sync(csv);
  expect(rows).toBe(csv.trim().split(/\n+/u).length - 1);
  expect(rejected).toBeLessThanOrEqual(1);
});

test('a first name is taken out of the name beside it', async () => {
  const csv =
    'Vorname;Name;E-Mail\nAda;Lovelace;a@x.example\nBo;Bo Diaz;b@x.example\nCy;"Ek, Cy";c@x.example\n;Meier;d@x.example\nEd;Ed;e@x.example\n';
  const { sample } = await sync(csv);
  expect(sample.map(({ name, last_name }: Record<string, unknown>) => [name, last_name])).toEqual([
    ['Ada', 'Lovelace'],
    ['Bo', 'Diaz'],
    ['Cy', 'Ek'],
    ['Meier', undefined],
    ['Ed', undefined],
  ]);
});

test.each(['Full Name', 'Display Name', 'Customer full name', 'Contact', 'Nom complet'])(
  'a last name that only "%s" has is not lost',
  async (header) => {
    const csv = `First Name,${header},Email\nWayan,Wayan Sudiarta,a@x.example\nAnn,"Lee, Ann",b@x.example\n,Bo Diaz,c@x.example\nEd,Ed,d@x.example\n`;
    const { sample } = await sync(csv);
    expect(sample.map(({ name, last_name }: Record<string, unknown>) => [name, last_name])).toEqual([
      ['Wayan', 'Sudiarta'],
      ['Ann', 'Lee'],
      ['Bo Diaz', undefined],
      ['Ed', undefined],
    ]);
  },
);

test.each([
  ['name,name'],
  ['name,Name'],
  ['Full Name,Full Name'],
  ['name,Nom complet'],
  ['Full Name,Name', '--map', 'Full Name=name'],
  ['name,name', '--map', '#2=name'],
])(
  'of two whole names, "%s", none is a last name by itself, whichever is chosen for the first one',
  async (header, ...flags) => {
    const csv = `Email,${header}\na@x.example,Ada,Ada\nb@x.example,Bo,Bo Diaz\nc@x.example,Cy Ek,Cy\nd@x.example,Ed Fox,Acme Ltd\n`;
    const { sample } = await sync(csv, ...flags);
    expect(sample.filter((contact: object) => 'last_name' in contact)).toEqual([
      { email: 'b@x.example', name: 'Bo', last_name: 'Diaz' },
    ]);
  },
);

test("a display name without the first name is a company's, or a nickname", async () => {
  const rows = 'Jo,Ray Holdings Ltd,Ray,a@x.example\n';
  const named = await sync(`First Name,Display Name,Last Name,Email\n${rows}`);
  expect(named.sample).toEqual([{ email: 'a@x.example', name: 'Jo', last_name: 'Ray' }]);
  const alone = await sync('First Name,Display Name,Email\nJo,Ray Holdings Ltd,a@x.example\n');
  expect(alone.sample).toEqual([{ email: 'a@x.example', name: 'Jo' }]);
});

test("a program's own groups are no tags, and are named", async () => {
  const read = await sync(
    'E-mail 1 - Value,Labels\na@x.example,* myContacts ::: Friends\nb@x.example,* myContacts\n',
    '--tag-separator',
    ':::',
  );
  expect(read.sample).toEqual([{ email: 'a@x.example', tags: ['Friends'] }, { email: 'b@x.example' }]);
  expect(read.stderr).toContain('Not sent as tags: "* myContacts"');
});

test('a column that says of people that they left is pointed out, in German too', async () => {
  expect((await sync('E-Mail;Abgemeldet\na@x.example;ja\nb@x.example;nein\n')).stderr).toContain(
    '--skip "Abgemeldet=ja"',
  );
});

test('of two columns of one name a hint takes neither by its name', async () => {
  const { stderr } = await sync('Email,Extra,Extra\na@x.example,1,2\n');
  expect(stderr).toContain('--map "#2=metadata.extra"');
});

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgsStringToArgv } from 'string-argv';
import { describe, expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-words-'));
const rejects = join(folder, 'rejects.csv');
const fileOf = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
/** 2 good rows and 12 bad ones, two more than a screen shows. */
const bad = Array.from({ length: 12 }, (_, i) => `B${i},not an address ${i}`);
const people = fileOf('people.csv', ['name,email', 'Ada,ada@example.org', 'Bo,bo@example.org', ...bad].join('\n'));
/** Tickets: one good, twelve without a subject. */
const tickets = fileOf('tickets.csv', ['subject,description', 'A,B', ...bad.map(() => ',x')].join('\n'));
const terminal = { columns: 80, env: { NO_COLOR: '1' } };
const lines = { sync: ['contacts', 'sync', people], bulk: ['tickets', 'create', '--yes', '--from', tickets] };

describe.each(Object.entries(lines))('%s: the rejected rows', (_, line) => {
  test('where they are is told, with what to do, once the file is written', async () => {
    const ran = await svc(sandboxWorld(), [...line, '--rejects', rejects], terminal);
    expect(ran.exitCode).toBe(8);
    expect(readFileSync(rejects, 'utf8')).toContain('svc_error');
    expect(ran.stdout.replaceAll(/\s+/gu, ' ')).toContain(`… and 2 more, all in ${rejects}`);
    expect(ran.stdout).not.toContain('--rejects FILE');
    expect(ran.stderr).toContain(
      `The 12 rejected rows are in ${rejects}. Fix them there. Then run this command with that file in place of ${line.at(-1)}, and with another name for --rejects.`,
    );
    const fixed = [...line.slice(0, -1), rejects];
    const sent = await svc(sandboxWorld(), [...fixed, '--rejects', join(folder, 'again.csv'), '--dry-run'], terminal);
    expect(sent.stderr).not.toContain('would overwrite');
  });

  test('without a file the flags for one are told, within the width', async () => {
    const ran = await svc(sandboxWorld(), line, { ...terminal, columns: 50 });
    expect(ran.stdout.replaceAll(/\s+/gu, ' ')).toContain('… and 2 more; --rejects FILE or --report FILE has them all');
    expect(ran.stdout.split('\n').filter((one) => one.includes('--re') && one.length > 50)).toEqual([]);
    expect(ran.stderr).not.toContain('rejected rows are in');
  });

  test.each(['--json', '--output=jsonl'])(
    'with %s the last line of standard error says it for machines',
    async (form) => {
      for (const [dry, message] of [
        [[], / rows are done: 12 rejected\. /u],
        [['--dry-run'], /^12 rows would be rejected/u],
      ] as const) {
        const { exitCode, stderr } = await svc(sandboxWorld(), [...line, form, ...dry]);
        expect(exitCode).toBe(8);
        expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')).toEqual({
          error: {
            kind: 'partial',
            exit_code: 8,
            status: null,
            message: expect.stringMatching(message),
            hint: null,
            fields: null,
          },
        });
      }
    },
  );

  test('with --jq alone nothing stands beside what it picks', async () => {
    const { exitCode, stderr } = await svc(sandboxWorld(), [...line, '--quiet', '--jq', '.rows']);
    expect([exitCode, stderr]).toEqual([8, '']);
  });

  test('a dry run in a pipe says what would be rejected, not that something was not done', async () => {
    const ran = await svc(sandboxWorld(), [...line, '--dry-run']);
    expect(ran.exitCode).toBe(8);
    expect(ran.stderr).toContain('12 rows would be rejected (exit 8).');
    expect(ran.stderr).not.toContain('Not all of it was done');
  });
});

test('on a narrow terminal what is wrong with a row is there to its end', async () => {
  const ran = await svc(sandboxWorld(), [...lines.sync, '--dry-run'], { ...terminal, columns: 60 });
  expect(ran.stdout.split('\n').filter((line) => line.length > 60 && line.trim().includes(' '))).toEqual([]);
  expect(ran.stdout.match(/address$/gmu)).toHaveLength(10);
});

test('on a terminal the counts have the names that they have in JSON', async () => {
  const world = sandboxWorld();
  await svc(world, lines.sync, terminal);
  const again = await svc(world, lines.sync, terminal);
  expect(again.stdout).toMatch(/^ +0 {2}created$/mu);
  expect(again.stdout).toMatch(/^ +2 {2}updated$/mu);
  expect(JSON.parse((await svc(world, [...lines.sync, '--json'])).stdout)).toMatchObject({ created: 0, updated: 2 });
});

test('a dry run with a question sends nothing, now or ever, until it is answered', async () => {
  const tagged = fileOf('tags.csv', 'name,email,tags\nAda,ada@example.org,"vip, new"\n');
  const dry = await svc(sandboxWorld(), ['contacts', 'sync', tagged, '--dry-run'], terminal);
  expect(dry.exitCode).toBe(2);
  expect(dry.stdout).toContain('1 of 1 row would be sent, in 1 call, once it is said what separates the tags.');
  expect(dry.stderr).toContain('one tag, or several?');
  const mixed = fileOf('mixed.csv', 'name,email,tags\nAda,ada@example.org,"vip, new"\nBo,bo@example.org,a|b\n');
  const both = await svc(sandboxWorld(), ['contacts', 'sync', mixed, '--dry-run']);
  expect(both.stderr).toMatch(/holds "," in 1 row \(.+\), and "\|" in 1 row \(.+\): one tag, or several\?/u);
  expect(dry.stderr).not.toContain('Nothing was sent.');
  const real = await svc(sandboxWorld(), ['contacts', 'sync', tagged], terminal);
  expect(real.stderr).toContain('Nothing was sent.');
  expect(real.stdout).toContain('in 0 chunks, 0 requests');
  const { chunks } = JSON.parse((await svc(sandboxWorld(), ['contacts', 'sync', tagged, '--json'])).stdout);
  expect(chunks).toBe(0);
});

test.each(['Tussenvoegsel', 'tussenvoegsels', 'Last name prefix'])(
  'that %s belongs before the last name is said, where it is not sent',
  async (header) => {
    const text = `Voornaam,${header},Achternaam,E-mail\nJan,van den,Berg,jan@example.org\n`;
    const line = ['contacts', 'sync', fileOf('nl.csv', text), '--dry-run'];
    const { stderr } = await svc(sandboxWorld(), line);
    expect(stderr).toContain(`"${header}" belongs before the last name`);
    expect(stderr).toContain(`--map "${header}=metadata.`);
    expect((await svc(sandboxWorld(), [...line, '--map', `${header}=ignore`])).stderr).not.toContain('belongs before');
  },
);

test('in a pipe a second column of a field is told in words', async () => {
  const two = fileOf('two.csv', 'Name,Email,Mobile phone,Home phone\nAda,a@example.org,+14155550100,+14155550101\n');
  const { stdout } = await svc(sandboxWorld(), ['contacts', 'sync', two, '--dry-run']);
  expect(stdout).toContain('where blank\tHome phone\tphone\n');
  expect(stdout).not.toContain('fallback');
});

describe('whole names in one column', () => {
  const note = (header: string, rows: readonly string[], words: readonly string[] = []) =>
    svc(sandboxWorld(), [
      ...['contacts', 'sync', fileOf('names.csv', [header, ...rows, ''].join('\n')), '--dry-run'],
      ...words,
    ]).then(({ stderr }) => stderr);

  test.each(['Lead Name', 'Name', 'Full Name', 'Nom complet'])(
    '%s: that the last name stays blank is told',
    async (name) => {
      const told = await note(
        `${name},email`,
        ['John Doe,a@example.org', 'Zoë Ågren,b@example.org', 'Bo,c@example.org'],
        [...['--map', `${name}=name`]],
      );
      expect(told).toContain(`"${name}" seems to hold whole names ("John Doe")`);
    },
  );

  test.each([
    ['Full name', ['"Smith, John",a@example.org', '"Doe, Jane",b@example.org']],
    ['Full name', ['Max,a@example.org', 'John Smith,b@example.org']],
    ['Name', ['"Smith, John",a@example.org']],
  ])('%s: a last name in front, and names of one word between, hide none', async (header, rows) => {
    expect(await note(`${header},email`, rows, ['--map', `${header}=name`])).toContain('seems to hold whole names');
  });

  test.each([
    ['first names', 'name,email', ['Ada,a@example.org', 'Mary Ann,b@example.org', 'Bo,c@example.org']],
    ['a column of last names beside it', 'first name,last name,email', ['Mary Ann,Byron,a@example.org']],
    ['no names', 'email', ['a@example.org']],
  ])('%s: nothing is told', async (_, header, rows) => {
    expect(await note(header, rows)).not.toContain('whole names');
  });

  test('an example cannot act on the terminal', async () => {
    expect(await note('name,email', ['John \x1b[31m Doe Bo,a@example.org'])).not.toContain('\x1b');
  });
});

test('on a terminal a sync says that what was there is kept, and the command that it names overwrites it', async () => {
  const world = sandboxWorld();
  const before = fileOf('kunden.csv', 'Vorname;Nachname;E-Mail;Firma\nAda;Lang;ada@example.org;Old\n');
  const first = await svc(world, ['contacts', 'sync', before], terminal);
  expect(first.stdout).not.toContain('was kept');
  const file = fileOf('kunden.csv', 'Vorname;Nachname;E-Mail;Firma\nAda;Lang;ada@example.org;New\n');
  const { stdout } = await svc(world, ['contacts', 'sync', file], terminal);
  const [, advised = ''] =
    /What a contact had already was kept\. To overwrite it:\n((?: {4}.*\n?)+)/u.exec(stdout) ?? [];
  expect(advised.split('\n').map((line) => line.trim())).toContain('--map "E-Mail=email" \\');
  const words = parseArgsStringToArgv(advised.replaceAll('\\\n', ' '));
  expect(words[0]).toBe('svc');
  expect((await svc(world, [...words.slice(1), '--yes'])).exitCode).toBe(0);
  const { stdout: found } = await svc(world, ['contacts', 'get', 'ada@example.org', '--json']);
  expect(JSON.parse(found)).toMatchObject({ company: 'New' });
});

test('the command that overwrites sends nothing that the sync did not send, and reads the file as the sync did', async () => {
  const world = sandboxWorld();
  const rows = 'Prénom;Nom;E-Mail;Pays;country;website\nAda;Lang;ada@example.org;FR;FR;https://ada.example\n';
  const file = fileOf('clients.csv', rows);
  const argv = ['contacts', 'sync', file, '--delimiter', ';'];
  await svc(world, argv, terminal);
  const { stdout } = await svc(world, argv, terminal);
  expect(stdout).toContain(" --match email --delimiter ';' ");
  expect(stdout).toContain('--map "country=ignore"');
  expect(stdout).toContain('--map "website=ignore"');
  const tabbed = fileOf('clients.tsv', rows.replaceAll(';', '\t').replace('Pays', '$(id)'));
  const typed = ['contacts', 'sync', tabbed, '--delimiter', 'tab', '--map', '#4=metadata.$(id)'];
  const ofTabs = await svc(world, typed, terminal);
  expect(ofTabs.stdout).toContain(' --delimiter tab ');
  expect(ofTabs.stdout).not.toMatch(/"[^"\n]*\$\(id\)/u);
  const skipped = await svc(world, [...argv, '--only', 'Pays=FR'], terminal);
  expect(skipped.stdout).toContain('    svc contacts update --help\n');
});

describe('the command that overwrites is named only where it sends what the sync sent', () => {
  const advised = async (rows: string, words: readonly string[] = []) => {
    const world = sandboxWorld();
    const argv = ['contacts', 'sync', fileOf('people.csv', rows), ...words];
    await svc(world, argv, terminal);
    const { stdout } = await svc(world, argv, terminal);
    const [, command = ''] = /To overwrite it:\n((?: {4}.*\n?)+)/u.exec(stdout) ?? [];
    return { world, command };
  };

  test.each([
    ['a phone of a country', 'email,Phone\nada@example.org,030 1234567\n', ['--phone-country', 'DE']],
    ['a phone as a spreadsheet has it', "email,Phone\nada@example.org,'+49301234567\n", []],
    ['a column that stands in', 'Work E-mail,Home E-mail\n,ada@example.org\nbo@example.org,\n', []],
    ['the first of several addresses', 'email,Firma\nada@example.org ::: a@example.com,New\n', []],
    ['the last name of a whole one', 'Vorname;Name;E-Mail\nAda;Ada Lang;ada@example.org\n', []],
  ])('%s: its help', async (_, rows, words) => {
    expect((await advised(rows, words)).command.trim()).toBe('svc contacts update --help');
  });

  test.each([
    ['phone', '+49301234567', 'email,Phone\nada@example.org,+49301234567\n', ['--phone-country', 'DE']],
    ['last_name', 'Lang', 'Vorname;Name;E-Mail\nAda;Lang;ada@example.org\n', []],
    ['company', 'New', 'Work E-mail,Home E-mail,Firma\nada@example.org,a@example.com,New\n', []],
  ])('%s as the cell has it: the command, which sends it', async (field, value, rows, words) => {
    const { world, command } = await advised(rows, words);
    const flag = `--${field.replace('_', '-')}`;
    const old = field === 'phone' ? '+14155550100' : 'Old';
    expect((await svc(world, ['contacts', 'update', 'ada@example.org', flag, old])).exitCode).toBe(0);
    const [, ...argv] = parseArgsStringToArgv(command.replaceAll('\\\n', ' '));
    expect((await svc(world, [...argv, '--yes'])).exitCode).toBe(0);
    expect(JSON.parse((await svc(world, ['contacts', 'get', 'ada@example.org', '--json'])).stdout)).toMatchObject({
      [field]: value,
    });
  });
});

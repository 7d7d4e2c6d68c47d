// create_sync_contacts finds a contact by its phone too: by a phone that two people have, one would be written over the other.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Stored = { readonly contact_id: number; readonly email: string; readonly name: string; readonly phone: string };

const people = async (world: SandboxWorld): Promise<Stored[]> =>
  ((await world.control('GET', 'state')) as { contacts: Stored[] }).contacts;

async function importing(world: SandboxWorld, rows: readonly string[], flags: readonly string[] = []) {
  const file = join(world.folder, 'rows.csv');
  await writeFile(file, `Name,Email,Phone\n${rows.join('\n')}\n`);
  world.sent.length = 0;
  const ran = await svc(world, ['lists', 'import', '1', file, '--json', ...flags]);
  return { ...ran, report: ran.stdout === '' ? {} : JSON.parse(ran.stdout) };
}

const world = () => sandboxWorld({ rateLimit: 'off' });
const reads = ({ sent }: SandboxWorld) => sent.filter((line) => line.startsWith('GET /contacts'));

describe('lists import writes nobody over', () => {
  test.each([
    ['alike', '+13125559901', '+13125559901'],
    ['with and without the code of the country', '+1 (312) 555-9901', '312.555.9901'],
    ['with and without 00', '0044 20 7946 0018', '+44 (0)20 7946 0018'],
    ['with an extension', '+13125559901 ext. 12', '+1 312 555 9901'],
    ['in letters', '+1-312-FLOWERS', '+13123569377'],
    ['beside words', '312 555 9901', '312 555 9901 (mobile)'],
    ['with a zero that is not dialled', '+44 020 7946 0018', '+442079460018'],
  ])('where two rows share a phone, written %s', async (_, one, other) => {
    const there = world();
    const ran = await importing(there, [
      `Anna,anna@sw.test,${one}`,
      `Bert,bert@sw.test,${other}`,
      'Cleo,cleo@sw.test,',
    ]);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(ran.report).toMatchObject({
      synced: 3,
      phones_left_out: [
        { line: 2, email: 'anna@sw.test', phone: one, contact: null },
        { line: 3, email: 'bert@sw.test', phone: other, contact: null },
      ],
    });
    expect(ran.stderr).toContain('(lines 2, 3;');
    const made = (await people(there)).filter(({ email }) => email.endsWith('@sw.test'));
    expect(made.map(({ name, phone }) => [name, phone])).toEqual([
      ['Anna', ''],
      ['Bert', ''],
      ['Cleo', ''],
    ]);
    expect(reads(there)).toEqual([]);
  });

  test.each([
    ['as the service has it', (phone: string) => phone],
    ['without the code of the country', (phone: string) => phone.slice(2)],
    ['as a link', (phone: string) => `tel:${phone}`],
    ['with what it is', (phone: string) => `Mobile: ${phone}`],
    ['with what it is behind it', (phone: string) => `${phone} (o)`],
    ['with a name of the place', (phone: string) => `${phone.slice(2)} доб 5`],
    ['as it is dialled from North America', (phone: string) => `011 ${phone.slice(1)}`],
    ['with pauses and an extension', (phone: string) => `${phone.slice(2)},,5`],
    ['with the code twice', (phone: string) => `+1 ${phone.slice(1)}`],
    [
      'in digits of another script',
      (phone: string) => phone.slice(2).replaceAll(/\d/gu, (d) => '٠١٢٣٤٥٦٧٨٩'[+d] ?? ''),
    ],
    ['beside another one', (phone: string) => `+49 30 901820 / ${phone}`],
  ])('where another contact has the phone, written %s', async (_, written) => {
    const there = world();
    const before = await people(there);
    const [tara, own] = before.filter(({ phone }) => phone.startsWith('+1'));
    if (!tara || !own) throw new Error('The sandbox has no phones.');
    const rows = [`Zed,zed@new.test,"${written(tara.phone)}"`, `${own.name},${own.email.toUpperCase()},${own.phone}`];
    const dry = await importing(there, rows, ['--dry-run']);
    const left = [{ line: 2, email: 'zed@new.test', phone: written(tara.phone), contact: tara.contact_id }];
    expect(dry.exitCode, dry.stderr).toBe(0);
    expect(dry.report).toMatchObject({ phones_left_out: left, sample: [{ name: 'Zed' }, { phone: own.phone }] });
    expect(dry.report.sample[0]).not.toHaveProperty('phone');
    const ran = await importing(there, rows);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(ran.report).toMatchObject({ synced: 2, phones_left_out: left });
    expect(ran.stderr).toContain(`line 2: contact ${tara.contact_id};`);
    const after = await people(there);
    const same = (all: readonly Stored[], { contact_id }: Stored) => all.find((one) => one.contact_id === contact_id);
    expect(same(after, tara)).toEqual(tara);
    expect(same(after, own)).toMatchObject({ phone: own.phone });
    expect(after.find(({ email }) => email === 'zed@new.test')).toMatchObject({ name: 'Zed', phone: '' });
    expect(after).toHaveLength(before.length + 1);
  });
});

test('a phone that nobody else has goes out, also in several rows of one person', async () => {
  const there = world();
  const ran = await importing(there, ['Anna,anna@sw.test,+13125559901', 'Anna,Anna@sw.test,312 555 9901']);
  expect(ran.report).toMatchObject({ synced: 2 });
  expect(ran.report).not.toHaveProperty('phones_left_out');
  expect((await people(there)).find(({ email }) => /^anna@sw/iu.test(email))).toMatchObject({ phone: '+13125559901' });
});

test('without phones no contacts are read, nor by contacts sync, which finds by email alone', async () => {
  const there = world();
  expect(await importing(there, ['Anna,anna@sw.test,', 'Bert,bert@sw.test,123'])).toMatchObject({ exitCode: 0 });
  expect(reads(there)).toEqual([]);
  const file = join(there.folder, 'sync.csv');
  await writeFile(file, 'Name,Email,Phone\nAnna,anna@x.test,+13125559901\nBert,bert@x.test,+13125559901\n');
  expect(await svc(there, ['contacts', 'sync', file])).toMatchObject({ exitCode: 0 });
  expect(reads(there)).toEqual([]);
  const made = (await people(there)).filter(({ email }) => email.endsWith('@x.test'));
  expect(made.map(({ name, phone }) => [name, phone])).toEqual([
    ['Anna', '+13125559901'],
    ['Bert', '+13125559901'],
  ]);
});

describe('where the contacts cannot be read', () => {
  const refusing = (): SandboxWorld => {
    const there = world();
    const exchange: typeof there.exchange = async (request) =>
      /\/contacts\?/u.test(request.url)
        ? { status: 403, headers: {}, body: '{"error":"Insufficient scope."}' }
        : there.exchange(request);
    return { ...there, exchange };
  };

  test('nothing is sent, and how to go without phones is said; then it goes', async () => {
    const there = refusing();
    const ran = await importing(there, ['Zed,zed@new.test,+13125559901']);
    expect(ran.exitCode).not.toBe(0);
    expect(there.sent.filter((line) => line.startsWith('POST'))).toEqual([]);
    expect(ran.stderr).toContain('--map Phone=ignore');
    expect(await importing(there, ['Zed,zed@new.test,+13125559901'], ['--map', 'Phone=ignore'])).toMatchObject({
      exitCode: 0,
      report: { synced: 1 },
    });
  });

  test('a dry run says that it does not know', async () => {
    const ran = await importing(refusing(), ['Zed,zed@new.test,+13125559901'], ['--dry-run']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('is not known') });
  });
});

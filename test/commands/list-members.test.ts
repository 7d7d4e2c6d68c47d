import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Contact = Readonly<Record<string, unknown>> & { readonly contact_id: number };

const person = {
  name: 'Anna',
  last_name: 'Annason',
  email: 'team@firm.test',
  phone: '+12025550111',
  company: 'Anna Ltd',
};
const other = {
  name: 'Bert',
  last_name: 'Bertson',
  email: 'Team@Firm.test',
  phone: '+12025550222',
  company: 'Bert Inc',
};

async function asked(world: SandboxWorld, method: string, path: string, body?: unknown) {
  const headers = { authorization: 'Bearer key_acme', 'content-type': 'application/json' };
  const url = `https://service.test${path}`;
  const sent = { method, url, headers, body: body && JSON.stringify(body), timeoutMs: 20_000 };
  const answer = await world.exchange(sent as Parameters<typeof world.exchange>[0]);
  return JSON.parse('body' in answer ? answer.body : '{}');
}

async function made(world: SandboxWorld, contact: object): Promise<number> {
  return (await asked(world, 'POST', '/contacts/create', contact)).contacts.contact_id;
}

const held = async (world: SandboxWorld, id: number): Promise<Contact> =>
  (await asked(world, 'GET', `/contacts/${id}`)).contact;

const members = async (world: SandboxWorld, list: number): Promise<number[]> =>
  (await asked(world, 'GET', `/contactslists/${list}/get_contacts`)).data.map((one: Contact) => one.contact_id);

describe('lists add, where two contacts have one email', () => {
  test.each([[[]], [['--dry-run']]])('%j: refuses both, says what would be lost, and writes nothing', async (flags) => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const [anna, bert] = [await made(world, person), await made(world, other)];
    const before = [await held(world, anna), await held(world, bert), await members(world, 1)];
    for (const [one, twin, company] of [
      [bert, anna, 'Anna Ltd'],
      [anna, bert, 'Bert Inc'],
    ] as const) {
      const ran = await svc(world, ['lists', 'add', '1', '--contact', '7', '--contact', `${one}`, ...flags]);
      expect(ran.exitCode, ran.stderr).toBe(2);
      expect(ran.stderr).toContain(`Contact ${one} has the same email as contact ${twin}`);
      expect(ran.stderr).toContain(`company ${company}`);
      expect(ran.stderr).toContain('Nothing was added.');
    }
    expect([await held(world, anna), await held(world, bert), await members(world, 1)]).toEqual(before);
  });

  test('also where they are the two that are to be added', async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const [anna, bert] = [await made(world, person), await made(world, other)];
    const ran = await svc(world, ['lists', 'add', '1', '--contact', `${anna}`, '--contact', `${bert}`]);
    expect(ran.exitCode, ran.stderr).toBe(2);
  });
});

test('lists add leaves out a phone that another contact has too, for by it the service could find that one', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const anna = await made(world, person);
  const bert = await made(world, { ...other, email: 'bert@firm.test', phone: person.phone });
  const before = await held(world, anna);
  const bodies: string[] = [];
  const exchange: typeof world.exchange = (request) => {
    if (request.method === 'POST') bodies.push(String(request.body));
    return world.exchange(request);
  };
  const ran = await svc({ ...world, exchange }, ['lists', 'add', '1', '--contact', `${bert}`]);
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(bodies).toEqual([expect.not.stringContaining('phone')]);
  expect(await held(world, anna)).toEqual(before);
  expect(await held(world, bert)).toMatchObject({ phone: person.phone, company: 'Bert Inc' });
  expect(await members(world, 1)).toContain(bert);
});

/** A colleague changes the contact as svc begins to read all of them. */
function changing(world: SandboxWorld, id: number, change: object): SandboxWorld['exchange'] {
  let isChanged = false;
  return async (request) => {
    if (/\/contacts\?/u.test(request.url) && !isChanged) {
      isChanged = true;
      await asked(world, 'PATCH', `/contacts/${id}`, change);
    }
    return world.exchange(request);
  };
}

test('lists add takes back nothing that a colleague changes while svc reads the contacts', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const anna = await made(world, person);
  const exchange = changing(world, anna, { company: 'Colleague GmbH', last_name: 'Corrected' });
  const ran = await svc({ ...world, exchange }, ['lists', 'add', '1', '--contact', `${anna}`]);
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(await held(world, anna)).toMatchObject({ company: 'Colleague GmbH', last_name: 'Corrected' });
});

test('lists add stops where a colleague has just changed the email, by which the service would add', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const anna = await made(world, person);
  const exchange = changing(world, anna, { email: 'new@firm.test' });
  const before = await members(world, 1);
  const ran = await svc({ ...world, exchange }, ['lists', 'add', '1', '--contact', `${anna}`]);
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain(`The email or phone of contact ${anna} has just changed. Nothing was added.`);
  expect(await members(world, 1)).toEqual(before);
});

test('lists update --from takes back no name that a colleague gives between two rows', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  let writes = 0;
  const exchange: typeof world.exchange = async (request) => {
    if (request.method === 'POST' && ++writes === 1) {
      await asked(world, 'POST', '/contactslists/2/update', { name: 'Renamed meanwhile' });
    }
    return world.exchange(request);
  };
  const ran = await svc({ ...world, exchange }, ['lists', 'update', '--from', '-', '--yes', '--concurrency', '1'], {
    stdin: 'id,target_industry\n1,Health\n2,Mining\n',
  });
  expect(ran.exitCode, ran.stderr).toBe(0);
  const { data } = await asked(world, 'GET', '/contactslists/list');
  expect(data.find((list: { contacts_list_id: number }) => list.contacts_list_id === 2)).toMatchObject({
    name: 'Renamed meanwhile',
    target_industry: 'Mining',
  });
});

describe.each([
  ['no name', undefined],
  ['an empty name', ''],
])('a list that the service shows with %s', (_, name) => {
  /** The account in which list 1 is such a one. */
  const nameless = () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const exchange: typeof world.exchange = async (request) => {
      const answer = await world.exchange(request);
      if (!request.url.endsWith('/contactslists/list') || !('body' in answer)) return answer;
      const data = JSON.parse(answer.body).data.map((one: object) => ({ ...one, name }));
      return { ...answer, body: JSON.stringify({ data }) };
    };
    return { ...world, exchange };
  };

  test('is shown as that before it is deleted', async () => {
    const asks: string[] = [];
    const options = { columns: 80, answers: [false], seen: (_: string, text: string) => void asks.push(text) };
    const ran = await svc(nameless(), ['lists', 'delete', '1'], options);
    expect(ran.exitCode).toBe(1);
    expect(asks.join('')).toContain('Contact list 1: without a name');
  });

  test.each([['lists update 1 --target-industry Health'], ['lists set 1 --contact 7 --yes']])(
    'is not changed by %s without one',
    async (line) => {
      const world = nameless();
      const ran = await svc(world, line.split(' '));
      expect(ran).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(
          /^Error: Contact list 1 has no name.*\nTo give it one: svc lists update 1 --name NAME\n$/mu,
        ),
      });
      expect(world.sent.filter((sent) => !sent.startsWith('GET'))).toEqual([]);
      expect(await svc(world, ['lists', 'update', '1', '--name', 'New'])).toMatchObject({ exitCode: 0 });
    },
  );

  test('is rejected as a row of a file, with what gives it a name, and the other rows are sent', async () => {
    const world = nameless();
    const file = join(world.folder, 'lists.csv');
    const rows = ['1,Health,', '2,Health,', '3,Health,', '1,Health,New'];
    writeFileSync(file, `id,target_industry,name\n${rows.join('\n')}\n`);
    const ran = await svc(world, ['lists', 'update', '--from', file, '--yes', '--json']);
    const { done, rejected, unsent, errors } = JSON.parse(ran.stdout);
    expect({ code: ran.exitCode, done, rejected, unsent }).toEqual({ code: 8, done: 1, rejected: 3, unsent: 0 });
    expect(errors[0].error).toBe(
      'Contact list 1 has no name, and no list is changed without one. Give it one in a column name',
    );
  });
});

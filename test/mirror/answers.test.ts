import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { json, onBothEngines } from './engines.ts';
import { request } from './truth.ts';

const zebra = { name: 'Zebra', last_name: 'Z', email: 'zebra@example.com', phone: '+14155550199' };

type Token = { readonly access_token: string };

type Contact = { readonly contact_id: number; readonly email: string };

/** What svc itself sent for that command. */
async function sentBy(world: SandboxWorld, argv: readonly string[], stdin?: string) {
  const before = world.sent.length;
  const ran = await svc(world, argv, { stdin });
  return { ...ran, sent: world.sent.slice(before) };
}

onBothEngines('the copy answers', ({ test, once, world: fresh, pulled, engine }) => {
  const named = async () => {
    const world = await pulled();
    const { email } = (await json(world, 'contacts get 7')) as Contact;
    return { world, email };
  };

  test('contacts find asks nothing of the service, says how old the copy is, and --live goes to the service', async () => {
    const { world, email } = await named();
    world.clock.advance(2 * 3_600_000);
    const found = await sentBy(world, ['contacts', 'find', email.toUpperCase(), '--json']);
    expect(found.sent).toEqual([]);
    expect(found.stderr).toBe('From the local copy, 2 h old. To ask the service: --live\n');
    // The record is the service's own, read now.
    const got = await sentBy(world, ['contacts', 'get', email, '--json']);
    expect(got.stderr).toBe('The id is from the local copy, 2 h old. To ask the service: --live\n');
    const live = await sentBy(world, ['contacts', 'find', email, '--json', '--live']);
    expect(live.sent.length).toBeGreaterThan(0);
    expect(live.stderr).toBe('');
    expect(JSON.parse(found.stdout)).toEqual(JSON.parse(live.stdout));
    const some = await sentBy(world, ['contacts', 'find', '.test', '--output', 'csv', '--limit', '3']);
    expect(some.stdout).toBe(
      (await svc(world, ['contacts', 'find', '.test', '-o', 'csv', '--limit', '3', '--live'])).stdout,
    );
  });

  test('the copy is named for an id that came from it, and for no other', async () => {
    const { world, email } = await named();
    for (const line of ['contacts get', 'tickets create --subject Hello --contact', 'lists add 1 --contact']) {
      const nobody = await svc(world, [...line.split(' '), 'nobody@nowhere.test']);
      expect(nobody.exitCode).toBe(3);
      expect(nobody.stderr).not.toContain('from the local copy');
      expect(nobody.stderr).toContain('The copy has no contact with the email nobody@nowhere.test.');
    }
    await request(world, 'PATCH', '/contacts/7', { email: 'moved@example.com' });
    expect((await svc(world, ['contacts', 'get', email])).stderr).not.toContain('from the local copy');
    await request(world, 'POST', '/contacts/create', { contacts: [zebra, zebra] });
    await svc(world, ['mirror', 'pull']);
    const two = await svc(world, ['contacts', 'get', zebra.email]);
    expect(two.exitCode).toBe(2);
    expect(two.stderr).toContain('The ids are from the local copy');
  });

  test('contacts find that finds nothing in the copy asks the service for what is newer before it says so', async () => {
    const { world } = await named();
    expect(await sentBy(world, ['contacts', 'find', 'no such text', '--json'])).toMatchObject({
      exitCode: 0,
      stdout: '[]\n',
      sent: ['GET /contacts?page=1&per_page=100'],
      stderr: expect.stringContaining('The copy has none; asking the service for newer contacts.'),
    });
    const many = Array.from({ length: 130 }, (_, n) => ({ ...zebra, name: `N${n}`, email: `n${n}@example.com` }));
    await request(world, 'POST', '/contacts/create', zebra);
    await request(world, 'POST', '/contacts/create', { contacts: many });
    const found = await sentBy(world, ['contacts', 'find', 'zebra', '--json']);
    expect(JSON.parse(found.stdout)).toMatchObject([{ name: 'Zebra' }]);
    // To the first contact that the copy has, and no further.
    expect(found.sent).toHaveLength(2);
    const cut: SandboxWorld = {
      ...world,
      exchange: async () => ({ lost: 'before-sending', reason: 'refused', detail: '' }),
    };
    expect((await svc(cut, ['contacts', 'find', 'zebra'])).exitCode).toBe(10);
  });

  test('contacts find sees what svc itself has changed since the pull, and shows nothing that it has replaced', {
    tags: ['long'],
  }, async () => {
    const { world, email } = await named();
    world.clock.advance(60_000);
    expect(
      (await svc(world, ['contacts', 'update', email, '--company', 'Renamed AG', '--email', 'new@example.com']))
        .exitCode,
    ).toBe(0);
    for (const text of ['new@example.com', 'renamed ag']) {
      const found = await sentBy(world, ['contacts', 'find', text, '--json']);
      expect(JSON.parse(found.stdout), text).toMatchObject([{ contact_id: 7, company: 'Renamed AG' }]);
      expect(found.sent).toEqual(['GET /contacts/7']);
      expect(found.stderr).toContain(
        'svc has changed 1 contact since the pull; reading what they are now from the service.',
      );
    }
    const cut: SandboxWorld = {
      ...world,
      exchange: async () => ({ lost: 'before-sending', reason: 'refused', detail: '' }),
    };
    expect(await svc(cut, ['contacts', 'find', email, '--json'])).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('The contacts that svc has changed are shown as the copy has them.'),
    });
    const gone = await sentBy(world, ['contacts', 'find', email, '--json']);
    expect(gone.stdout).toBe('[]\n');
    expect(gone.stderr).toContain(
      'The copy does not know what others have changed in older contacts since the last pull.',
    );
    world.clock.advance(60_000);
    await svc(world, ['mirror', 'pull', '--full', '--only', 'contacts']);
    world.clock.advance(60_000);
    expect(await sentBy(world, ['contacts', 'find', 'renamed ag', '--json'])).toMatchObject({
      sent: [],
      stdout: expect.stringContaining('Renamed AG'),
    });
  });

  const made = 'contacts create --name Yara --last-name Zed --email yara.zed@example.com --phone +14155550188'.split(
    ' ',
  );
  const rowOf = (email: string) => `name,last_name,email,phone\nYara,Zed,${email},+14155550188\n`;

  test.each([
    ['contacts create', made, undefined],
    ['contacts create --from', ['contacts', 'create', '--from', '-', '--yes'], rowOf('yara.zed@example.com')],
  ] as const)(
    'contacts find sees what %s has made since the pull beside what the copy has',
    { tags: ['long'] },
    async (_, argv, stdin) => {
      const { world } = await named();
      world.clock.advance(60_000);
      const before = JSON.parse((await svc(world, ['contacts', 'find', 'ya', '--json'])).stdout) as readonly Contact[];
      expect(before.length).toBeGreaterThan(0);
      expect(await svc(world, argv, { stdin })).toMatchObject({ exitCode: 0 });
      const found = await sentBy(world, ['contacts', 'find', 'ya', '--json']);
      expect(JSON.parse(found.stdout)).toEqual([expect.objectContaining({ email: 'yara.zed@example.com' }), ...before]);
      expect(found.sent).toEqual(['GET /contacts?page=1&per_page=100']);
      expect(found.stderr).toContain(
        'svc may have made contacts since the pull; asking the service for newer contacts.',
      );
      const limited = { 'retry-after': '120', 'x-ratelimit-limit': '60' };
      for (const away of [
        { lost: 'before-sending', reason: 'refused', detail: '' },
        { status: 429, headers: limited, body: '{"error":"slow"}' },
      ] as const) {
        const cut: SandboxWorld = { ...world, exchange: async () => away };
        const without = await svc(cut, ['contacts', 'find', 'ya', '--json', '--max-wait', '1']);
        expect(JSON.parse(without.stdout)).toEqual(before);
        expect(without.stderr).toContain('Contacts that are newer than the copy may be missing.');
      }
      world.clock.advance(60_000);
      await svc(world, ['mirror', 'pull', '--only', 'contacts']);
      world.clock.advance(60_000);
      const pulledOnce = await sentBy(world, ['contacts', 'find', 'ya', '--json']);
      expect([pulledOnce.sent, JSON.parse(pulledOnce.stdout)]).toEqual([[], JSON.parse(found.stdout)]);
    },
  );

  test.each([
    ['contacts sync', ['contacts', 'sync', '-', '--yes']],
    ['lists import', ['lists', 'import', '1', '-', '--yes']],
  ] as const)(
    'contacts find after %s says that the copy is older, and asks the service before it denies anybody',
    { tags: ['long'] },
    async (_, argv) => {
      const { world } = await named();
      const bare = { name: 'Bare', last_name: 'B', email: 'bare@example.com', phone: '+14155550177' };
      await request(world, 'POST', '/contacts/create', bare);
      world.clock.advance(60_000);
      await svc(world, ['mirror', 'pull', '--only', 'contacts']);
      world.clock.advance(60_000);
      const stdin = 'name,last_name,email,phone,company\nBare,B,bare@example.com,+14155550177,Filled GmbH\n';
      expect(await svc(world, argv, { stdin })).toMatchObject({ exitCode: 0 });
      const known = await sentBy(world, ['contacts', 'find', 'bare@example.com', '--json']);
      expect(JSON.parse(known.stdout)).toMatchObject([{ email: 'bare@example.com', company: '' }]);
      expect(known.sent).toEqual(['GET /contacts?page=1&per_page=100']);
      expect(known.stderr).toContain(
        'svc has synced contacts since the copy read them: older ones are shown as the copy',
      );
      const denied = await sentBy(world, ['contacts', 'find', 'filled gmbh', '--json']);
      expect(JSON.parse(denied.stdout)).toMatchObject([{ email: 'bare@example.com', company: 'Filled GmbH' }]);
      expect(denied.stderr).toContain('Asking the service; to renew the copy: svc mirror pull --full --only contacts');
      world.clock.advance(60_000);
      await svc(world, ['mirror', 'pull', '--only', 'contacts']);
      const still = await sentBy(world, ['contacts', 'find', 'filled gmbh', '--json']);
      expect(JSON.parse(still.stdout)).toMatchObject([{ company: 'Filled GmbH' }]);
      world.clock.advance(60_000);
      await svc(world, ['mirror', 'pull', '--full', '--only', 'contacts']);
      world.clock.advance(60_000);
      expect(await sentBy(world, ['contacts', 'find', 'filled gmbh', '--json'])).toMatchObject({
        sent: [],
        stdout: expect.stringContaining('Filled GmbH'),
      });
    },
  );

  test('after a sync that the service refused the copy answers as before', async () => {
    const { world, email } = await named();
    world.clock.advance(60_000);
    const scopes = ['identity', 'contacts:read'];
    const { access_token: token } = (await world.control('POST', 'tokens', { account_id: 1, scopes })) as Token;
    const env = { SVC_API_KEY: '', SVC_ACCESS_TOKEN: token };
    expect((await svc(world, ['contacts', 'sync', '-', '--yes'], { env, stdin: `email\n${email}\n` })).exitCode).toBe(
      5,
    );
    expect(world.sent).toContain('POST /platform/contacts/sync');
    expect((await sentBy(world, ['contacts', 'find', email, '--json'])).sent).toEqual([]);
  });

  once('many contacts that svc has changed since the pull are not read one by one', async () => {
    const { world } = await named();
    world.clock.advance(60_000);
    const ids = ((await json(world, 'contacts list --limit 25')) as readonly Contact[]).map((one) => one.contact_id);
    const rows = `id,company\n${ids.map((id) => `${id},Renamed ${id}\n`).join('')}`;
    expect((await svc(world, ['contacts', 'update', '--from', '-', '--yes'], { stdin: rows })).exitCode).toBe(0);
    const found = await sentBy(world, ['contacts', 'find', 'renamed', '--json']);
    expect(found.sent).toHaveLength(20);
    expect(found.stderr).toContain('svc has changed 25 contacts since the pull; reading the last 20 from the service.');
    expect(found.stderr).toContain('To renew it: svc mirror pull --full --only contacts');
    // One of those that were not read: the copy alone would deny it.
    const [oldest] = ids.toReversed();
    const first = `renamed ${world.sent.includes(`GET /contacts/${oldest}`) ? ids[0] : oldest}`;
    expect(JSON.parse((await sentBy(world, ['contacts', 'find', first, '--json'])).stdout)).toHaveLength(1);
  });

  test('an id by email costs one request, which proves that the address is still that contact', async () => {
    const { world, email } = await named();
    const listed = await sentBy(world, ['tickets', 'list', '--contact', email, '--json']);
    expect(listed.exitCode).toBe(0);
    expect(listed.sent).toEqual(['GET /contacts/7', expect.stringContaining('contact_id=7')]);
    const live = await sentBy(world, ['tickets', 'list', '--contact', email, '--json', '--live']);
    expect(live.sent[0]).toContain('GET /contacts?');
  });

  const writing = (email: string): ReadonlyArray<readonly [readonly string[], string | undefined]> => [
    [['contacts', 'update', email, '--company', 'New', '--json'], undefined],
    [['contacts', 'update', '--from', '-', '--match', 'email', '--json'], `email,company\n${email},New\n`],
    [['contacts', 'update', '--from', '-', '--json'], `id,company\n${email},New\n`],
    [['tickets', 'create', '--subject', 'Private', '--contact', email, '--json'], undefined],
    [['tickets', 'create', '--from', '-', '--json'], `subject,contact\nPrivate,${email}\n`],
    [['lists', 'add', '1', '--contact', email, '--json'], undefined],
    [['lists', 'set', '1', '--contact', email, '--json', '--yes'], undefined],
  ];

  test('no write goes to a contact whose address went to somebody else since the pull', {
    tags: ['long'],
  }, async () => {
    const { world, email } = await named();
    await request(world, 'PATCH', '/contacts/7', { email: 'moved@example.com' });
    await request(world, 'PATCH', '/contacts/9', { email });
    for (const [argv, stdin] of writing(email)) {
      expect(await svc(world, argv, { stdin }), argv.join(' ')).toMatchObject({ exitCode: 0 });
    }
    expect(await json(world, 'contacts get 9')).toMatchObject({ company: 'New' });
    expect(await json(world, 'contacts get 7')).not.toMatchObject({ company: 'New' });
    const made = (await json(world, 'tickets list --contact 9')) as readonly { readonly subject: string }[];
    expect(made.filter(({ subject }) => subject === 'Private')).toHaveLength(2);
    expect(await json(world, 'lists members 1')).toMatchObject([{ contact_id: 9 }]);
  });

  once(
    'rows cost one request an address where that is less than to read the whole list, and the list else',
    { tags: ['long'] },
    async () => {
      const { world, email } = await named();
      const other = 'second@example.com';
      await request(world, 'PATCH', '/contacts/9', { email: other });
      await svc(world, ['mirror', 'pull', '--full']);
      const line = (address: string) => `${address},New\n`;
      const lookups = async (rows: string) => {
        const ran = await sentBy(
          world,
          ['contacts', 'update', '--from', '-', '--match', 'email', '--restart', '--yes'],
          rows,
        );
        expect(ran.exitCode, ran.stderr).toBe(0);
        return ran.sent.filter((sent) => /^GET \/contacts/u.test(sent));
      };
      expect(await lookups(`email,company\n${line(email)}${line(other)}`)).toEqual([
        'GET /contacts/7',
        'GET /contacts/9',
      ]);
      const all = (await json(world, 'contacts list --all')) as readonly { readonly email: string }[];
      const five = all.slice(0, 5).map((one) => line(one.email));
      expect(await lookups(`email,company\n${five.join('')}`)).toEqual(
        [1, 2, 3].map((n) => expect.stringContaining(`page=${n}`)),
      );
    },
  );

  once('a contact that came after the pull is found all the same, and nobody is still exit 3', async () => {
    const { world } = await named();
    const person = { name: 'Late', last_name: 'Comer', email: 'late@example.com', phone: '+14155550101' };
    await request(world, 'POST', '/contacts/create', person);
    expect(await json(world, 'contacts get late@example.com')).toMatchObject({ name: 'Late' });
    const nobody = await svc(world, ['contacts', 'get', 'nobody@example.com']);
    expect(nobody.exitCode).toBe(3);
    expect(nobody.stderr).toContain('Asking the service.');
  });

  once('a copy that is not complete answers nothing', async () => {
    const world = fresh();
    await svc(world, ['mirror', 'pull', '--only', 'contacts', '--max-requests', '2']);
    const found = await sentBy(world, ['contacts', 'find', '.test', '--json']);
    expect(found.sent.length).toBeGreaterThan(0);
    expect(found.stderr).toBe('');
  });

  test('a copy that cannot be read is named, and the service answers', async () => {
    const { world, email } = await named();
    if (engine === 'sqlite')
      writeFileSync(join(world.folder, 'state', 'mirror.db'), 'no database at all\n'.repeat(1000));
    const env =
      engine === 'sqlite' ? world.env : { ...world.env, SVC_MIRROR_DB: 'postgres:///gone?host=/nowhere&user=svc' };
    const found = await sentBy({ ...world, env }, ['contacts', 'find', email, '--json']);
    expect(found.exitCode).toBe(0);
    expect(JSON.parse(found.stdout)).toMatchObject([{ contact_id: 7 }]);
    expect(found.stderr).toContain(engine === 'sqlite' ? 'is damaged' : 'cannot be reached');
    expect(found.stderr).toContain('Asking the service.');
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { json, onBothEngines } from './engines.ts';
import { request } from './truth.ts';

const zebra = { name: 'Zebra', last_name: 'Z', email: 'zebra@example.com', phone: '+14155550199' };

type Contact = { readonly contact_id: number; readonly email: string };

/** What svc itself sent for that command. */
async function sentBy(world: SandboxWorld, argv: readonly string[]) {
  const before = world.sent.length;
  const ran = await svc(world, argv);
  return { ...ran, sent: world.sent.slice(before) };
}

onBothEngines('the copy answers', ({ test, world: fresh, pulled, engine }) => {
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
    const live = await sentBy(world, ['contacts', 'find', email, '--json', '--live']);
    expect(live.sent.length).toBeGreaterThan(0);
    expect(live.stderr).toBe('');
    expect(JSON.parse(found.stdout)).toEqual(JSON.parse(live.stdout));
    const some = await sentBy(world, ['contacts', 'find', '.test', '--output', 'csv', '--limit', '3']);
    expect(some.stdout).toBe(
      (await svc(world, ['contacts', 'find', '.test', '-o', 'csv', '--limit', '3', '--live'])).stdout,
    );
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

  test('an id by email costs one request, which proves that the address is still that contact', async () => {
    const { world, email } = await named();
    const listed = await sentBy(world, ['tickets', 'list', '--contact', email, '--json']);
    expect(listed.exitCode).toBe(0);
    expect(listed.sent).toEqual(['GET /contacts/7', expect.stringContaining('contact_id=7')]);
    const live = await sentBy(world, ['tickets', 'list', '--contact', email, '--json', '--live']);
    expect(live.sent[0]).toContain('GET /contacts?');
  });

  test('an address that went to somebody else since the pull never changes the wrong contact', async () => {
    const { world, email } = await named();
    await request(world, 'PATCH', '/contacts/7', { email: 'moved@example.com' });
    await request(world, 'PATCH', '/contacts/9', { email });
    const ran = await svc(world, ['contacts', 'update', email, '--company', 'New', '--json']);
    expect(JSON.parse(ran.stdout)).toMatchObject({ contact_id: 9, company: 'New' });
    expect(await json(world, 'contacts get 7')).not.toMatchObject({ company: 'New' });
  });

  test('a contact that came after the pull is found all the same, and nobody is still exit 3', async () => {
    const { world } = await named();
    const person = { name: 'Late', last_name: 'Comer', email: 'late@example.com', phone: '+14155550101' };
    await request(world, 'POST', '/contacts/create', person);
    expect(await json(world, 'contacts get late@example.com')).toMatchObject({ name: 'Late' });
    const nobody = await svc(world, ['contacts', 'get', 'nobody@example.com']);
    expect(nobody.exitCode).toBe(3);
    expect(nobody.stderr).toContain('Asking the service.');
  });

  test('a copy that is not complete answers nothing', async () => {
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

// Whole answers of the service that belong to another request: whatever stands between has mixed them up.
import { expect, test } from 'vitest';
import type { HttpRequest, HttpResponse } from '../../src/context.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Case = {
  readonly argv: readonly string[];
  readonly isMeant: (request: HttpRequest) => boolean;
  /** Whose record comes in place of ours. */
  readonly of: string;
  /** Of the answer to a write that shows no record. */
  readonly body?: object;
};

const posts = (path: string) => (request: HttpRequest) =>
  request.method === 'POST' && new URL(request.url).pathname === path;
const patches = ({ method }: HttpRequest) => method === 'PATCH';

const creations: Readonly<Record<string, Case>> = {
  'tickets create': {
    argv: ['tickets', 'create', '--subject', 'Mine', '--description', 'D'],
    isMeant: posts('/tickets'),
    of: '/tickets/9',
  },
  'changelog create': {
    argv: ['changelog', 'create', '--title', 'Mine', '--content', 'C'],
    isMeant: posts('/changelog'),
    of: '/changelog/3',
  },
  'lists create': {
    argv: ['lists', 'create', '--name', 'Mine', '--target-industry', 'I', '--notes', 'N'],
    isMeant: posts('/contactslists/create'),
    of: '/contactslists/list',
    body: { contact_list_id: 1 },
  },
};

const updates: Readonly<Record<string, Case>> = {
  'tickets update': { argv: ['tickets', 'update', '8', '--subject', 'Mine'], isMeant: patches, of: '/tickets/9' },
  'contacts update': { argv: ['contacts', 'update', '8', '--company', 'Mine'], isMeant: patches, of: '/contacts/9' },
  'changelog update': { argv: ['changelog', 'update', '1', '--title', 'Mine'], isMeant: patches, of: '/changelog/2' },
  'lists update': {
    argv: ['lists', 'update', '1', '--name', 'Mine'],
    isMeant: posts('/contactslists/1/update'),
    of: '/contactslists/list',
    body: { contact_list_id: 2 },
  },
};

/** `isStored`: whether the service does what it was asked before the answer of another request comes. */
function mixedUp(world: SandboxWorld, { isMeant, of, body }: Case, isStored: boolean) {
  let writes = 0;
  const exchange: typeof world.exchange = async (request) => {
    if (!isMeant(request)) return world.exchange(request);
    writes++;
    if (isStored) await world.exchange(request);
    const { origin } = new URL(request.url);
    const other = (await world.exchange({
      ...request,
      method: 'GET',
      url: origin + of,
      body: undefined,
    })) as HttpResponse;
    expect(other.status).toBe(200);
    return { ...other, body: body ? JSON.stringify(body) : other.body };
  };
  return { world: { ...world, exchange }, writes: () => writes };
}

for (const [what, one] of Object.entries(creations)) {
  test(`${what}, answered with a record that was there before: svc finds its own, sent once`, async () => {
    const mixed = mixedUp(sandboxWorld({ rateLimit: 'off' }), one, true);
    const ran = await svc(mixed.world, [...one.argv, '--json']);
    expect(ran).toMatchObject({ exitCode: 0 });
    const { id, contact_list_id } = JSON.parse(ran.stdout) as { id?: number; contact_list_id?: number };
    expect(id ?? contact_list_id).toBeGreaterThan(3);
    if (!one.body)
      expect(JSON.parse(ran.stdout)).toMatchObject(what === 'tickets create' ? { subject: 'Mine' } : { title: 'Mine' });
    expect(mixed.writes()).toBe(1);
  });

  test(`${what}, answered with a record that was there before, and never made: exit 9`, async () => {
    const mixed = mixedUp(sandboxWorld({ rateLimit: 'off' }), one, false);
    const ran = await svc(mixed.world, [...one.argv, '--json']);
    expect(ran).toMatchObject({ exitCode: 9, stdout: '' });
    expect(mixed.writes()).toBe(1);
  });
}

for (const [what, one] of Object.entries(updates)) {
  test(`${what}, answered with another record: exit 9, never done`, async () => {
    const mixed = mixedUp(sandboxWorld({ rateLimit: 'off' }), one, false);
    const ran = await svc(mixed.world, [...one.argv, '--json']);
    expect(ran).toMatchObject({ exitCode: 9, stdout: '' });
    expect(mixed.writes()).toBeGreaterThan(1);
  });
}

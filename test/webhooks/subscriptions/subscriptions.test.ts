import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { WebhookEvent } from '../../../src/api/webhooks.ts';
import { Failure } from '../../../src/errors.ts';
import { hasLeftovers, reap, type Subscribing, subscribe } from '../../../src/webhooks/subscriptions/subscriptions.ts';

const base = 'https://api.example.com';
const url = 'https://tunnel.example.com/';
const newFolder = () => mkdtemp(join(tmpdir(), 'svc-subscriptions-'));

/** The service, which a test may interrupt: what is thrown in `at` stands for SIGKILL at that instant. */
function service(at: { beforeCreate?: () => void; afterCreate?: () => void; onDelete?: (id: number) => void } = {}) {
  let ids = 0;
  const there: { id: number; event_type: string; target_url: string }[] = [];
  const make = (event: string, target: string) => {
    there.push({ id: ++ids, event_type: event, target_url: target });
    return ids;
  };
  const subscribing: Subscribing = {
    list: async () => [...there],
    create: async (event, target) => {
      at.beforeCreate?.();
      const id = make(event, target);
      at.afterCreate?.();
      return { id, signing_secret: `secret_${id}` };
    },
    delete: async (id) => {
      at.onDelete?.(id);
      const index = there.findIndex((one) => one.id === id);
      if (index < 0) throw new Failure('not-found', 'There is no such record.', { status: 404 });
      there.splice(index, 1);
    },
  };
  return { ...subscribing, there, make };
}
const events: WebhookEvent[] = ['ticket.created', 'feedback.created'];

test('each event is subscribed, and afterwards all of it is removed and nothing else', async () => {
  const folder = await newFolder();
  const remote = service();
  remote.make('ticket.created', url);
  const made = await subscribe(folder, { baseUrl: base, url, events }, remote);
  expect(made).toEqual([
    { event: 'ticket.created', id: 2, secret: 'secret_2' },
    { event: 'feedback.created', id: 3, secret: 'secret_3' },
  ]);
  remote.make('feedback.created', url);
  expect(await reap([folder], [], base, remote)).toEqual([2, 3]);
  expect(remote.there.map(({ id }) => id)).toEqual([1, 4]);
  expect(await readdir(folder)).toEqual([]);
});

/** The first answer is lost, and with it the secret. */
function losing(remote: ReturnType<typeof service>, arrives: boolean): Subscribing {
  let calls = 0;
  const create: Subscribing['create'] = async (event, target) => {
    if (++calls > 1) return remote.create(event, target);
    if (arrives) await remote.create(event, target);
    throw new Failure('unknown', 'The subscription may or may not have been created.');
  };
  return { ...remote, create };
}

test('one whose answer was lost is known by the address, replaced, and a late copy is removed at the end', async () => {
  const folder = await newFolder();
  const remote = service();
  remote.make('ticket.created', url);
  remote.make('ticket.created', 'https://elsewhere.example.com/');
  const made = await subscribe(folder, { baseUrl: base, url, events: ['ticket.created'] }, losing(remote, true));
  expect(made).toEqual([{ event: 'ticket.created', id: 4, secret: 'secret_4' }]);
  expect(remote.there.map(({ id }) => id)).toEqual([1, 2, 4]);
  remote.make('ticket.created', url);
  expect(await reap([folder], [], base, remote)).toEqual([4, 5]);
  expect(remote.there.map(({ id }) => id)).toEqual([1, 2]);
});

test('where a lost answer left nothing that can be seen it is not sent again: it may still arrive', async () => {
  const folder = await newFolder();
  const remote = service();
  const subscribing = subscribe(folder, { baseUrl: base, url, events: ['ticket.created'] }, losing(remote, false));
  await expect(subscribing).rejects.toThrow('may or may not');
  remote.make('ticket.created', url);
  expect(await reap([folder], [], base, remote)).toEqual([1]);
});

test.each(['beforeCreate', 'afterCreate'] as const)(
  'killed %s, the next start finds exactly what is left',
  async (when) => {
    const folder = await newFolder();
    let calls = 0;
    const remote = service({
      [when]: () => {
        if (++calls === 2) throw new Error('killed');
      },
    });
    remote.make('feedback.created', url);
    await expect(subscribe(folder, { baseUrl: base, url, events }, remote)).rejects.toThrow('killed');
    expect(await hasLeftovers([folder], base)).toBe(true);
    const removed = await reap([folder], [], base, remote);
    expect(removed).toEqual(when === 'beforeCreate' ? [2] : [2, 3]);
    expect(remote.there.map(({ id }) => id)).toEqual([1]);
    expect(await hasLeftovers([folder], base)).toBe(false);
  },
);

test('the journal holds no secret', async () => {
  const folder = await newFolder();
  await subscribe(folder, { baseUrl: base, url, events }, service());
  const { readFile } = await import('node:fs/promises');
  expect(await readFile(join(folder, 'subscriptions.json'), 'utf8')).not.toContain('secret_');
});

test('what a living listener calls its own is not taken for the lost answer of a dead one', async () => {
  const [dead, living] = [await newFolder(), await newFolder()];
  let kill = true;
  const remote = service({
    beforeCreate: () => {
      if (kill) throw new Error('killed');
    },
  });
  await expect(subscribe(dead, { baseUrl: base, url, events: ['ticket.created'] }, remote)).rejects.toThrow('killed');
  kill = false;
  await subscribe(living, { baseUrl: base, url, events: ['ticket.created'] }, remote);
  expect(await reap([dead], [living], base, remote)).toEqual([]);
  expect(remote.there).toHaveLength(1);
});

test('what could not be removed is tried again by the next start', async () => {
  const folder = await newFolder();
  let broken = true;
  const remote = service({
    onDelete: () => {
      if (broken) throw new Failure('network', 'Could not reach the service.');
    },
  });
  await subscribe(folder, { baseUrl: base, url, events }, remote);
  expect(await reap([folder], [], base, remote)).toEqual([]);
  expect(await hasLeftovers([folder], base)).toBe(true);
  broken = false;
  expect(await reap([folder], [], base, remote)).toEqual([1, 2]);
});

test('one that somebody deleted meanwhile is no trouble', async () => {
  const folder = await newFolder();
  const remote = service();
  await subscribe(folder, { baseUrl: base, url, events }, remote);
  remote.there.shift();
  expect(await reap([folder], [], base, remote)).toEqual([2]);
  expect(await hasLeftovers([folder], base)).toBe(false);
});

test('what was left at another service is kept for a start there', async () => {
  const folder = await newFolder();
  const [here, there] = [service(), service()];
  await subscribe(folder, { baseUrl: 'https://other.example.com', url, events }, there);
  await subscribe(folder, { baseUrl: base, url, events }, here);
  expect(await reap([folder], [], base, here)).toEqual([1, 2]);
  expect(there.there).toHaveLength(2);
  expect(await reap([folder], [], 'https://other.example.com', there)).toEqual([1, 2]);
});

test('a damaged journal stops with what to do, since nobody could tell what is left', async () => {
  const folder = await newFolder();
  await writeFile(join(folder, 'subscriptions.json'), '{"sess');
  await expect(hasLeftovers([folder], base)).rejects.toMatchObject({
    kind: 'failed',
    hint: expect.stringContaining('list'),
  });
});

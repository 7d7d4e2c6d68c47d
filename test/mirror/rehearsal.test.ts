import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import parsePhone from 'libphonenumber-js/min';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Settings } from '../../src/config/settings.ts';
import type { Context } from '../../src/context.ts';
import { anonymised } from '../../src/mirror/rehearsal/anonymise.ts';
import { replacer } from '../../src/mirror/rehearsal/replacer.ts';
import { type Seed, seedFromCopy } from '../../src/mirror/rehearsal/seed.ts';
import { openCopyPulled } from '../../src/mirror/store/open-copy.ts';
import { readSeed } from '../../src/sandbox/store/seed-file.ts';
import { cpuTimer } from '../cpu.ts';
import { idOrders, withIds } from '../other-ids.ts';
import { few, origin, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { ok } from './engines.ts';
import { request, truth } from './truth.ts';

type Fields = Record<string, unknown>;

/** What `--seed mirror` reads. */
async function seedOf(world: SandboxWorld): Promise<Seed> {
  const quiet = { progress: () => {}, notice: () => {}, signal: new AbortController().signal };
  const files = { config: join(world.folder, 'config'), state: join(world.folder, 'state') };
  const ctx = { ...quiet, env: world.env, files, clock: world.clock } as unknown as Context;
  const { store, account } = await openCopyPulled(ctx, { baseUrl: origin, profile: 'default' } as Settings);
  try {
    return (await seedFromCopy(store, account)).seed;
  } finally {
    await store.close();
  }
}

const judged = (seed: Seed) => {
  const rows = readSeed(seed);
  if (typeof rows === 'string') throw new Error(rows);
  return rows;
};

const ann = { name: 'Ann', last_name: 'Lee', email: 'ann@twins.example', phone: '+14155550901' };
/** In the demo account, and in it what is hard to copy and to hide. */
const people = [
  { ...ann, company: 'Twin & Sons' },
  { ...ann, name: 'Anne', phone: '+14155550902', email: 'ANN@twins.example' },
  { name: 'Al', last_name: '山田', email: 'al+news@bücher.example', phone: '+14155550903', company: '' },
  {
    ...{
      name: 'Zoë',
      last_name: "O'Neil",
      email: 'zoe@x.example',
      phone: '+14155550904',
      website: 'https://zoe.example/me',
    },
    metadata: { plan: 'Goldplan', seats: 4711, owner: { mail: 'boss@x.example', phone: '+4915123456789' }, live: true },
  },
];

let real: SandboxWorld;
let seed: Seed;
beforeAll(async () => {
  real = sandboxWorld({ rateLimit: 'off' });
  for (const person of people) await request(real, 'POST', '/contacts/create', person);
  const body =
    'Zoë 👋 asks: write to boss@x.example, or call +49 1512 3456789, see https://zoe.example/me?id=4711\u0000';
  await request(real, 'POST', '/tickets', { subject: "O'Neil & 山田", description: body, contact_id: 2 });
  await request(real, 'POST', '/tickets/8/replies', { body });
  const html = '<p>For <Zoë> & "O\'Neil": [Zoë](https://zoe.example/me)</p>';
  await request(real, 'POST', '/changelog', { title: 'Thanks to Zoë', content: html });
  await ok(real, 'mirror pull');
  seed = await seedOf(real);
});

/** A world that plays the rehearsal, at the same time of day. */
function rehearsal(): SandboxWorld {
  const world = sandboxWorld({ seed: judged(seed), rateLimit: 'off' });
  world.clock.advance(real.clock.now().getTime() - world.clock.now().getTime());
  return world;
}

/** What the service itself knows and shows nobody. */
const shown = async (world: SandboxWorld) => {
  const {
    contacts = [],
    lists = [],
    list_members = [],
    calls = [],
    tickets = [],
    conversations = [],
    ...rest
  } = await truth(world);
  return { contacts, lists, list_members, calls, tickets, conversations, ...rest };
};

describe('--seed mirror', () => {
  test('shows what the real account shows, record by record', async () => {
    expect(await shown(rehearsal())).toEqual(await shown(real));
  });

  test('a sync does to it what it does to the real account: twins, filled blanks, kept values, new ids', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'svc-test-')), 'new.csv');
    const rows = [
      'email,first name,last name,company,phone,tags,metadata.plan',
      'ann@twins.example,Other,Name,Filled Inc,+14155550999,vip,pro',
      'al+news@bücher.example,Albert,,Blank Filled,,,',
      'zoe@x.example,,,Kept?,,new,silver',
      'new@x.example,New,Person,,+14155550905,,',
      'NEW@x.example,Again,,Second Row,,,',
      'nonsense,No,Email,,,,',
    ];
    writeFileSync(file, rows.join('\n'));
    const trial = rehearsal();
    const [before, beforeReal] = [await truth(trial), await truth(real)];
    const ran = [];
    for (const world of [trial, real]) {
      ran.push(await svc(world, ['contacts', 'sync', file, '--json', '--jq', 'del(.duration_ms)']));
    }
    expect(ran[0]).toEqual(ran[1]);
    expect(ran[0]?.exitCode).toBe(8);
    const [after, afterReal] = [await truth(trial), await truth(real)];
    expect(after).toEqual(afterReal);
    expect(after).not.toEqual(before);
    expect(beforeReal).toEqual(before);
  });

  test('so do changes of tickets, chats, lists and the changelog', async () => {
    const trial = rehearsal();
    const twin = sandboxWorld({ seed: judged(await seedOf(real)), rateLimit: 'off' });
    for (const line of [
      'tickets reply 8 --body Hello --yes',
      'conversations resolve 3',
      'lists add 1 --contact 40',
      'tickets create --subject New --contact 7',
      'changelog publish 1',
    ]) {
      for (const world of [trial, twin]) expect((await svc(world, line.split(' '))).exitCode, line).toBe(0);
    }
    expect((await truth(trial)).list_members).toEqual((await truth(twin)).list_members);
  });
});

/** Texts that stay: states, and what a program asks for by name. */
const staying = new Set(
  'status channel source country direction sender_type handling_mode priority lead_status interest_level mime ticket_number version'.split(
    ' ',
  ),
);
const isTime = (text: string) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/u.test(text);

function textsOf(value: unknown, field = ''): string[] {
  if (staying.has(field)) return [];
  if (typeof value === 'string') return isTime(value) ? [] : [value];
  if (typeof value === 'number' && field === 'seats') return [String(value)];
  if (Array.isArray(value)) return value.flatMap((each) => textsOf(each, field));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, held]) => textsOf(held, name));
}

const key = new Uint8Array(32).fill(7);
const own = ({ accounts: _, feedback_statuses: __, roadmap_columns: ___, ...rest }: Seed) => rest;

describe('--anonymise', () => {
  test('leaves no name, email, phone, website, company, metadata value or text of the original anywhere', async () => {
    const made = await anonymised(seed, key);
    const haystack = textsOf(own(made)).join('\n').toLowerCase();
    const originals = [...new Set(textsOf(own(seed)).map((text) => text.toLowerCase()))];
    expect(originals.length).toBeGreaterThan(500);
    // A short number is replaced too, but by another short number, which may well be there: it stands for nobody.
    const words = originals.filter((text) => /[\p{L}\p{N}]/u.test(text) && !/^\d{1,4}$/u.test(text));
    const isIn = (text: string) => {
      for (let at = haystack.indexOf(text); at >= 0; at = haystack.indexOf(text, at + 1)) {
        const around = `${haystack[at - 1] ?? ''} ${haystack[at + text.length] ?? ''}`;
        if (!/[\p{L}\p{N}]/u.test(around)) return true;
      }
      return false;
    };
    const found = words.filter(isIn);
    expect(found).toEqual([]);
    // Names stand inside of texts too.
    for (const name of [
      'zoë',
      "o'neil",
      'o’neil',
      '山田',
      'goldplan',
      'boss@',
      '1512',
      '4711',
      'bücher',
      '👋',
      'twins',
    ]) {
      expect(haystack).not.toContain(name);
    }
    expect(haystack).not.toContain('\u0000');
  });

  test('is the same for the same, and another with another key', async () => {
    const made = await anonymised(seed, key);
    expect(await anonymised(seed, key)).toEqual(made);
    const [one, other] = [made, await anonymised(seed, new Uint8Array(32))].map(
      ({ contacts = [] }) => contacts[0]?.email,
    );
    expect(one).not.toBe(other);
    const contacts = made.contacts ?? [];
    const was = seed.contacts ?? [];
    const emails = new Map(
      was.map(({ email }, at) => [String(email).toLowerCase(), String(contacts[at]?.email).toLowerCase()]),
    );
    // Two people with one email still have one, and nobody else has it.
    expect(new Set(emails.values()).size).toBe(emails.size);
    const twins = contacts.filter((_, at) => String(was[at]?.email).toLowerCase() === ann.email);
    expect(new Set(twins.map(({ email }) => String(email).toLowerCase())).size).toBe(1);
    expect(twins).toHaveLength(2);
    const phones = new Map(was.map(({ phone }, at) => [phone, contacts[at]?.phone]));
    expect(new Set(phones.values()).size).toBe(phones.size);
  });

  test('keeps the shapes, so that a sandbox takes it and its commands work', async () => {
    const made = await anonymised(seed, key);
    const was = seed.contacts ?? [];
    for (const [at, contact] of (made.contacts ?? []).entries()) {
      const before = was[at] as Fields;
      expect(contact).toMatchObject({ contact_id: before.contact_id, country: before.country });
      if (before.email !== '') expect(contact.email).toMatch(/^[^\s@]+@[^\s@]+\.example$/u);
      expect(contact.company === '').toBe(before.company === '');
      expect(Math.abs(String(contact.name).length - String(before.name).length)).toBeLessThanOrEqual(4);
      const [phone, old] = [parsePhone(String(contact.phone)), parsePhone(String(before.phone))];
      expect(phone?.isValid()).toBe(old?.isValid());
      expect(phone?.country).toBe(old?.country);
    }
    const zoe = (made.contacts ?? []).find((_, at) => was[at]?.email === 'zoe@x.example');
    expect(zoe?.website).toMatch(/^https:\/\/[\w-]+\.example\/\w+$/u);
    expect(zoe?.metadata).toEqual({
      plan: expect.stringMatching(/^[A-Z][a-z]{7,}$/u),
      seats: expect.any(Number),
      owner: { mail: expect.stringMatching(/@[\w-]+\.example$/u), phone: expect.stringMatching(/^\+49\d+$/u) },
      live: true,
    });
    const world = sandboxWorld({ seed: judged(made), rateLimit: 'off' });
    for (const line of [
      'contacts list --all',
      'tickets list --all',
      'tickets get 8',
      'changelog list',
      'feedback list',
    ]) {
      expect((await svc(world, [...line.split(' '), '--json'])).exitCode, line).toBe(0);
    }
  });
});

test('a word of a megabyte, such as a picture in a text, takes no longer than as much in words', {
  tags: ['long'],
}, async () => {
  const { text } = await replacer(new Uint8Array(32), new Set());
  const computed = cpuTimer();
  const out = text(`Look: ${'aGk9'.repeat(250_000)} from ada@example.org`);
  expect(out).not.toContain('ada@example.org');
  expect(out).toMatch(/ \S+@\S+$/u);
  expect(computed()).toBeLessThan(10_000);
});

test.each(idOrders)('a rehearsal lists the newest first, as the service does, where ids %s', async (_, order) => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  await ok(withIds(world, order), ['mirror', 'pull', '--only', 'tickets']);
  const { tickets = [] } = await seedOf(world);
  expect(tickets.map(({ id }) => order(Number(id)))).toEqual(
    (few.tickets ?? []).filter(({ account_id }) => account_id === 1).map(({ id }) => id),
  );
});

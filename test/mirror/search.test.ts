import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Settings } from '../../src/config/settings.ts';
import type { Context } from '../../src/context.ts';
import { findContacts, fromContactsCopy, openContactsCopy } from '../../src/mirror/query/find.ts';
import { phrasesOf, placeOf, wordsOf } from '../../src/mirror/store/words.ts';
import type { Account, Sql, Store } from '../../src/mirror/tables/store.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { json, ok, onBothEngines } from './engines.ts';
import { request } from './truth.ts';

type Hit = { kind: string; id: number; of: number | null; field: string; text: string };

describe('the words of a text', () => {
  test.each([
    ['Ada@Example.com', ['ada', 'example', 'com']],
    ['Crème brûlée', ['creme', 'brulee']],
    ['東京都のA4', ['東京', '京都', '都の', 'の', 'a4']],
    ['สวัสดี', expect.any(Array)],
    ['ПРИВЕТ, мир', ['привет', 'мир']],
    ["it's — ok!", ['it', 's', 'ok']],
    ['', []],
  ])('%s', (text, words) => expect(wordsOf(text)).toEqual(words));

  test('what is looked for needs no last half of a pair', () => {
    expect(phrasesOf('東京都 "Exact Words"')).toEqual([
      { words: ['東京', '京都'], isBegun: true },
      { words: ['exact', 'words'], isBegun: false },
    ]);
  });
});

test('what is found stands near the beginning of its piece, where a narrow table does not cut it off', () => {
  const text = 'We were charged twice on 3 May. Please refund one of the payments.';
  const piece = (words: string) => placeOf([['body', text]], phrasesOf(words))?.piece;
  expect(piece('refund')).toBe('…3 May. Please refund one of the payments.');
  expect(piece('charged')).toBe(text);
  expect(piece('payments')).toBe('…refund one of the payments.'.replace('refund ', ''));
});

const byTheIndexOfEmails = [expect.stringContaining('USING INDEX contacts_email_key')];

/** How SQLite goes about finding a contact. */
async function plansOf(store: Store, account: Account, text: string): Promise<unknown[]> {
  const plans: unknown[] = [];
  const explained = (sql: Sql): Sql => ({
    ...sql,
    async all(statement, values) {
      const steps = statement.includes('FROM contacts') ? await sql.all(`EXPLAIN QUERY PLAN ${statement}`, values) : [];
      plans.push(...steps.map(({ detail }) => detail));
      return sql.all(statement, values);
    },
  });
  await findContacts({ ...store, read: (work) => store.read((sql) => work(explained(sql))) }, account, text);
  return plans;
}

onBothEngines('mirror search', ({ test, once, world: fresh, pulled, looked }) => {
  const hits = async (world: SandboxWorld, words: string) => (await json(world, ['mirror', 'search', words])) as Hit[];

  test('finds words of any script, wherever they stand, with the place', { tags: ['long'] }, async () => {
    const world = fresh();
    await request(world, 'POST', '/tickets', { subject: '請求書の再発行について', description: 'お願いします' });
    await request(world, 'POST', '/tickets', { subject: 'Rechnung für Müller', description: 'Überfällig seit März' });
    await request(world, 'POST', '/tickets', { subject: 'Не приходит письмо', description: 'เข้าสู่ระบบไม่ได้' });
    await request(world, 'POST', '/changelog', { title: 'Sélection rapide', content: '<p>Naïve <b>façade</b></p>' });
    await ok(world, 'mirror pull --only tickets,changelog');
    for (const [words, where] of Object.entries({
      再発行: ['tickets', 48, 'subject'],
      書: ['tickets', 48, 'subject'],
      'muller rechn': ['tickets', 49, 'subject'],
      ÜBERFÄLLIG: ['tickets', 49, 'description'],
      письмо: ['tickets', 50, 'subject'],
      ระบบ: ['tickets', 50, 'description'],
      facade: ['changelog', 34, 'content_html'],
    })) {
      const [first] = await hits(world, words);
      expect([words, first?.kind, first?.id, first?.field]).toEqual([words, ...where]);
    }
    expect(await hits(world, '"rechn"')).toEqual([]);
    expect(await hits(world, 'letters that stand nowhere')).toEqual([]);
    expect(await hits(world, '"*\'():& NOT AND')).toEqual([]);
  });

  once('takes operators of other searches as words, and says so', async () => {
    const world = await looked();
    const plain = await svc(world, ['mirror', 'search', 'refund', '(', '--json']);
    expect(plain).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(plain.stdout)).toEqual(await hits(world, 'refund'));
    const ran = await svc(world, ['mirror', 'search', 'refund AND (']);
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(ran.stderr).toContain('AND is looked for as a word, like the others: every word has to be there.');
    expect((await svc(world, ['mirror', 'search', 'refund', 'and', '"x OR y"', 'NOTE'])).stderr).not.toContain(
      'looked for',
    );
  });

  once.each(['(', '"*" &', '— —', '—'])('without a word in %j it is exit 2', async (text) => {
    const ran = await svc(await looked(), ['mirror', 'search', text]);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain('There is no word to look for');
  });

  test('finds a message with its ticket, and no longer what it said before', async () => {
    const world = await pulled();
    const found = await hits(world, 'export rows');
    // Once, whether it is found in its own words or in those of a message.
    expect(found.filter(({ kind, id, of }) => (kind === 'tickets' ? id : of) === 8)).toEqual([
      expect.objectContaining({ number: 'T-1008' }),
    ]);
    world.clock.advance(600_000);
    await request(world, 'PATCH', '/tickets/8', { subject: 'Something else' });
    await ok(world, 'mirror pull --only tickets');
    const subjects = (await hits(world, 'stops')).filter(({ kind, id }) => kind === 'tickets' && id === 8);
    expect(subjects).toEqual([]);
    expect((await hits(world, 'something else')).map(({ id }) => id)).toContain(8);
  });

  test('contacts are found by a part of email, name, phone or company; an address finds its own alone', async () => {
    const world = fresh();
    const one = {
      name: 'Zoë',
      last_name: 'Ångström',
      email: 'Zoe@Example.ORG',
      phone: '+14155550777',
      company: 'Ölwerk AG',
    };
    await request(world, 'POST', '/contacts/create', {
      contacts: [one, { ...one, name: 'Twin' }, { ...one, email: 'xzoe@example.org' }],
    });
    await ok(world, 'mirror pull --only contacts');
    const files = { config: join(world.folder, 'config'), state: join(world.folder, 'state') };
    const quiet = { progress: () => {}, notice: () => {}, signal: new AbortController().signal };
    const ctx = { ...quiet, env: world.env, files, clock: world.clock } as unknown as Context;
    const settings = { baseUrl: 'https://service.test', profile: 'default' } as Settings;
    const copy = await openContactsCopy(ctx, settings);
    if (!copy) throw new Error('There is a copy.');
    const { store, account } = copy;
    const stranger = { ...ctx, env: { ...world.env, SVC_API_KEY: 'key_globex' } };
    expect(await openContactsCopy(stranger, settings)).toBeUndefined();
    const ids = async (text: string) =>
      (await findContacts(store, account, text)).contacts.map(({ contact_id: id }) => id);
    expect(await ids(' zoe@example.org')).toEqual([278, 277]);
    expect(await ids('ZOË ÅNG')).toEqual([279, 277]);
    expect(await ids('(415) 555-0777')).toEqual([279, 278, 277]);
    expect(await ids('ölwerk')).toEqual([279, 278, 277]);
    expect(await ids('nobody at all')).toEqual([]);
    expect(await ids("' OR 1=1 --")).toEqual([]);
    expect((await findContacts(store, account, 'x')).asOf).toMatch(/^20/u);
    if (store.engine === 'sqlite') expect(await plansOf(store, account, 'zoe@example.org')).toEqual(byTheIndexOfEmails);
    await store.close();
    expect(
      await fromContactsCopy(ctx, { ...settings, live: true }, () => Promise.reject(new Error('asked'))),
    ).toBeUndefined();
  });
});

// @module-tag long
// An inbox in Postgres whose tables get code of somebody else, or lose rows, while svc uses them.
import { Client } from 'pg';
import { expect } from 'vitest';
import { openPostgres } from '../../../src/webhooks/store/postgres/postgres-store.ts';
import { endAfterEach } from '../../endings.ts';
import { withPostgres } from '../own-postgres.ts';
import { arrival, idsOf, newDatabase, outcome, withServer } from '../stores.ts';

withServer();
const endings = endAfterEach();

/** An inbox of a role that is no superuser, in use, and what another role that may add to its tables then does. */
async function inUse() {
  const url = newDatabase();
  const database = /\/\/\/(\w+)/u.exec(url)?.[1] ?? '';
  const [owner, evil] = [`${database}_own`, `${database}_evil`];
  // One connection: a program for each of so many statements takes longer than all that they do.
  const client = new Client({ connectionString: url });
  await client.connect();
  endings.push(() => client.end());
  const ask = async (text: string) => {
    const results = [await client.query(`RESET ROLE; ${text}`)].flat();
    return (results.at(-1)?.rows ?? []).map((row) => Object.values(row).join('|')).join('\n');
  };
  await ask(
    `CREATE ROLE ${owner} LOGIN; CREATE ROLE ${evil} LOGIN; GRANT CREATE ON DATABASE ${database} TO ${owner}, ${evil}`,
  );
  const store = await openPostgres({
    url: url.replace(/user=\w+/u, `user=${owner}`),
    env: {},
    limit: 1000,
    holder: 'one',
    clock: { ticks: () => performance.now() },
  });
  endings.push(() => store.close());
  expect(await store.add(arrival('evt_first'))).toBe('stored');
  expect(await idsOf(store)).toEqual(['evt_first']);
  await ask(`GRANT USAGE ON SCHEMA svc_webhooks TO ${evil}; GRANT TRIGGER, REFERENCES ON ALL TABLES IN SCHEMA svc_webhooks TO ${evil};
SET ROLE ${evil}; CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO public; CREATE TABLE evil.ran (who text); GRANT INSERT ON evil.ran TO public;
CREATE FUNCTION evil.code() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO evil.ran VALUES (current_user); RETURN NEW; END $$`);
  const kept = () => ask('SELECT count(*) FROM svc_webhooks.inbox');
  return { store, ask, evil, owner, kept };
}

const settled = [{ id: 'evt_first', outcome: outcome('delivered') }];

const plants: readonly (readonly [what: string, sql: string, undo: string])[] = [
  ...['BEFORE INSERT', 'AFTER UPDATE', 'BEFORE DELETE', 'AFTER TRUNCATE'].flatMap((when) =>
    ['inbox', 'deliveries', 'sinks', 'version'].map(
      (table) =>
        [
          `a trigger ${when} on ${table}`,
          `CREATE TRIGGER planted ${when} ON svc_webhooks.${table} EXECUTE FUNCTION evil.code()`,
          `DROP TRIGGER "planted" ON svc_webhooks.${table}`,
        ] as const,
    ),
  ),
  [
    'a constraint trigger that is deferred',
    'CREATE CONSTRAINT TRIGGER planted AFTER INSERT ON svc_webhooks.inbox DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION evil.code()',
    'DROP TRIGGER "planted" ON svc_webhooks.inbox',
  ],
  [
    'a foreign key that cascades into a table with a trigger of theirs',
    `CREATE TABLE evil.child (place bigint CONSTRAINT planted REFERENCES svc_webhooks.inbox (place) ON DELETE CASCADE);
     CREATE TRIGGER planted AFTER DELETE ON evil.child FOR EACH ROW EXECUTE FUNCTION evil.code()`,
    'ALTER TABLE evil.child DROP CONSTRAINT "planted"',
  ],
];

withPostgres(
  'code of another role that comes while svc runs is not run: svc names it and what takes it away',
  async () => {
    const { store, ask, evil, kept } = await inUse();
    for (const [what, sql, undo] of plants) {
      await ask(`SET ROLE ${evil}; ${sql}`);
      const refusal = { message: expect.stringContaining('planted'), hint: expect.stringContaining(undo) };
      await expect(store.add(arrival(`evt ${what}`)), what).rejects.toMatchObject(refusal);
      await expect(store.settle('app', settled), what).rejects.toMatchObject(refusal);
      await expect(store.probe(), what).rejects.toMatchObject(refusal);
      await expect(store.trim(), what).rejects.toMatchObject(refusal);
      await ask(undo);
      expect(await store.add(arrival(`evt ${what}`)), what).toBe('stored');
    }
    expect(await ask('SELECT * FROM evil.ran')).toBe('');
    expect(Number(await kept())).toBe(1 + plants.length);
  },
);

withPostgres('what the owner adds with a function of another role is refused too', async () => {
  const { store, ask, evil } = await inUse();
  await ask(`SET ROLE ${evil}; CREATE FUNCTION evil.word() RETURNS text LANGUAGE plpgsql AS $$ BEGIN INSERT INTO evil.ran VALUES (current_user); RETURN ''; END $$;
CREATE FUNCTION evil.yes(text) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT true'; CREATE FUNCTION evil.yes() RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT true'`);
  const table = 'svc_webhooks.inbox';
  for (const [what, add, undo] of [
    ['default', 'ALTER COLUMN record SET DEFAULT evil.word()', 'ALTER COLUMN record DROP DEFAULT'],
    ['constraint', 'ADD CONSTRAINT planted CHECK (evil.yes(record)) NOT VALID', 'DROP CONSTRAINT planted'],
  ]) {
    await ask(`ALTER TABLE ${table} ${add}`);
    await expect(store.add(arrival(`evt ${what}`)), what).rejects.toMatchObject({
      message: expect.stringContaining(`${what} of somebody else`),
    });
    await ask(`ALTER TABLE ${table} ${undo}`);
  }
  for (const [what, add, undo] of [
    ['index', `CREATE INDEX planted ON ${table} ((evil.yes(record)))`, 'DROP INDEX svc_webhooks.planted'],
    ['policy', `CREATE POLICY planted ON ${table} USING (evil.yes())`, `DROP POLICY planted ON ${table}`],
    [
      'rule',
      `CREATE RULE planted AS ON DELETE TO ${table} WHERE evil.yes() DO ALSO NOTHING`,
      `DROP RULE planted ON ${table}`,
    ],
  ] as const) {
    await ask(add);
    await expect(store.add(arrival(`evt ${what}`)), what).rejects.toMatchObject({
      message: expect.stringContaining(`${what} of somebody else: planted`),
    });
    await ask(undo);
  }
  expect(await store.add(arrival('evt_last'))).toBe('stored');
});

withPostgres('triggers of the role itself, and a foreign key that only counts, are no reason to refuse', async () => {
  const { store, ask, owner, evil } = await inUse();
  await ask(`SET ROLE ${owner}; CREATE FUNCTION svc_webhooks.own() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER own BEFORE INSERT ON svc_webhooks.inbox FOR EACH ROW EXECUTE FUNCTION svc_webhooks.own()`);
  await ask(
    `SET ROLE ${evil}; CREATE TABLE evil.notes (place bigint REFERENCES svc_webhooks.inbox (place), note text)`,
  );
  expect(await store.add(arrival('evt_2'))).toBe('stored');
  await store.settle('app', settled);
  expect(await idsOf(store)).toEqual(['evt_2']);
});

/** Of the role itself, so that it is trusted: it takes rows away without a word. */
const swallowing = (table: string, when: string, condition = 'true') =>
  `CREATE OR REPLACE FUNCTION svc_webhooks.swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF ${condition} THEN RETURN NULL; END IF; IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$;
CREATE TRIGGER swallow BEFORE ${when} ON svc_webhooks.${table} FOR EACH ROW EXECUTE FUNCTION svc_webhooks.swallow()`;
const noMore = (table: string) => `DROP TRIGGER swallow ON svc_webhooks.${table}`;

withPostgres(
  'an event that the database swallows is no repeat: it is refused, and those that came with it are stored',
  async () => {
    const { store, ask } = await inUse();
    await ask(swallowing('inbox', 'INSERT', "NEW.body LIKE '%evt_gone%'"));
    const added = await Promise.allSettled(
      ['evt_2', 'evt_gone', 'evt_first', 'evt_2'].map((id) => store.add(arrival(id))),
    );
    expect(added.map((one) => (one.status === 'fulfilled' ? one.value : 'refused'))).toEqual([
      'stored',
      'refused',
      'repeat',
      'repeat',
    ]);
    expect(store.has('evt_gone')).toBe(false);
    const rebuilt = await Promise.allSettled([store.add(arrival('rebuilt:evt_gone', ['app'], { happening: 'other' }))]);
    expect(rebuilt).toMatchObject([{ status: 'rejected' }]);
    await ask(noMore('inbox'));
    expect(await store.add(arrival('evt_gone'))).toBe('stored');
  },
);

withPostgres('an event whose delivery to a sink the database swallows is not stored', async () => {
  const { store, ask, kept } = await inUse();
  await ask(swallowing('deliveries', 'INSERT'));
  await expect(store.add(arrival('evt_2'))).rejects.toThrow('takes rows away');
  expect(await kept()).toBe('1');
  await ask(noMore('deliveries'));
  expect(await store.add(arrival('evt_2'))).toBe('stored');
  expect(await idsOf(store)).toEqual(['evt_first', 'evt_2']);
});

withPostgres('an outcome, a claim, a probe or a trimming that the database swallows is an error', async () => {
  const { store, ask } = await inUse();
  await ask(swallowing('deliveries', 'UPDATE'));
  await expect(store.settle('app', settled)).rejects.toThrow('takes rows away');
  await ask(`${noMore('deliveries')}; ${swallowing('sinks', 'INSERT')}`);
  await expect(store.take('crm', 1)).rejects.toThrow('takes rows away');
  await ask(`${noMore('sinks')}; ${swallowing('version', 'UPDATE')}`);
  await expect(store.probe()).rejects.toThrow('takes rows away');
  await ask(noMore('version'));
  await store.settle('app', settled);
  // Once it is settled, a second outcome finds nothing that waits: that is no fault.
  await store.settle('app', settled);
  await store.probe();
  expect(await idsOf(store, 'crm')).toEqual([]);
});

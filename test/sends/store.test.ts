// Where drafts are kept: a folder and Postgres keep the same promises.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { claim, claimAlone, isLapsed } from '../../src/sends/claim.ts';
import type { Draft, NewDraft } from '../../src/sends/draft.ts';
import { type DraftStore, openDrafts } from '../../src/sends/store.ts';
import { screen } from '../cli/fake-context.ts';
import { virtualClock } from '../svc.ts';
import { ownPostgres, type PostgresServer, withPostgres } from '../webhooks/own-postgres.ts';
import { desk, type Shown, writesOf } from './drafting.ts';

let server: PostgresServer | undefined;
let count = 0;

beforeAll(async () => {
  server = await ownPostgres();
});

const newDatabase = (): string => {
  const name = `drafts_${++count}`;
  server?.sql('postgres', `CREATE DATABASE ${name} STRATEGY FILE_COPY`);
  return server?.url(name) ?? '';
};

const kinds = [
  { name: 'a folder', test, place: () => mkdtempSync(join(tmpdir(), 'svc-drafts-')) },
  { name: 'Postgres', test: withPostgres, place: newDatabase },
];

const draft = (key: string | null = null): NewDraft => ({
  ...{ state: 'waiting', batch: null, key, operation: 'replyToTicket', record: { kind: 'tickets', id: 8 } },
  ...{ to: 'Ada', recipient: '1', channel: 'email', status: 'open', number: 'T-1008', answers: null, content: null },
  steps: [
    {
      operation: 'replyToTicket',
      method: 'POST',
      path: '/tickets/8/replies',
      body: { body: 'Hi €😀' },
      state: 'waiting',
      sent_id: null,
    },
  ],
  ...{ base_url: 'https://service.test', account: 1, created_at: '2026-03-01T12:00:00.000Z', by: 'ada@here' },
  ...{ edited_by: null, edits: [], decided_at: null, decided_by: null, reason: null, error: null, claim: null },
});

/** Who waits gives the other the time that it takes. */
const waiting = {
  clock: { now: () => new Date(), ticks: () => performance.now(), sleep: (ms: number) => sleep(ms) },
  signal: new AbortController().signal,
  random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)),
};

const isWaiting = ({ state }: NewDraft) => state === 'waiting';

const longer = (text: string) => {
  const one = draft();
  return { ...one, steps: one.steps.map((step) => ({ ...step, body: { body: text } })) };
};

describe.each(kinds)('drafts in $name', ({ test, place }) => {
  const opened = async (run: (open: () => Promise<DraftStore>) => Promise<void>) => {
    const at = place();
    const stores: DraftStore[] = [];
    const { ctx } = screen({ env: {} });
    const open = async () => {
      const store = await openDrafts({ ...ctx, clock: { ...ctx.clock, now: () => new Date() } }, at);
      stores.push(store);
      return store;
    };
    await run(open).finally(() => Promise.all(stores.map((store) => store.close())));
  };

  test('a text of more than 1 MB is neither a draft nor a change of one', { tags: ['long'] }, () =>
    opened(async (open) => {
      const store = await open();
      const long = longer('x'.repeat(2 * 1024 * 1024));
      const refused = { kind: 'usage', message: 'The text is 2.0 MB long, and a draft holds at most 1 MB.' };
      await expect(store.add(long)).rejects.toMatchObject(refused);
      expect(await store.list()).toEqual([]);
      const { id } = await store.add(longer('x'.repeat(16_000)));
      await expect(store.change(id, (one) => ({ ...one, steps: long.steps }))).rejects.toMatchObject(refused);
      expect(await store.change(id, (one) => ({ ...one, state: 'rejected' }))).toMatchObject({ state: 'rejected' });
    }),
  );

  test('are numbered, listed and read by every user of the store as they were made', { tags: ['long'] }, () =>
    opened(async (open) => {
      const [one, two] = [await open(), await open()];
      const [first, second] = [await one.add(draft()), await two.add(draft())];
      expect([first.id, second.id]).toEqual([1, 2]);
      expect(await one.list()).toEqual([first, second]);
      expect(await two.get(1)).toEqual({ ...draft(), id: 1 });
      expect(await two.get(3)).toBeUndefined();
    }),
  );

  test('of one key are one draft, whoever is first', { tags: ['long'] }, () =>
    opened(async (open) => {
      const stores = await Promise.all([open(), open(), open()]);
      const made = await Promise.all(stores.map((store) => store.add(draft('batch/row'))));
      expect(new Set(made.map(({ id }) => id)).size).toBe(1);
      expect(await stores[0]?.list()).toHaveLength(1);
    }),
  );

  test('are claimed by one of many at once', { tags: ['long'] }, () =>
    opened(async (open) => {
      const stores = await Promise.all(Array.from({ length: 6 }, open));
      await stores[0]?.add(draft());
      const claims = await Promise.all(
        stores.map((store, at) =>
          claim(store, { id: 1, by: 'ada', token: String(at) }, ({ state }) => state === 'waiting'),
        ),
      );
      const held = claims.filter((one) => one !== undefined);
      expect(held).toHaveLength(1);
      await held[0]?.end((one) => ({ ...one, state: 'sent' }));
      expect(await stores[1]?.get(1)).toMatchObject({ state: 'sent', claim: null });
    }),
  );

  test('for one record are with one sender at a time, and each is sent', { tags: ['long'] }, () =>
    opened(async (open) => {
      const stores = await Promise.all([open(), open()]);
      for (const store of stores) await store.add(draft());
      let sending = 0;
      let most = 0;
      await Promise.all(
        stores.map(async (store, at) => {
          const held = await claimAlone(waiting, store, { id: at + 1, by: 'ada', token: String(at) }, isWaiting);
          most = Math.max(most, ++sending);
          await sleep(100);
          sending--;
          await held?.end((one) => ({ ...one, state: 'sent' }));
        }),
      );
      expect(most).toBe(1);
      expect((await stores[0]?.list())?.map(({ state }) => state)).toEqual(['sent', 'sent']);
    }),
  );

  test('are as they were where nobody can see who else is sending', () =>
    opened(async (open) => {
      const store = await open();
      await store.add(draft());
      const blind = { ...store, list: () => Promise.reject(new Error('gone')) };
      const claiming = claimAlone(waiting, blind, { id: 1, by: 'ada', token: 'a' }, isWaiting);
      await expect(claiming).rejects.toThrow('gone');
      expect(await store.get(1)).toMatchObject({ state: 'waiting', claim: null });
    }));

  test('are changed one after the other: no change of many at once is lost', { tags: ['long'] }, () =>
    opened(async (open) => {
      const stores = await Promise.all([open(), open(), open()]);
      await stores[0]?.add(draft());
      const edit = (store: DraftStore, by: string) =>
        store.change(1, (one) => ({ ...one, edits: [...one.edits, { at: '', by, before: null }] }));
      await Promise.all(stores.flatMap((store, at) => [edit(store, `${at}a`), edit(store, `${at}b`)]));
      expect((await stores[0]?.get(1))?.edits).toHaveLength(6);
    }),
  );

  test('one who was too long silent may neither change nor send it any more', { tags: ['long'] }, () =>
    opened(async (open) => {
      const store = await open();
      await store.add(draft());
      const mine = await claim(store, { id: 1, by: 'ada', token: 'a' }, () => true);
      await store.change(1, (one) => ({
        ...one,
        claim: one.claim && { ...one.claim, until: '2020-01-01T00:00:00.000Z' },
      }));
      const theirs = await claim(store, { id: 1, by: 'eve', token: 'b' }, () => true);
      await expect(mine?.change((one) => one)).rejects.toThrow('taken over');
      await theirs?.end((one) => ({ ...one, state: 'rejected' }));
      mine?.stop();
    }),
  );

  test.each<[string, (one: Draft) => Draft]>([
    ['decided about', (one) => ({ ...one, state: 'rejected', claim: null })],
    ['given other requests', (one) => ({ ...one, steps: longer('Other').steps })],
  ])('one that somebody has %s meanwhile is not theirs any more who had claimed it', (_, meanwhile) =>
    opened(async (open) => {
      const store = await open();
      await store.add(draft());
      const mine = await claim(store, { id: 1, by: 'ada', token: 'a' }, isWaiting);
      const theirs = await store.change(1, meanwhile);
      const taken = { kind: 'failed', message: expect.stringContaining('taken over') };
      await expect(mine?.change((one) => ({ ...one, error: 'mine' }))).rejects.toMatchObject(taken);
      await expect(mine?.end((one) => ({ ...one, state: 'sent' }))).rejects.toMatchObject(taken);
      expect(await store.get(1)).toEqual(theirs);
    }),
  );
});

test('a draft stays with whoever is long about sending it, until they stop', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { ctx } = screen({ env: {} });
  const clock = virtualClock();
  const store = await openDrafts({ ...ctx, clock }, mkdtempSync(join(tmpdir(), 'svc-drafts-')));
  await store.add(draft());
  const mine = await claim(store, { id: 1, by: 'ada', token: 'a' }, isWaiting);
  const passes = async () => {
    clock.advance(80_000);
    vi.advanceTimersByTime(80_000);
    // Behind what was written meanwhile.
    await store.change(1, () => undefined);
  };
  const theirs = () => claim(store, { id: 1, by: 'eve', token: 'b' }, isLapsed);
  await passes();
  await passes();
  expect(await theirs()).toBeUndefined();
  mine?.stop();
  await passes();
  await passes();
  const taken = await theirs();
  expect(taken?.draft()).toMatchObject({ claim: { by: 'eve' } });
  taken?.stop();
  await store.close();
});

test('a log of which a line is missing is refused: nobody knows what was sent', async () => {
  const { world, draft: make, run } = desk();
  await make('tickets reply 8 --body One');
  await make('tickets reply 9 --body Two');
  const path = join(world.folder, 'state', 'drafts', 'drafts.jsonl');
  const [, ...rest] = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, rest.join('\n'));
  expect(await run('drafts list')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('damaged') });
});

test.each(['id,name\n1,Ada\n', '{"id":1}\n', 'garbage\n', '{"n":1,"draft":{"id":1}}\n'])(
  'a log that holds something else is not taken for one without drafts: %j',
  async (text) => {
    const { world, draft: make, run } = desk();
    await make('tickets reply 8 --body One');
    writeFileSync(join(world.folder, 'state', 'drafts', 'drafts.jsonl'), text);
    expect(await run('drafts list')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('damaged') });
  },
);

test('a damaged log stays damaged for whoever has it open', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-drafts-'));
  const { ctx } = screen({ env: {} });
  const store = await openDrafts(ctx, folder);
  await store.add(draft());
  const path = join(folder, 'drafts.jsonl');
  writeFileSync(path, `no draft\n${readFileSync(path, 'utf8')}`);
  const another = await openDrafts(ctx, folder);
  for (let time = 0; time < 3; time++) await expect(another.list()).rejects.toThrow('damaged');
  await expect(another.add(draft())).rejects.toThrow('damaged');
  await Promise.all([store.close(), another.close()]);
});

test('a line that a crash tore is passed over, and the next draft stands behind it', async () => {
  const { world, draft: make, json } = desk();
  await make('tickets reply 8 --body One');
  const path = join(world.folder, 'state', 'drafts', 'drafts.jsonl');
  writeFileSync(path, `${readFileSync(path, 'utf8')}{"n":2,"draft":{"id":2,"sta`);
  await make('tickets reply 9 --body Two');
  expect((await json<Shown[]>('drafts list')).map(({ body }) => body)).toEqual(['One', 'Two']);
});

withPostgres(
  'an assistant drafts with a token that cannot send; a person approves with theirs, on another machine, once',
  { tags: ['long'] },
  async () => {
    const url = newDatabase();
    const [theirs, own] = [desk(), desk()];
    const scopes = ['identity', 'tickets:read', 'conversations:read', 'changelog:read', 'contacts:read'];
    const { access_token: token } = (await own.world.control('POST', 'tokens', { account_id: 1, scopes })) as {
      access_token: string;
    };
    const machine = { ...theirs.world, exchange: own.world.exchange };
    const env = { SVC_API_KEY: '', SVC_ACCESS_TOKEN: token, SVC_DRAFTS_DB: url };
    const { svc } = await import('../svc.ts');
    const lines = [
      ['tickets', 'reply', '8', '--body', 'Fixed', '--status', 'resolved'],
      ['conversations', 'reply', '3', '--body', 'Hello'],
      ['conversations', 'resolve', '5'],
      ['events', 'send', 'order_create', '--contact-name', 'Ada', '--email', 'ada@lovelace.test'],
    ];
    for (const line of lines) {
      const refused = await svc(machine, [...line, '--yes'], { env: { ...env, SVC_DRAFTS_DB: '' } });
      expect(refused.exitCode).toBe(5);
      const drafted = await svc(machine, [...line, '--draft', '--json'], { env });
      expect(`${drafted.stderr} ${drafted.exitCode}`).toMatch(/ 0$/u);
    }
    const digests = JSON.parse((await svc(machine, ['drafts', 'list', '--json'], { env })).stdout) as Shown[];
    expect(digests).toHaveLength(4);
    const some = await svc(machine, ['drafts', 'list', '--limit', '2', '--json'], { env });
    expect(JSON.parse(some.stdout)).toEqual(digests.slice(0, 2));
    expect(some.stderr).toContain('Showing 2 of 4. For more: leave out --limit.');
    const refused = await svc(machine, ['drafts', 'approve', '1', '--digest', digests[0]?.digest ?? ''], { env });
    expect(refused.exitCode).toBe(5);
    const effects = () => writesOf(own.world).length;
    const before = effects();
    const person = { env: { SVC_DRAFTS_DB: url } };
    for (const { id } of digests) expect((await own.approve(id, person)).exitCode).toBe(0);
    expect(effects() - before).toBe(5);
    expect(await own.json('drafts list --state sent', person)).toHaveLength(4);
  },
);

withPostgres('a draft that somebody has changed in the database is not sent', { tags: ['long'] }, async () => {
  const url = newDatabase();
  const { world, draft: make, run } = desk();
  const env = { SVC_DRAFTS_DB: url };
  await make('tickets reply 8 --body Fixed', { env });
  const replaced = `replace(convert_from(data, 'UTF8'), '/tickets/8/replies', '/tickets/9/replies')`;
  server?.sql(new URL(url).pathname.slice(1), `UPDATE svc_drafts.drafts SET data = convert_to(${replaced}, 'UTF8')`);
  const ran = await run('drafts approve 1', { env, columns: 80, answers: [true] });
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is damaged, or somebody has changed it') });
  expect(writesOf(world)).toEqual([]);
});

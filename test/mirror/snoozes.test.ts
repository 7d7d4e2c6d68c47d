import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/mirror/sqlite/sqlite.ts';
import { accountsIn } from '../../src/mirror/store/account.ts';
import { snooze, snoozed } from '../../src/mirror/store/snoozes.ts';
import { pulledWorld } from './engines.ts';

test('a draft that was looked at does not come back when somebody writes in the conversation of its number', async () => {
  const { folder, clock } = await pulledWorld();
  const ctx = { clock, signal: new AbortController().signal, progress: () => {}, notice: () => {} };
  const store = await openSqlite(ctx, { named: join(folder, 'state', 'mirror.db'), isOwn: true });
  const [account] = await accountsIn(store);
  if (!account) throw new Error('The copy holds no account.');
  const [last] = await store.read((sql) =>
    sql.all("SELECT conversation_id, created_at FROM conversation_messages WHERE sender_type = 'visitor' LIMIT 1"),
  );
  const id = Number(last?.conversation_id);
  const looked = { id, until: null, since: '2000-01-01T00:00:00.000Z', by: 'ada' };
  await snooze(store, account, [
    { kind: 'draft', ...looked },
    { kind: 'conversation', ...looked },
  ]);
  const away = await store.read((sql) => snoozed(sql, account, new Date()));
  expect(away.map(({ kind }) => kind)).toEqual(['draft']);
  await store.close();
});

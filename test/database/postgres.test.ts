import { expect } from 'vitest';
import { openDatabase } from '../../src/database/postgres.ts';
import { withPostgres } from '../webhooks/own-postgres.ts';
import { newDatabase, serverOf, withServer } from '../webhooks/stores.ts';

withServer();

withPostgres(
  'a session that the server refused to begin is begun again for the next statement',
  { tags: ['long'] },
  async () => {
    const url = newDatabase();
    const name = new URL(url).pathname.slice(1);
    const guard = { text: 'SELECT 1 FROM later', refuse: () => new Error('guarded') as never };
    const opening = { url, env: {}, application: 'svc', passwordHint: '', guard };
    const database = await openDatabase(opening);
    const ask = () => database.query({ text: 'SELECT 7 AS seven' });
    await expect(Promise.all([ask(), ask()])).rejects.toThrow(/relation "later" does not exist/u);
    serverOf().sql(name, 'CREATE TABLE later (id int)');
    await expect.poll(ask).toEqual([{ seven: 7 }]);
    await database.close();
    await expect
      .poll(() => serverOf().sql(name, 'SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()'))
      .toBe('1\n');
  },
);

import type { OwnSchema } from '../database/foreign-code.ts';
import { type OwnTables, openOwn, prepareTables } from '../database/own-schema.ts';
import { Failure } from '../errors.ts';
import type { Fields } from '../text/record.ts';
import type { Draft } from './draft.ts';
import type { Change, DraftStore, StoreNeeds } from './draft-store.ts';
import { isDraft } from './store-folder.ts';

const schema = 'svc_drafts';

const own: OwnSchema = { schema, tables: ['drafts', 'version'] };

const tables: OwnTables = {
  own,
  version: 1,
  lock: 7379633,
  newer: (place) => `The drafts in ${place} were`,
  // A draft is bytes, so that the encoding of the database does not matter; its id and its key stand beside it.
  statements: `
CREATE SEQUENCE IF NOT EXISTS ${schema}.ids;
CREATE TABLE IF NOT EXISTS ${schema}.drafts (
  id bigint PRIMARY KEY DEFAULT nextval('${schema}.ids'::regclass),
  key text UNIQUE,
  changes integer NOT NULL DEFAULT 0,
  data bytea NOT NULL
);`,
};

/** Nobody adds code to it meanwhile. */
const lock = `LOCK TABLE ${schema}.drafts IN ROW EXCLUSIVE MODE`;

/** Others may change a draft between reading and writing it: then it is read again. */
const mostTries = 20;

/** Drafts in Postgres, for any number of machines. */
export async function openPostgres({ env }: StoreNeeds, url: string): Promise<DraftStore> {
  const passwordHint = 'Give the password in PGPASSWORD, in .pgpass, or in the URL in SVC_DRAFTS_DB.';
  const database = await openOwn(own, { url, env, application: 'svc drafts', passwordHint });
  try {
    await prepareTables(database, tables);
  } catch (error) {
    await database.close();
    throw error;
  }
  const rows = async (where: string, values: unknown[] = []): Promise<Row[]> =>
    (
      await database.query({ text: `SELECT id, changes, data, now() AS now FROM ${schema}.drafts ${where}`, values })
    ).map(rowIn);
  const change = async (id: number, judge: Change): Promise<Draft | undefined> => {
    for (let tries = 0; tries < mostTries; tries++) {
      const [row] = await rows('WHERE id = $1', [id]);
      const next = row && judge(row.draft, row.now);
      if (!row || !next) return undefined;
      const written = await database.query({
        lock,
        text: `UPDATE ${schema}.drafts SET data = $2, changes = changes + 1 WHERE id = $1 AND changes = $3 RETURNING id`,
        values: [id, bytesOf(next), row.changes],
      });
      if (written.length > 0) return next;
    }
    throw new Failure('failed', `Draft ${id} is changed by others all the time. Nothing was sent.`);
  };
  return {
    place: database.place,
    async add(draft) {
      const written = await database.query({
        lock,
        text: `INSERT INTO ${schema}.drafts (key, data) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING RETURNING id`,
        values: [draft.key, bytesOf({ ...draft, id: 0 })],
      });
      const [present] = written.length > 0 ? [undefined] : await rows('WHERE key = $1', [draft.key]);
      return present?.draft ?? { ...draft, id: Number(written[0]?.id) };
    },
    list: async () => (await rows('ORDER BY id')).map(({ draft }) => draft),
    get: async (id) => (await rows('WHERE id = $1', [id]))[0]?.draft,
    change,
    now: async () => dateIn((await database.query({ text: 'SELECT now() AS now' }))[0]?.now),
    close: () => database.close(),
  };
}

type Row = { readonly draft: Draft; readonly changes: number; readonly now: Date };

const bytesOf = (draft: Draft): Buffer => Buffer.from(JSON.stringify(draft));

const dateIn = (value: unknown): Date => (value instanceof Date ? value : new Date(String(value)));

function rowIn({ id, changes, data, now }: Fields): Row {
  const draft: unknown = data instanceof Uint8Array ? JSON.parse(Buffer.from(data).toString('utf8')) : undefined;
  if (!isDraft(draft)) throw new Failure('failed', `Draft ${String(id)} in the database is damaged. Nothing was sent.`);
  return { draft: { ...draft, id: Number(id) }, changes: Number(changes), now: dateIn(now) };
}

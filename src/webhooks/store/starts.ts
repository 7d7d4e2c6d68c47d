import { join } from 'node:path';
import { type WebhookEvent, webhookEvents } from '../../api/webhooks.ts';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/postgres.ts';
import { readIfThere, replaceFile } from '../../disk/file/atomic-file.ts';
import { removeFile } from '../../disk/file/folder.ts';
import { withLock } from '../../disk/lock/lock.ts';
import { jsonIn } from '../../text/json.ts';
import { fieldsIn, isText, textIn } from '../../text/record.ts';
import { ownedBy } from '../event/account.ts';
import { rowsTaken, schemaName, writing } from './postgres/schema.ts';

/** From when on each event is searched for what never arrived. */
export type Starts = ReadonlyMap<WebhookEvent, Date>;

/**
 * Starts of searches that are not over, kept with the inbox: what comes live after an outage, while a search fails or is
 * killed, must not become the last event that the next search begins at.
 */
export type StartStore = {
  read(): Promise<Starts>;
  /** Stores those of events that have none; resolves to what is stored once that is durable. */
  keep(starts: Starts): Promise<Starts>;
  /** A search from them is over. An earlier one that is stored stays. */
  forget(starts: Starts): Promise<void>;
  /** What was received is gone, so nothing says any more what is missing. */
  clear(): Promise<void>;
  /** Those of one of several accounts. */
  of(account: string | undefined): StartStore;
};

const fileName = 'searches.json';

/** As they are kept: a name for each event, which begins with the account where there are several. */
type Kept = readonly (readonly [name: string, since: unknown])[];

/** In a folder beside the inbox. `isFirst`: what stands there without an account is the account's too. */
export function fileStarts(folder: string, clock: Context['clock'], account?: string, isFirst = false): StartStore {
  const path = join(folder, fileName);
  // What somebody else wrote there is no start.
  const all = async (): Promise<Kept> =>
    Object.entries(fieldsIn(jsonIn((await readIfThere(path)) ?? ''))).filter(([, since]) => isText(since));
  const startsOf = (kept: Kept) => new Map([...(isFirst ? startsIn(kept, undefined) : []), ...startsIn(kept, account)]);
  const read = async () => startsOf(await all());
  const change = (to: (stored: Starts) => Starts): Promise<Starts> =>
    withLock(join(folder, 'searches.lock'), { clock, what: 'the starts of searches' }, async () => {
      const kept = await all();
      const changed = to(startsOf(kept));
      const isOther = (name: string) =>
        eventIn(name, account) === undefined && !(isFirst && eventIn(name, undefined) !== undefined);
      const others = kept.filter(([name]) => isOther(name));
      const next = [...others, ...textsOf(changed, account)];
      if (next.length === 0) await removeFile(path);
      else await replaceFile(path, JSON.stringify(Object.fromEntries(next)));
      return changed;
    });
  return {
    read,
    keep: (starts) => change((stored) => new Map([...starts, ...stored])),
    async forget(starts) {
      if ((await read()).size === 0) return;
      await change((stored) => new Map([...stored].filter(([event, since]) => since < (starts.get(event) ?? never))));
    },
    clear: () => removeFile(path),
    of: (name) => fileStarts(folder, clock, name),
  };
}

/** In a table beside the inbox's; made by the first search, for an older svc made the others. */
export function postgresStarts(database: Database, account?: string): StartStore {
  const table = `${schemaName}.searches`;
  const isThere = async (): Promise<boolean> => {
    const [found] = await database.query({ text: `SELECT to_regclass('${table}') IS NOT NULL AS there` });
    return found?.there === true;
  };
  const stored = async () => {
    const rows = await database.query({ text: `SELECT event, since FROM ${table}` });
    const kept = rows.map(({ event, since }) => [String(event), since] as const);
    return startsIn(kept, account);
  };
  return {
    read: async () => ((await isThere()) ? stored() : new Map()),
    async keep(starts) {
      // Several statements in one message are one transaction.
      const make = `SELECT pg_advisory_xact_lock(7379632);
CREATE TABLE IF NOT EXISTS ${table} (event text PRIMARY KEY, since text NOT NULL)`;
      if (!(await isThere())) await database.query({ text: make });
      await database.query({
        text: `INSERT INTO ${table} SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING`,
        values: columnsOf(starts, account),
        lock: writing('searches'),
      });
      const kept = await stored();
      if ([...starts.keys()].some((event) => !kept.has(event))) throw rowsTaken('searches');
      return kept;
    },
    async forget(starts) {
      if (!(await isThere())) return;
      // ISO 8601 in UTC: the order of the texts is that of the times.
      await database.query({
        text: `DELETE FROM ${table} s USING unnest($1::text[], $2::text[]) AS done(event, since)
WHERE s.event = done.event AND s.since >= done.since COLLATE "C"`,
        values: columnsOf(starts, account),
        lock: writing('searches'),
      });
    },
    async clear() {
      if (await isThere()) await database.query({ text: `DELETE FROM ${table}`, lock: writing('searches') });
    },
    of: (name) => postgresStarts(database, name),
  };
}

/** Of an event that was not searched for, every start stays. */
const never = new Date(8.64e15);

const textsOf = (starts: Starts, account: string | undefined): [string, string][] =>
  [...starts].map(([event, since]) => [ownedBy(account, event), since.toISOString()]);

const columnsOf = (starts: Starts, account: string | undefined): [string[], string[]] => {
  const texts = textsOf(starts, account);
  return [texts.map(([event]) => event), texts.map(([, since]) => since)];
};

const eventIn = (name: string, account: string | undefined): WebhookEvent | undefined =>
  webhookEvents.find((each) => ownedBy(account, each) === name);

function startsIn(entries: Kept, account: string | undefined): Starts {
  const starts = new Map<WebhookEvent, Date>();
  for (const [name, value] of entries) {
    const event = eventIn(name, account);
    const since = new Date(textIn(value) ?? Number.NaN);
    if (event && !Number.isNaN(since.getTime())) starts.set(event, since);
  }
  return starts;
}

import { join } from 'node:path';
import { type WebhookEvent, webhookEvents } from '../../api/webhooks.ts';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/postgres.ts';
import { readIfThere, replaceFile } from '../../disk/atomic-file.ts';
import { removeFile } from '../../disk/folder.ts';
import { withLock } from '../../disk/lock.ts';
import { fieldsIn, textIn } from '../../text/record.ts';
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
};

const fileName = 'searches.json';

/** In a folder beside the inbox. */
export function fileStarts(folder: string, clock: Context['clock']): StartStore {
  const path = join(folder, fileName);
  const read = async () => startsIn(Object.entries(fieldsIn(parsed(await readIfThere(path)))));
  const change = (to: (stored: Starts) => Starts): Promise<Starts> =>
    withLock(join(folder, 'searches.lock'), { clock, what: 'the starts of searches' }, async () => {
      const changed = to(await read());
      if (changed.size === 0) await removeFile(path);
      else await replaceFile(path, JSON.stringify(Object.fromEntries(textsOf(changed))));
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
  };
}

/** In a table beside the inbox's; made by the first search, for an older svc made the others. */
export function postgresStarts(database: Database): StartStore {
  const table = `${schemaName}.searches`;
  const isThere = async (): Promise<boolean> => {
    const [found] = await database.query({ text: `SELECT to_regclass('${table}') IS NOT NULL AS there` });
    return found?.there === true;
  };
  const stored = async () => {
    const rows = await database.query({ text: `SELECT event, since FROM ${table}` });
    return startsIn(rows.map(({ event, since }) => [String(event), since]));
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
        values: [[...starts.keys()], textsOf(starts).map(([, since]) => since)],
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
        values: [[...starts.keys()], textsOf(starts).map(([, since]) => since)],
        lock: writing('searches'),
      });
    },
    async clear() {
      if (await isThere()) await database.query({ text: `DELETE FROM ${table}`, lock: writing('searches') });
    },
  };
}

/** Of an event that was not searched for, every start stays. */
const never = new Date(8.64e15);

const textsOf = (starts: Starts): [WebhookEvent, string][] =>
  [...starts].map(([event, since]) => [event, since.toISOString()]);

function startsIn(entries: readonly (readonly [string, unknown])[]): Starts {
  const starts = new Map<WebhookEvent, Date>();
  for (const [name, value] of entries) {
    const event = webhookEvents.find((each) => each === name);
    const since = new Date(textIn(value) ?? Number.NaN);
    if (event && !Number.isNaN(since.getTime())) starts.set(event, since);
  }
  return starts;
}

/** What somebody else wrote there is no start. */
function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return undefined;
  }
}

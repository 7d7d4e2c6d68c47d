import { join } from 'node:path';
import { createContacts, syncContacts } from '../../api/contacts.ts';
import { sendEvent } from '../../api/events.ts';
import { createAndSyncListContacts } from '../../api/lists.ts';
import { type Line, readLine } from '../../audit/entry.ts';
import { auditRoot, recordName } from '../../audit/place.ts';
import { filesOf } from '../../audit/read.ts';
import { openSession, type Session } from '../../auth/session.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { linesIn } from '../../disk/log/shared-log-part.ts';
import type { Copy } from '../store/open-copy.ts';
import { asOfState, readState } from '../store/state.ts';
import { type Account, owned, ownerOf, placeholders, type Sql } from '../tables/store.ts';

/** The contacts that were written last are looked at; more would be a reading of the list, not a question to a copy. */
const lookedAt = 500;

/** A page may have been on its way to the copy while a write was answered. */
const overlapMs = 10_000;

/** What svc itself has written since the copy last saw it: the copy must not deny that. */
export type Written = {
  /** Of contacts of the copy, the newest write first. */
  readonly ids: readonly number[];
  /** There may be contacts that are newer than the copy. */
  readonly hasNewer: boolean;
  /** Contacts of the copy may have changed, and nothing says which. */
  readonly hasUnnamed: boolean;
};

/** By the record of writes of this machine: nothing is known where none is kept. */
export async function writtenSince(ctx: Context, settings: Settings, { store, account }: Copy): Promise<Written> {
  const { times, madeAt, syncedAt } = await contactWrites(ctx, await openSession(ctx, settings));
  const newest = [...times].sort(([, a], [, b]) => b - a).slice(0, lookedAt);
  if (newest.length === 0 && Math.max(madeAt, syncedAt) === never) return nothing;
  return store.read(async (sql) => {
    const text = `SELECT contact_id, seen_at FROM contacts WHERE ${owned} AND contact_id IN (${placeholders(3, newest.length)})`;
    const seen = newest.length === 0 ? [] : await sql.all(text, [...ownerOf(account), ...newest.map(([id]) => id)]);
    const seenAt = new Map(seen.map((row) => [Number(row.contact_id), timeIn(row.seen_at)]));
    const asOf = timeIn(asOfState(await readState(sql, account, 'contacts')));
    const isSince = (time: number, seenOn: number) => time >= seenOn - overlapMs;
    return {
      ids: newest.filter(([id, time]) => isSince(time, seenAt.get(id) ?? Infinity)).map(([id]) => id),
      hasNewer: isSince(
        Math.max(madeAt, syncedAt, ...newest.map(([id, time]) => (seenAt.has(id) ? never : time))),
        asOf,
      ),
      hasUnnamed: syncedAt !== never && isSince(syncedAt, await oldestLook(sql, account)),
    };
  });
}

/** What was looked at longest ago may be what was changed. */
async function oldestLook(sql: Sql, account: Account): Promise<number> {
  const text = `SELECT min(seen_at) AS seen_at FROM contacts WHERE ${owned} AND gone_at IS NULL`;
  const [row] = await sql.all(text, ownerOf(account));
  return row?.seen_at ? timeIn(row.seen_at) : Infinity;
}

const never = -Infinity;

const nothing: Written = { ids: [], hasNewer: false, hasUnnamed: false };

/** A time that nobody knows is long ago. */
const timeIn = (value: unknown): number => (value ? Date.parse(String(value)) : never);

const making: readonly (string | null)[] = [createContacts.id, sendEvent.id];
const syncing: readonly (string | null)[] = [syncContacts.id, createAndSyncListContacts.id];

/** Most lines are about other records, and parsing is what takes time. */
const marks = ['"kind":"contacts"', `"${createAndSyncListContacts.id}"`, `"${sendEvent.id}"`];

/**
 * As far as the record tells, by this login or by one of the environment: when each contact was last written to, by its id,
 * and when contacts may last have been made, and synced, without a word of which.
 */
async function contactWrites({ files }: Context, session: Session) {
  const root = auditRoot(files);
  const records = new Set([recordName(session), recordName({ ...session, from: 'environment' })]);
  const times = new Map<number, number>();
  const unnamed = { making: never, syncing: never };
  for (const name of records) {
    // By the number of the entry: it was on its way before it was refused.
    const entries = new Map<number, { readonly how: 'making' | 'syncing'; readonly time: number }>();
    for (const file of filesOf(join(root, name))) {
      for await (const { bytes } of linesIn(file)) {
        if (!marks.some((mark) => bytes.includes(mark))) continue;
        const line = readLine(bytes.toString('utf8'));
        if (!line) continue;
        const time = Date.parse(line.time);
        const { kind, id } = line.record ?? {};
        if (kind === 'contacts' && typeof id === 'number') times.set(id, Math.max(time, times.get(id) ?? 0));
        const how = howUnnamed(line);
        if (how && line.outcome === 'refused') entries.delete(line.seq);
        else if (how) entries.set(line.seq, { how, time });
      }
    }
    for (const { how, time } of entries.values()) unnamed[how] = Math.max(unnamed[how], time);
  }
  return { times, madeAt: unnamed.making, syncedAt: unnamed.syncing };
}

/** `lists add` sends contacts as they are: it changes none, and at most makes a twin of one. */
function howUnnamed({ operation, command }: Line): 'making' | 'syncing' | undefined {
  if (making.includes(operation) || command === 'lists add') return 'making';
  return syncing.includes(operation) ? 'syncing' : undefined;
}

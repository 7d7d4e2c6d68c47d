import { join } from 'node:path';
import { readLine } from '../../audit/entry.ts';
import { auditRoot, recordName } from '../../audit/place.ts';
import { filesOf } from '../../audit/read.ts';
import { openSession, type Session } from '../../auth/session.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { linesIn } from '../../disk/log/shared-log-part.ts';
import type { Copy } from '../store/open-copy.ts';
import { owned, ownerOf } from '../tables/store.ts';

/** The contacts that were written last are looked at; more would be a reading of the list, not a question to a copy. */
const lookedAt = 500;

/** A page may have been on its way to the copy while a write was answered. */
const overlapMs = 10_000;

/**
 * Ids of contacts that svc itself has written since the copy last saw them, the newest write first: the copy must not
 * deny these. By the record of writes of this machine; none where none is kept.
 */
export async function writtenSince(ctx: Context, settings: Settings, copy: Copy): Promise<number[]> {
  const times = await contactWrites(ctx, await openSession(ctx, settings));
  const newest = [...times].sort(([, a], [, b]) => b - a).slice(0, lookedAt);
  if (newest.length === 0) return [];
  const { store, account } = copy;
  const seen = await store.read(async (sql) => {
    const places = newest.map((_, at) => `$${at + 3}`).join(', ');
    const text = `SELECT contact_id, seen_at FROM contacts WHERE ${owned} AND contact_id IN (${places})`;
    return sql.all(text, [...ownerOf(account), ...newest.map(([id]) => id)]);
  });
  const seenAt = new Map(seen.map((row) => [Number(row.contact_id), Date.parse(String(row.seen_at))]));
  return newest.filter(([id, time]) => time >= (seenAt.get(id) ?? Infinity) - overlapMs).map(([id]) => id);
}

/** When each contact was last written to, as far as the record tells: by this login, or by one of the environment. */
async function contactWrites({ files }: Context, session: Session): Promise<Map<number, number>> {
  const root = auditRoot(files);
  const records = new Set([recordName(session), recordName({ ...session, from: 'environment' })]);
  const times = new Map<number, number>();
  for (const file of [...records].flatMap((name) => filesOf(join(root, name)))) {
    for await (const { bytes } of linesIn(file)) {
      // Most lines are about other records, and parsing is what takes time.
      if (!bytes.includes('"kind":"contacts"')) continue;
      const line = readLine(bytes.toString('utf8'));
      if (typeof line?.record?.id !== 'number') continue;
      const time = Date.parse(line.time);
      times.set(line.record.id, Math.max(time, times.get(line.record.id) ?? 0));
    }
  }
  return times;
}

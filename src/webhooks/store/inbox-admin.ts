import { join } from 'node:path';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/postgres.ts';
import { removeFile } from '../../disk/file/folder.ts';
import type { Held } from '../../disk/lock/lock.ts';
import { Failure } from '../../errors.ts';
import { inboxFile } from './folder/file.ts';
import { openInbox } from './folder/inbox.ts';
import { forgetKnown } from './folder/known.ts';
import { carryOut, type InboxRequest, inFile } from './folder/requests.ts';
import { slotHolder, whileFree } from './folder/slot.ts';
import { type Asked, deadLettersIn, type Found, receivedIn, type Seen, type View } from './folder/view.ts';
import { findWhole } from './folder/whole.ts';
import type { Added, InboxAdmin } from './inbox-store.ts';
import type { Outcome } from './line.ts';
import type { Place } from './place.ts';
import type { Row } from './postgres/rows.ts';
import { fileStarts, postgresStarts } from './starts.ts';

/** No place is so high. */
const lastPlace = Number.MAX_SAFE_INTEGER;

type Needs = Pick<Context, 'env' | 'clock'>;

/** Opens an inbox for a command. */
export async function openInboxAdmin(ctx: Needs, place: Place): Promise<InboxAdmin> {
  return 'folder' in place ? folderAdmin(ctx, place.folder) : postgresAdmin(ctx, place.url);
}

function folderAdmin({ clock }: Needs, folder: string): InboxAdmin {
  const alone = async (request: InboxRequest, held: Held) => {
    const inbox = await openInbox(folder, { limit: Number.MAX_SAFE_INTEGER, held });
    try {
      return await inFile(inbox, request, clock.now());
    } finally {
      await inbox.close();
    }
  };
  const request = (wanted: InboxRequest) => carryOut(wanted, { folder, alone, sleep: (ms) => clock.sleep(ms) });
  const starts = fileStarts(folder, clock);
  return {
    place: folder,
    starts,
    received: async (view, onDamage) => (await receivedIn([folder], view, { onDamage })).seen,
    newest: (view, asked) => receivedIn([folder], view, asked),
    dead: (view, onDamage) => deadLettersIn(folder, view, onDamage),
    find: (ids) => findWhole(folder, ids),
    async move(ids, state) {
      const carried = await request({ kind: 'move', ids, state });
      return carried ? carried.filter(Boolean).length : ids.length;
    },
    settle: (replayed) => request({ kind: 'settle', replayed }),
    async addAll(arrivals) {
      const added: Added[] = [];
      for (let at = 0; at < arrivals.length; at += 1000) {
        const some = arrivals.slice(at, at + 1000);
        const carried = await request({ kind: 'add', arrivals: some });
        added.push(...some.map((_, index): Added => (carried?.[index] === false ? 'repeat' : 'stored')));
      }
      return added;
    },
    async purge() {
      const done = await whileFree(folder, async () => {
        await removeFile(join(folder, inboxFile));
        await forgetKnown(folder);
        await starts.clear();
      });
      if (done) return;
      throw new Failure('failed', `svc is running (process ${await slotHolder(folder)}) and uses the inbox.`, {
        hint: 'Stop it first, then purge.',
      });
    },
    close: async () => {},
  };
}

async function postgresAdmin({ env, clock }: Needs, url: string): Promise<InboxAdmin> {
  const [{ openHooks }, { lockOf, prepareSchema, rowsTaken, schemaName, writing }, rows, { createIntake }] =
    await Promise.all([
      import('./postgres/postgres-store.ts'),
      import('./postgres/schema.ts'),
      import('./postgres/rows.ts'),
      import('./postgres/intake.ts'),
    ]);
  const database: Database = await openHooks({ url, env });
  await prepareSchema(database);
  const intake = createIntake(database, async () => {});
  const select = `SELECT i.place, i.about, i.body,
ARRAY(SELECT d.outcome FROM ${schemaName}.deliveries d WHERE d.event = i.place AND d.outcome IS NOT NULL ORDER BY d.sink) AS outcomes
FROM ${schemaName}.inbox i`;
  const isWaiting = `AND EXISTS (SELECT 1 FROM ${schemaName}.deliveries d WHERE d.event = i.place AND d.state = 'waiting')`;
  const page = (before: number, more: string) =>
    database.query({ text: `${select} WHERE i.place < $1 ${more} ORDER BY i.place DESC LIMIT 500`, values: [before] });
  const outcomesOf = ({ outcomes }: Row): Outcome[] =>
    (outcomes as Buffer[]).flatMap((one) => rows.outcomeIn(one) ?? []);
  async function newest<T>(
    view: View<T>,
    { most = Number.POSITIVE_INFINITY, isWanted = () => true, isOpen = false }: Asked,
  ): Promise<Found<T>> {
    const seen: Seen<T>[] = [];
    const before = (place: number) => page(place, isOpen ? isWaiting : '');
    for (let found = await before(lastPlace); found.length > 0; found = await before(Number(found.at(-1)?.place))) {
      for (const row of found) {
        const outcomes = outcomesOf(row);
        const value = isWanted(outcomes) ? view(rows.arrivalIn(row)) : undefined;
        if (value !== undefined) seen.push({ value, outcomes });
      }
      if (seen.length > most) return { seen: seen.slice(0, most).reverse(), isAll: false };
    }
    return { seen: seen.reverse(), isAll: true };
  }
  const starts = postgresStarts(database);
  return {
    place: database.place,
    starts,
    received: async (view) => (await newest(view, {})).seen,
    newest,
    async dead(view) {
      const found = await database.query({
        text: `${select} WHERE i.place IN (SELECT d.event FROM ${schemaName}.deliveries d WHERE d.state = 'dead') ORDER BY i.place`,
      });
      return found.flatMap((row) => {
        const value = view(rows.arrivalIn(row));
        return value === undefined ? [] : [{ value, outcomes: outcomesOf(row) }];
      });
    },
    async find(ids) {
      const found = await database.query({
        text: `${select} WHERE i.key = ANY($1::bytea[])`,
        values: [ids.map(rows.keyOf)],
      });
      return found.map((row) => ({ arrival: rows.arrivalIn(row), outcomes: outcomesOf(row) }));
    },
    async move(ids, state) {
      const moved = state === 'again' ? 'waiting' : 'dropped';
      const at = clock.now().toISOString();
      // Locked in one order: two at once would otherwise each hold one that the other waits for. The state is an
      // expression so that each is found by its key: the index of the dead holds all of the sink.
      const [sum] = await database.query({
        text: `WITH dead AS (
  SELECT d.event, d.sink, m.n FROM unnest($1::bytea[], $2::text[]) WITH ORDINALITY AS m(key, sink, n)
  JOIN ${schemaName}.inbox i ON i.key = m.key JOIN ${schemaName}.deliveries d ON d.event = i.place AND d.sink = m.sink
  WHERE d.state || '' = 'dead' ORDER BY d.event, d.sink FOR UPDATE OF d
), placed AS (SELECT event, sink, nextval('${schemaName}.places'::regclass) AS place FROM (SELECT * FROM dead ORDER BY n) AS ordered),
done AS (UPDATE ${schemaName}.deliveries d SET state = $3, tries = 0, since = $4, outcome = NULL,
place = CASE WHEN $3 = 'waiting' THEN placed.place ELSE d.place END
FROM placed WHERE d.event = placed.event AND d.sink = placed.sink RETURNING d.event, d.sink)
SELECT (SELECT count(DISTINCT (event, sink)) FROM dead) AS dead, (SELECT count(*) FROM done) AS done`,
        values: [ids.map(({ id }) => rows.keyOf(id)), ids.map(({ sink }) => sink), moved, at],
        lock: writing('deliveries'),
        check: ([sum]) => {
          if (Number(sum?.dead) !== Number(sum?.done)) throw rowsTaken('deliveries');
        },
      });
      return Number(sum?.done);
    },
    async settle(replayed) {
      const done = await database.query({
        text: `UPDATE ${schemaName}.deliveries d SET state = 'delivered', tries = s.tries, outcome = s.outcome
FROM unnest($1::bytea[], $2::text[], $3::integer[], $4::bytea[]) AS s(key, sink, tries, outcome)
JOIN ${schemaName}.inbox i ON i.key = s.key
WHERE d.event = i.place AND d.sink = s.sink AND d.state || '' IN ('waiting', 'dead')
RETURNING encode(s.key, 'hex') AS key, d.sink`,
        values: [
          replayed.map(({ id }) => rows.keyOf(id)),
          replayed.map(({ outcome }) => outcome.to),
          replayed.map(({ outcome }) => outcome.tries),
          replayed.map(({ outcome }) => Buffer.from(JSON.stringify(outcome))),
        ],
        lock: writing('deliveries'),
      });
      const settled = new Set(done.map(({ key, sink }) => `${key} ${sink}`));
      return replayed.map(({ id, outcome }) => settled.has(`${rows.keyOf(id).toString('hex')} ${outcome.to}`));
    },
    addAll: (arrivals) => Promise.all(arrivals.map(intake.add)),
    async purge() {
      const lock = lockOf(['inbox', 'deliveries'], 'ACCESS EXCLUSIVE');
      await database.query({ text: `TRUNCATE ${schemaName}.inbox, ${schemaName}.deliveries`, lock });
      await starts.clear();
    },
    close: () => database.close(),
  };
}

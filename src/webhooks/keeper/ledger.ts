import { join } from 'node:path';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/postgres.ts';
import { removeFile } from '../../disk/folder.ts';
import type { Held } from '../../disk/lock.ts';
import { Failure } from '../../errors.ts';
import { inboxFile } from '../inbox/file.ts';
import { openInbox } from '../inbox/inbox.ts';
import { carryOut, move, type Order } from '../inbox/orders.ts';
import { occupant, whileFree } from '../inbox/seat.ts';
import { receivedIn, type Seen, type View } from '../inbox/view.ts';
import type { Added, Ledger } from './keeper.ts';
import type { Place } from './place.ts';

type Needs = Pick<Context, 'env' | 'clock'>;

/** Opens an inbox for a command. */
export async function openLedger(ctx: Needs, place: Place): Promise<Ledger> {
  return 'folder' in place ? folderLedger(ctx, place.folder) : postgresLedger(ctx, place.url);
}

function folderLedger({ clock }: Needs, folder: string): Ledger {
  const alone = async (order: Order, held: Held) => {
    const inbox = await openInbox(folder, { limit: Number.MAX_SAFE_INTEGER, held });
    try {
      if (order.kind === 'move') await move(inbox, order, clock.now());
      else await Promise.all(order.arrivals.filter(({ id }) => !inbox.has(id)).map(inbox.add));
    } finally {
      await inbox.close();
    }
  };
  const order = (wanted: Order) => carryOut(wanted, { folder, alone, sleep: (ms) => clock.sleep(ms) });
  return {
    place: folder,
    received: (view, onDamage) => receivedIn([folder], view, onDamage),
    move: (ids, state) => order({ kind: 'move', ids, state }),
    async addAll(arrivals) {
      const ids = async () => new Set((await receivedIn([folder], ({ id }) => id)).map(({ value }) => value));
      const before = await ids();
      for (let at = 0; at < arrivals.length; at += 1000) {
        await order({ kind: 'add', arrivals: arrivals.slice(at, at + 1000) });
      }
      const after = await ids();
      return arrivals.map(({ id }): Added => (after.has(id) && !before.has(id) ? 'stored' : 'repeat'));
    },
    async purge() {
      const done = await whileFree(folder, () => removeFile(join(folder, inboxFile)));
      if (done) return;
      throw new Failure('failed', `svc is running (process ${await occupant(folder)}) and uses the inbox.`, {
        hint: 'Stop it first, then purge.',
      });
    },
    close: async () => {},
  };
}

async function postgresLedger({ env, clock }: Needs, url: string): Promise<Ledger> {
  const [{ openHooks }, { prepareSchema, schemaName }, rows, { createIntake }] = await Promise.all([
    import('./postgres.ts'),
    import('./schema.ts'),
    import('./rows.ts'),
    import('./intake.ts'),
  ]);
  const database: Database = await openHooks({ url, env });
  await prepareSchema(database);
  const intake = createIntake(database, async () => {});
  const page = async (after: number) =>
    database.query({
      text: `SELECT i.place, i.about, i.body,
ARRAY(SELECT d.outcome FROM ${schemaName}.deliveries d WHERE d.event = i.place AND d.outcome IS NOT NULL ORDER BY d.sink) AS outcomes
FROM ${schemaName}.inbox i WHERE i.place > $1 ORDER BY i.place LIMIT 500`,
      values: [after],
    });
  return {
    place: database.place,
    async received<T>(view: View<T>): Promise<Seen<T>[]> {
      const seen: Seen<T>[] = [];
      for (let found = await page(0); found.length > 0; found = await page(Number(found.at(-1)?.place))) {
        for (const row of found) {
          const value = view(rows.arrivalIn(row));
          const outcomes = row.outcomes as Buffer[];
          if (value !== undefined) seen.push({ value, outcomes: outcomes.flatMap((one) => rows.outcomeIn(one) ?? []) });
        }
      }
      return seen;
    },
    async move(ids, state) {
      const moved = state === 'again' ? 'waiting' : 'dropped';
      const at = clock.now().toISOString();
      await database.query({
        text: `UPDATE ${schemaName}.deliveries d SET state = $3, tries = 0, since = $4, outcome = NULL,
place = CASE WHEN $3 = 'waiting' THEN nextval('${schemaName}.places') ELSE d.place END
FROM unnest($1::bytea[], $2::text[]) WITH ORDINALITY AS m(key, sink, n) JOIN ${schemaName}.inbox i ON i.key = m.key
WHERE d.event = i.place AND d.sink = m.sink AND d.state = 'dead'`,
        values: [ids.map(({ id }) => rows.keyOf(id)), ids.map(({ sink }) => sink), moved, at],
      });
    },
    addAll: (arrivals) => Promise.all(arrivals.map(intake.add)),
    async purge() {
      await database.query({ text: `TRUNCATE ${schemaName}.inbox, ${schemaName}.deliveries` });
    },
    close: () => database.close(),
  };
}

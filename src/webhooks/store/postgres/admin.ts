import type { Context } from '../../../context.ts';
import type { Database } from '../../../database/postgres.ts';
import type { Fields } from '../../../text/record.ts';
import type { InboxRequest, Replayed } from '../folder/requests.ts';
import type { Asked, Found, Seen, View } from '../folder/view.ts';
import type { InboxAdmin } from '../inbox-store.ts';
import type { Outcome } from '../line.ts';
import { postgresStarts } from '../starts.ts';
import { createIntake } from './intake.ts';
import { openHooks } from './postgres-store.ts';
import { arrivalIn, keyOf } from './rows.ts';
import { lockOf, prepareSchema, rowsTaken, schemaName, writing } from './schema.ts';

/** Opens an inbox in PostgreSQL for a command. */
export async function openPostgresAdmin(
  { env, clock }: Pick<Context, 'env' | 'clock'>,
  url: string,
): Promise<InboxAdmin> {
  const database = await openHooks({ url, env });
  await prepareSchema(database);
  const intake = createIntake(database, async () => {});
  const starts = postgresStarts(database);
  return {
    place: database.place,
    starts,
    newest: (view, asked) => newestIn(database, view, asked),
    async dead(view) {
      const found = await database.query({ text: deadLetters });
      return found.flatMap((row) => {
        const value = view(arrivalIn(row));
        return value === undefined ? [] : [{ value, outcomes: outcomesOf(row) }];
      });
    },
    async find(ids) {
      const text = `${select} WHERE i.key = ANY($1::bytea[])`;
      const found = await database.query({ text, values: [ids.map(keyOf)] });
      return found.map((row) => ({ arrival: arrivalIn(row), outcomes: outcomesOf(row) }));
    },
    move: (ids, state) => moveDead(database, { ids, state, at: clock.now() }),
    settle: (replayed) => settleReplayed(database, replayed),
    addAll: (arrivals) => Promise.all(arrivals.map(intake.add)),
    async purge() {
      const lock = lockOf(['inbox', 'deliveries'], 'ACCESS EXCLUSIVE');
      await database.query({ text: `TRUNCATE ${schemaName}.inbox, ${schemaName}.deliveries`, lock });
      await starts.clear();
    },
    close: () => database.close(),
  };
}

const select = `SELECT i.place, i.about, i.body,
ARRAY(SELECT d.outcome FROM ${schemaName}.deliveries d WHERE d.event = i.place AND d.outcome IS NOT NULL ORDER BY d.sink) AS outcomes
FROM ${schemaName}.inbox i`;

const outcomesOf = ({ outcomes }: Fields): Outcome[] => (outcomes as Buffer[]).map((one) => JSON.parse(String(one)));

const deadLetters = `${select}
WHERE i.place IN (SELECT d.event FROM ${schemaName}.deliveries d WHERE d.state = 'dead') ORDER BY i.place`;

const isWaiting = `AND EXISTS (SELECT 1 FROM ${schemaName}.deliveries d WHERE d.event = i.place AND d.state = 'waiting')`;

const pageBefore = (condition: string): string =>
  `${select} WHERE i.place < $1 ${condition} ORDER BY i.place DESC LIMIT 500`;

/** No place is so high. */
const lastPlace = Number.MAX_SAFE_INTEGER;

async function newestIn<T>(
  database: Database,
  view: View<T>,
  { most = Number.POSITIVE_INFINITY, isWanted = () => true, isOpen = false }: Asked,
): Promise<Found<T>> {
  const seen: Seen<T>[] = [];
  const text = pageBefore(isOpen ? isWaiting : '');
  const before = (place: number) => database.query({ text, values: [place] });
  for (let found = await before(lastPlace); found.length > 0; found = await before(Number(found.at(-1)?.place))) {
    for (const row of found) {
      const outcomes = outcomesOf(row);
      const value = isWanted(outcomes) ? view(arrivalIn(row)) : undefined;
      if (value !== undefined) seen.push({ value, outcomes });
    }
    if (seen.length > most) return { seen: seen.slice(0, most).reverse(), isAll: false };
  }
  return { seen: seen.reverse(), isAll: true };
}

/**
 * Locked in one order: two at once would otherwise each hold one that the other waits for. The state is an expression so
 * that each is found by its key: the index of the dead holds all of the sink.
 */
const move = `WITH dead AS (
  SELECT d.event, d.sink, m.n FROM unnest($1::bytea[], $2::text[]) WITH ORDINALITY AS m(key, sink, n)
  JOIN ${schemaName}.inbox i ON i.key = m.key JOIN ${schemaName}.deliveries d ON d.event = i.place AND d.sink = m.sink
  WHERE d.state || '' = 'dead' ORDER BY d.event, d.sink FOR UPDATE OF d
), placed AS (SELECT event, sink, nextval('${schemaName}.places'::regclass) AS place FROM (SELECT * FROM dead ORDER BY n) AS ordered),
done AS (UPDATE ${schemaName}.deliveries d SET state = $3, tries = 0, since = $4, outcome = NULL,
place = CASE WHEN $3 = 'waiting' THEN placed.place ELSE d.place END
FROM placed WHERE d.event = placed.event AND d.sink = placed.sink RETURNING d.event, d.sink)
SELECT (SELECT count(DISTINCT (event, sink)) FROM dead) AS dead, (SELECT count(*) FROM done) AS done`;

type Move = Omit<Extract<InboxRequest, { kind: 'move' }>, 'kind'> & { readonly at: Date };

async function moveDead(database: Database, { ids, state, at }: Move): Promise<number> {
  const moved = state === 'again' ? 'waiting' : 'dropped';
  const [sum] = await database.query({
    text: move,
    values: [ids.map(({ id }) => keyOf(id)), ids.map(({ sink }) => sink), moved, at.toISOString()],
    lock: writing('deliveries'),
    check: ([sum]) => {
      if (Number(sum?.dead) !== Number(sum?.done)) throw rowsTaken('deliveries');
    },
  });
  return Number(sum?.done);
}

const settle = `UPDATE ${schemaName}.deliveries d SET state = 'delivered', tries = s.tries, outcome = s.outcome
FROM unnest($1::bytea[], $2::text[], $3::integer[], $4::bytea[]) AS s(key, sink, tries, outcome)
JOIN ${schemaName}.inbox i ON i.key = s.key
WHERE d.event = i.place AND d.sink = s.sink AND d.state || '' IN ('waiting', 'dead')
RETURNING encode(s.key, 'hex') AS key, d.sink`;

async function settleReplayed(database: Database, replayed: readonly Replayed[]): Promise<boolean[]> {
  const done = await database.query({
    text: settle,
    values: [
      replayed.map(({ id }) => keyOf(id)),
      replayed.map(({ outcome }) => outcome.to),
      replayed.map(({ outcome }) => outcome.tries),
      replayed.map(({ outcome }) => Buffer.from(JSON.stringify(outcome))),
    ],
    lock: writing('deliveries'),
  });
  const settled = new Set(done.map(({ key, sink }) => `${key} ${sink}`));
  return replayed.map(({ id, outcome }) => settled.has(`${keyOf(id).toString('hex')} ${outcome.to}`));
}

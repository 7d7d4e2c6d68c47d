import { Failure } from '../../errors.ts';
import { type Fields, isRecord, recordsIn } from '../../text/record.ts';
import { type KindName, kindOf, type ReadsOne } from '../tables/kinds.ts';
import { owned, ownerOf, placeholders } from '../tables/store.ts';
import { tableOf } from '../tables/tables.ts';
import type { Pulling } from './pulling.ts';

/**
 * Records by their own addresses, each with all of its parts. Undefined where one is gone since the list was read. A thread
 * that lacks a message of the copy is read twice: messages are not deleted, and answers may be cut.
 */
export async function readWhole(
  pulling: Pulling,
  name: KindName,
  one: ReadsOne,
  ids: readonly number[],
): Promise<PromiseSettledResult<Fields | undefined>[]> {
  const known = await partsInCopy(pulling, name, ids);
  return Promise.allSettled(
    ids.map(async (id) => {
      const first = await readOne(pulling, name, one, id);
      const lacking = missingIn(name, first, known.get(id));
      if (lacking.length === 0) return first;
      const second = await readOne(pulling, name, one, id);
      const still = missingIn(name, second, known.get(id));
      if (still.every((part) => lacking.includes(part))) return second;
      throw odd(`Two answers for ${name} ${id} differ in their messages.`);
    }),
  );
}

async function readOne(
  pulling: Pulling,
  name: KindName,
  { operation }: ReadsOne,
  id: number,
): Promise<Fields | undefined> {
  const { id: idField } = tableOf(name);
  let hasNoParts = false;
  for (const _ of ['first', 'second']) {
    try {
      const body = await pulling.ask(operation, { params: { id } });
      const record = body[operation.answer.key ?? ''];
      const { parts } = kindOf(name);
      const isIt = isRecord(record) && record[idField] === id;
      if (isIt && (!parts || Array.isArray(record[parts.field]))) return record;
      hasNoParts = isIt;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.kind === 'not-found') return undefined;
      if (!error.isOther) throw error;
    }
  }
  throw odd(`The answer for ${name} ${id} ${hasNoParts ? 'holds no list of messages' : 'does not hold that record'}.`);
}

/** Of that kind alone: the pull goes on with the others. */
const odd = (message: string): Failure => new Failure('partial', message);

async function partsInCopy(
  { store, account }: Pulling,
  name: KindName,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number[]>> {
  const known = new Map<number, number[]>();
  const { parts } = kindOf(name);
  if (!parts || ids.length === 0) return known;
  const text =
    `SELECT ${parts.parent} AS parent, ${tableOf(parts.table).id} AS id FROM ${parts.table} ` +
    `WHERE ${owned} AND gone_at IS NULL AND ${parts.parent} IN (${placeholders(3, ids.length)})`;
  const rows = await store.read((sql) => sql.all(text, [...ownerOf(account), ...ids]));
  for (const { parent, id } of rows) known.set(Number(parent), [...(known.get(Number(parent)) ?? []), Number(id)]);
  return known;
}

function missingIn(name: KindName, record: Fields | undefined, known: readonly number[] = []): number[] {
  const { parts } = kindOf(name);
  if (!parts || !record || known.length === 0) return [];
  const { id } = tableOf(parts.table);
  const held = new Set(recordsIn(record[parts.field]).map((part) => Number(part[id])));
  return known.filter((part) => !held.has(part));
}

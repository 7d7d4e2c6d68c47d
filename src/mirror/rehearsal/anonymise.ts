import { type Fields, isRecord } from '../../text/record.ts';
import { kindNames, kindOf, type Personal, type Way } from '../tables/kinds.ts';
import { wordsIn } from './invented.ts';
import { type Replacer, replacer } from './replacer.ts';
import type { Seed } from './seed.ts';

/** What is replaced in each table, and how. The names of fields stay. */
const tables: readonly { readonly table: string; readonly personal: Personal }[] = [
  { table: 'accounts', personal: { name: 'text' } },
  ...kindNames.flatMap((name) => [{ table: name, personal: kindOf(name).personal }, ...(kindOf(name).aside ?? [])]),
];

/** The seed with nothing in it that tells who somebody is or what they wrote. `key`: random bytes of this run. */
export async function anonymised(seed: Seed, key: Uint8Array): Promise<Seed> {
  const by = await replacer(key, wordsIn(textsIn(seed)));
  return Object.fromEntries(
    Object.entries(seed).map(([name, rows]) => {
      const how = tables.find(({ table }) => table === name)?.personal ?? {};
      return [name, rows.map((row) => replaced(row, how, by))];
    }),
  );
}

function replaced(row: Fields, how: Personal, by: Replacer): Fields {
  return Object.fromEntries(
    Object.entries(row).map(([field, value]) => {
      const way = how[field];
      return [field, way === undefined ? value : replacedValue(value, way, by)];
    }),
  );
}

function replacedValue(value: unknown, way: Way, by: Replacer): unknown {
  if (way === 'any') return by.any(value);
  if (Array.isArray(value)) return value.map((each) => replacedValue(each, way, by));
  if (typeof way === 'object') return isRecord(value) ? replaced(value, way, by) : value;
  return typeof value === 'string' ? by[way](value) : value;
}

/** Every text of the seed. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) for (const held of Object.values(value)) yield* textsIn(held);
}

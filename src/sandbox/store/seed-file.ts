import * as v from 'valibot';
import { check } from '../../api/check.ts';
import { Failure, messageOf } from '../../errors.ts';
import { parseJson } from '../../text/json.ts';
import { isKind, type Kind, keyOf, kinds, type Row, type Rows } from './records.ts';
import { recordSchemas } from './schemas.ts';

/** A `--seed` file. Throws a usage Failure that names it and says what is wrong. */
export function parseSeed(text: string, named: string): Partial<Rows> {
  let value: unknown;
  try {
    value = parseJson(text.replace(/^\uFEFF/u, ''));
  } catch (error) {
    throw badSeed(named, `is not JSON: ${messageOf(error)}`);
  }
  return judgeSeed(value, named);
}

/** The same of what stood in it. */
export function judgeSeed(value: unknown, named: string): Partial<Rows> {
  const seed = readSeed(value);
  if (typeof seed === 'string') throw badSeed(named, seed);
  return seed;
}

const badSeed = (named: string, what: string): Failure =>
  new Failure('usage', `The seed ${named} ${what}.`, {
    hint: 'It takes the shape that GET /_sandbox/state gives.',
  });

/**
 * Rows of the shape that `GET /_sandbox/state` gives; kinds and fields that are left out get plain values. A text says
 * what is wrong.
 */
export function readSeed(value: unknown): Partial<Rows> | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'is not a JSON object';
  const rows: Partial<Rows> = {};
  for (const [kind, given] of Object.entries(value)) {
    if (!isKind(kind)) return `holds "${kind}", which is none of ${kinds.join(', ')}`;
    const wrong = take(rows, kind, given);
    if (wrong) return wrong;
  }
  return rows;
}

const schemas: { readonly [K in Kind]: v.GenericSchema<unknown, Row<K>> } = recordSchemas;

/** Adds the rows of a kind, or says what is wrong with them. */
function take<K extends Kind>(rows: Partial<Rows>, kind: K, given: unknown): string | undefined {
  const schema: v.GenericSchema<unknown, Row<K>> = schemas[kind];
  const checked = check(v.array(schema), given);
  if (!checked.ok) {
    const [field, messages] = Object.entries(checked.fields)[0] ?? [];
    return `is wrong at ${kind}${field ? `.${field}` : ''}: ${messages?.[0]}`;
  }
  const keys = new Set(checked.value.map((row) => keyOf(kind, row)));
  if (keys.size < checked.value.length) return `has two ${kind} with one id`;
  Object.assign(rows, { [kind]: checked.value });
  return undefined;
}

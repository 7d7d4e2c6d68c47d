import { Failure } from '../errors.ts';
import { nearestField } from '../text/near.ts';
import { isRecord, ownOf } from '../text/record.ts';
import { sanitize } from '../text/sanitize.ts';

/**
 * The value at a dotted path. A key that itself holds dots is found too; through a list the path is taken in each item.
 * Undefined where the record has no such thing.
 */
export function valueAt(record: unknown, path: string): unknown {
  if (Array.isArray(record)) {
    const values = record.map((item) => valueAt(item, path));
    return values.every((value) => value === undefined) ? undefined : values;
  }
  if (!isRecord(record)) return undefined;
  if (Object.hasOwn(record, path)) return record[path];
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
    const key = path.slice(0, dot);
    if (!Object.hasOwn(record, key)) continue;
    const found = valueAt(record[key], path.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The record with only these fields, nested as it was, in the order asked for; what is absent is null. */
export function pick(record: unknown, paths: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const path of paths) {
    const value = valueAt(record, path);
    const keys = value === undefined || Object.hasOwn(Object(record), path) ? [path] : keysTo(record, path);
    put(picked, value === undefined ? path.split('.') : keys, value ?? null);
  }
  return picked;
}

function keysTo(record: unknown, path: string): string[] {
  const holder = Array.isArray(record) ? record.find((item) => valueAt(item, path) !== undefined) : record;
  if (!isRecord(holder) || Object.hasOwn(holder, path)) return [path];
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
    const key = path.slice(0, dot);
    const rest = path.slice(dot + 1);
    const inside = ownOf(holder, key);
    if (valueAt(inside, rest) !== undefined) return [key, ...keysTo(inside, rest)];
  }
  return [path];
}

function put(target: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  const [key = '', ...rest] = keys;
  const present = ownOf(target, key);
  const inner = isRecord(present) ? present : {};
  if (rest.length > 0) put(inner, rest, value);
  // Not an assignment: a field named __proto__ is a field like any other.
  Object.defineProperty(target, key, {
    value: rest.length > 0 ? inner : value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

/** Free-form objects: their keys are the account's own, so a record without one of them is no mistake. */
const freeForm = new Set(['metadata', 'socials']);

type FreeForm = { readonly freeForm: 'keys' | 'whole' };

/** The fields of a record by their paths, in its order: objects by what they hold, free-form ones whole if wanted. */
export function pathsOf(record: unknown, { freeForm: wanted }: FreeForm = { freeForm: 'keys' }): string[] {
  if (!isRecord(record)) return [];
  return Object.entries(record).flatMap(([key, value]) => {
    const inside = wanted === 'whole' && freeForm.has(key) ? [] : pathsOf(value, { freeForm: wanted });
    return inside.length === 0 ? [key] : inside.map((path) => `${key}.${path}`);
  });
}

/** The fields asked for that this record cannot have, for the service sends every documented field always. */
function unknownFields(record: unknown, paths: readonly string[]): string[] {
  if (typeof record !== 'object' || record === null) return [];
  return paths.filter((path) => {
    if (valueAt(record, path) !== undefined) return false;
    const [first = '', second] = path.split('.');
    if (!Object.hasOwn(record, first)) return true;
    const inner = Reflect.get(record, first);
    if (second === undefined || freeForm.has(first)) return false;
    // Inside null or an empty list nothing can be known.
    return inner !== null && !(Array.isArray(inner) && inner.length === 0);
  });
}

/** As gh does: a field that does not exist ends the command and names those that do; of free-form ones `named`. */
export function refuseUnknownFields(
  record: unknown,
  paths: readonly string[],
  named: FreeForm = { freeForm: 'keys' },
): void {
  const unknown = unknownFields(record, paths);
  if (unknown.length === 0) return;
  throw noSuchFields(unknown, pathsOf(record, named));
}

/** The same where no record tells: by the fields that one may have. What is inside a field is known as far as it is listed. */
export function refuseUnlisted(paths: readonly string[], known: readonly string[] | undefined): void {
  if (known === undefined) return;
  const isIn = (path: string) =>
    known.some((one) => one === path || one.startsWith(`${path}.`) || path.startsWith(`${one}.`));
  const unknown = paths.filter((path) => !isIn(path));
  if (unknown.length > 0) throw noSuchFields(unknown, known);
}

export function noSuchFields(unknown: readonly string[], known: readonly string[], besides = ''): Failure {
  const meant = unknown.map((path) => nearestField(path, known));
  const near = meant.every((path) => path !== undefined) ? `Did you mean ${meant.join(', ')}? ` : '';
  const fact = `There is no field ${unknown.map((path) => `"${path}"`).join(', ')} here.`;
  return new Failure('usage', `${fact} ${besides}`.trimEnd(), {
    hint: sanitize(`${near}Fields: ${known.join(', ')}.`),
  });
}

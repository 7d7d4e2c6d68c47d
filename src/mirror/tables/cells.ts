import { type Fields, fieldsIn } from '../../text/record.ts';
import type { Row, Value } from './store.ts';
import type { Column } from './tables.ts';

/** The record that a row holds, as the service sent it. */
export const dataOf = ({ data }: Row): Fields => fieldsIn(JSON.parse(String(data)));

/**
 * What a record's columns hold. A value of another kind than the column's is left out: it stands in `data`, where the
 * whole record is exact.
 */
export const cellsOf = (columns: readonly Column[], record: Fields): Value[] =>
  columns.map(({ name, type }) => cellOf(record[name], type));

function cellOf(value: unknown, type: Column['type']): Value {
  if (value === null || value === undefined) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'time':
      return typeof value === 'string' && isTime(value) ? value : null;
    case 'text':
      return typeof value === 'string' ? storable(value) : null;
    case 'json':
      return JSON.stringify(value).replace(escapes, (written, halfOrNull) => (halfOrNull ? '\\ufffd' : written));
  }
}

/** JSON.stringify writes U+0000 and halves of surrogate pairs so, and no other character. */
const escapes = /\\(?:(u0000|ud[89a-f][0-9a-f]{2})|.)/gu;

const timeForm = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)?$/u;

/** One that both engines take: `Date` reads the 30th of February as the 1st of March, and PostgreSQL refuses it. */
function isTime(text: string): boolean {
  const [, day = ''] = timeForm.exec(text) ?? [];
  if (day === '' || day < '0001' || Number.isNaN(Date.parse(text))) return false;
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

/** Neither engine keeps U+0000 in a text, nor half a surrogate pair. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

/** Whether two values of JSON say the same, whatever the order of their keys. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const own = Object.entries(one);
  if (own.length !== Object.keys(other).length) return false;
  return own.every(([key, value]) => Object.hasOwn(other, key) && isSame(value, Reflect.get(other, key)));
}

import { Failure } from '../errors.ts';
import { pick, refuseUnknownFields, valueAt } from '../output/fields.ts';
import type { Fields } from '../text/record.ts';

/**
 * Parts of long texts and lists, as an answer that left something out names them and as `fields` asks for them:
 * `content_html[30000:60000]`, `messages[0:18]`, `messages[29].body[0:30000]`.
 */
const slicePattern = /^(.*)\[(\d+):(\d*)\]$/su;

export function sliceIn(field: string) {
  const [, of, from, to] = slicePattern.exec(field) ?? [];
  if (of === undefined) return undefined;
  return { of, from: Number(from), to: to ? Number(to) : undefined };
}

/** The name of a part of a field, which may be a part itself. */
export function sliceName(field: string, from: number, to: number): string {
  const slice = sliceIn(field);
  const start = slice?.from ?? 0;
  return `${slice?.of ?? field}[${start + from}:${start + to}]`;
}

/** The name of what comes after it: to the end of the field, or of the part that it is. */
export function restName(field: string, from: number): string {
  const slice = sliceIn(field);
  return `${slice?.of ?? field}[${(slice?.from ?? 0) + from}:${slice?.to ?? ''}]`;
}

/** The fields of a record that were asked for. One that is not there is refused by name, parts stand under their name. */
export function onlyFields(record: unknown, fields: readonly string[]): Fields {
  const whole = fields.filter((field) => !field.includes('['));
  refuseUnknownFields(record, whole, withoutKeys);
  const parts = fields.filter((field) => field.includes('[')).map((field) => [field, partOf(record, field)] as const);
  return { ...pick(record, whole), ...Object.fromEntries(parts) };
}

/** A refusal stands among svc's own lines, where no key of a customer may stand. */
const withoutKeys = { freeForm: 'whole' } as const;

/** The list, or the part of it that a field like `[100:200]` asks for. */
export function onlyItems(items: readonly unknown[], fields: readonly string[]) {
  const slice = fields.map(sliceIn).find((one) => one?.of === '');
  return {
    items: slice ? items.slice(slice.from, slice.to) : items,
    from: slice?.from ?? 0,
    fields: fields.filter((field) => sliceIn(field)?.of !== ''),
  };
}

function partOf(record: unknown, field: string): unknown {
  const slice = sliceIn(field);
  const value = indexed(record, slice?.of ?? field);
  if (!slice) {
    if (value === undefined) refuseUnknownFields(record, [field], withoutKeys);
    return value;
  }
  if (typeof value === 'string' || Array.isArray(value)) return value.slice(slice.from, slice.to);
  throw new Failure('usage', `"${slice.of}" is neither a text nor a list here, so "${field}" is no part of it.`);
}

/** `messages[3].body`: what a path with places in lists leads to. */
function indexed(record: unknown, path: string): unknown {
  return path.split(/(\[\d+\])\.?/u).reduce((at: unknown, step) => {
    const place = /^\[(\d+)\]$/u.exec(step)?.[1];
    if (place !== undefined) return Array.isArray(at) ? at[Number(place)] : undefined;
    return step === '' ? at : valueAt(at, step);
  }, record);
}

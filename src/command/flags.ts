import { check } from '../api/check.ts';
import type { Schema } from '../api/operation.ts';
import { idWords, resources } from '../api/resources.ts';
import { fieldsOf, type Shape } from '../api/shape.ts';
import { Failure } from '../errors.ts';
import { capital } from '../text/capital.ts';
import { oneOf } from '../text/one-of.ts';
import { zoneDoubt } from '../text/own-zone.ts';
import { parseComing, parsePast } from '../text/time.ts';
import type { Param, Params } from './command.ts';
import { doubtOf, slipIn } from './known-values.ts';
import { type Named, recordOfField } from './named.ts';
import { parseId, splitPair } from './param.ts';
import { isNorthAmerican, phoneOfFlag } from './phones.ts';
import { priorityIn, priorityWords, usualPriorities } from './priorities.ts';
import { typedName } from './typed-name.ts';

const proseFields: ReadonlySet<string> = new Set(
  'body content description note notes subject title brand_voice'.split(' '),
);

/** A flag for each field of an object schema, by the field's wire name. This is the only code that knows that argv is text. */
export function flagsOf(schema: Schema | undefined, { optional = false } = {}): Params {
  const flags: Record<string, Param<unknown>> = {};
  for (const [field, shape] of Object.entries(fieldsOf(schema))) flags[field] = paramOf(field, shape, { optional });
  return flags;
}

/** The flag of one field. `optional`: something else may supply the value, so its absence is judged later. */
export function paramOf(field: string, shape: Shape, { optional }: { readonly optional: boolean }): Param<unknown> {
  const many = shape.type === 'list' || shape.type === 'pairs';
  const name = typedName(field);
  const wireName = field.replaceAll('_', '-');
  return {
    name,
    // People who know the service's own name of the field may type that.
    aliases: wireName === name ? [] : [wireName],
    description: descriptionOf(field, shape),
    placeholder: placeholderOf(field, shape),
    choices: shape.choices ?? shape.known,
    ...(field === 'priority' && { offers: usualPriorities }),
    doubt: shape.format === 'date-time' ? zoneDoubt : shape.known && doubtful(shape.known),
    many,
    prose: proseFields.has(field),
    required: shape.required && !optional,
    record: recordOfField(field),
    ...(shape.format === 'date-time' && !field.endsWith('_since') && { moment: true }),
    parse(texts, flag, now = new Date()) {
      if (shape.choices) for (const text of texts) oneOf(shape.choices, { text, by: flag });
      const record = recordOfField(field);
      const read = (text: string) => {
        if (field.endsWith('_since')) return parsePast(text, flag, now);
        if (shape.format === 'date-time') return parseComing(text, flag, now);
        // A name was looked up before: what is no number is none.
        if (record && !/^[+-]?\d+(?:\.\d+)?$/u.test(text.trim())) return parseId(text, flag, record);
        return readText(field === 'priority' ? priorityIn(text, flag) : text, shape.item ?? shape, flag);
      };
      const value = judged(shape.schema, typedValue(texts, shape, flag, read), flag);
      if (shape.known) for (const text of texts) refuseSlip(text, shape.known, flag);
      return value;
    },
  };
}

function typedValue(texts: readonly string[], shape: Shape, flag: string, read: (text: string) => unknown): unknown {
  if (shape.type === 'pairs') return Object.fromEntries(texts.map((text) => splitPair(text, flag)));
  return shape.type === 'list' ? texts.map(read) : read(texts.at(-1) ?? '');
}

function refuseSlip(text: string, known: readonly string[], flag: string): void {
  const slip = slipIn(text, known);
  if (slip) throw new Failure('usage', `${flag} ${slip.problem}.`, { hint: slip.hint });
}

const doubtful =
  (known: readonly string[]) =>
  (texts: readonly string[], flag: string): string | undefined =>
    texts.map((text) => doubtOf(text, known, flag)).find((doubt) => doubt !== undefined);

/** Text as typed → the value that goes on the wire. */
function readText(text: string, shape: Shape, flag: string): unknown {
  if (shape.type === 'integer' || shape.type === 'number') {
    const value = /^[+-]?\d+(\.\d+)?$/u.test(text.trim()) ? Number(text) : Number.NaN;
    const noun = shape.type === 'integer' ? 'a whole number' : 'a number';
    if (Number.isNaN(value)) throw new Failure('usage', `${flag} must be ${noun}, not "${text}".`);
    // Rounded, an id would be another record's.
    if (Number.isInteger(value) && !Number.isSafeInteger(value))
      throw new Failure('usage', `${flag} must be a smaller number than ${text.trim()}.`);
    return value;
  }
  if (shape.type === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new Failure('usage', `${flag} must be true or false, not "${text}".`);
  }
  return isNorthAmerican(shape) ? phoneOfFlag(text, flag) : text;
}

function judged(schema: Schema, value: unknown, flag: string): unknown {
  const checked = check(schema, value);
  if (checked.ok) return checked.value;
  const [[path, messages] = ['', []]] = Object.entries(checked.fields);
  throw new Failure('usage', `${flag}${path ? ` (${path})` : ''} ${messages[0] ?? 'is not valid'}.`);
}

function descriptionOf(field: string, shape: Shape): string {
  const description = shape.description ?? describe(field, shape);
  if (field === 'priority') return `${description}, or ${priorityWords}`;
  return withKnown(withName(description, recordOfField(field)), shape);
}

const withKnown = (description: string, { known }: Shape): string =>
  known ? `${description}: ${known.join(', ')}` : description;

/** A record that people know by another name than its id is taken by that, too. */
function withName(description: string, record: Named | undefined): string {
  if (record === undefined || description.toLowerCase().includes(idWords(record))) return description;
  return /\bID$/u.test(description)
    ? `Id or ${resources[record].otherName} of the ${resources[record].noun}`
    : `${description}, by ${idWords(record)}`;
}

const describe = (field: string, shape: Shape): string => {
  const words = field
    .replaceAll('_', ' ')
    .replace(/\bid\b/u, 'ID')
    .replace(/\burl\b/u, 'URL');
  const name = capital(words);
  return shape.choices ? `${name}: ${shape.choices.join(' or ')}` : name;
};

function placeholderOf(field: string, shape: Shape): string {
  if (shape.choices) return shape.choices.join('|');
  if (shape.type === 'pairs') return field === 'socials' ? 'NETWORK=URL' : 'KEY=VALUE';
  const kind = shape.item ?? shape;
  if (/(^|_)ids?$/u.test(field)) return 'ID';
  if (kind.type === 'integer' || kind.type === 'number') return 'N';
  if (kind.format === 'date-time') return 'TIME';
  if (kind.format === 'uri' || field.endsWith('_url')) return 'URL';
  if (field.endsWith('_color')) return 'COLOR';
  return 'TEXT';
}

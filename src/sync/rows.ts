import { emailPattern, lengthOf } from '../api/fields.ts';
import type { CsvRecord } from '../tabular/csv.ts';
import type { Field, Mapping, Shape, Target } from './mapping.ts';
import type { IgnoresPhone } from './phone.ts';

/** What is sent of a row: only what it holds, since a blank says nothing. */
export type Contact = {
  email: string;
  name?: string;
  last_name?: string;
  phone?: string;
  company?: string;
  website?: string;
  country?: string;
  tags?: string[];
  metadata?: Record<string, unknown>;
};

export type Row = {
  readonly line: number;
  readonly contact: Contact;
  /** Characters in the file. */
  readonly size: number;
  /** Lines of other rows that were merged into this one. */
  readonly alsoLines?: readonly number[];
  /** The service will not take the phone as one. */
  readonly phoneIsIgnored: boolean;
};

/** A row that cannot be sent, or that the service refused: one of the report's `errors`. */
export type Problem = { readonly line: number; readonly email: string; readonly error: string };

export type RowOptions = {
  readonly tagSeparator: string;
  /** For every row. */
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly strictPhone: boolean;
};

export type ReadRow = (record: CsvRecord) => Row | Problem | undefined;

export const isProblem = (row: Row | Problem): row is Problem => 'error' in row;

/** Tags per synced contact, and characters of each (Limits). */
export const mostTags = 10;
const longestTag = 50;

/**
 * Record → contact, or what is wrong with it, all at once; undefined where every cell is blank, which is how
 * spreadsheets write the lines below their last row. A file may have millions of rows: the columns are sorted out
 * once, so that a row costs little more than cutting its cells.
 */
export function createRowReader(
  { width, columns }: Mapping,
  shape: Shape,
  options: RowOptions,
  ignoresPhone: IgnoresPhone,
): ReadRow {
  const texts = columns.flatMap(({ index, to }) => (isTextField(to) ? [{ index, to }] : []));
  const tagColumns = columns.flatMap(({ index, to }) => (to === 'tags' ? [index] : []));
  const ownData = columns.flatMap(({ index, to }) => (to.startsWith('metadata.') ? [{ index, key: to.slice(9) }] : []));
  const wholeData = columns.flatMap(({ index, to }) => (to === 'metadata' ? [index] : []));
  const constants = Object.entries(options.metadata);
  const hasMetadata = ownData.length + wholeData.length + constants.length > 0;
  const takesTags = shape.fields.includes('tags');
  const needsName = shape.required.includes('name');

  return ({ line, cells, size }) => {
    const contact: Contact = { email: '' };
    for (const { index, to } of texts) {
      const text = cells[index]?.trim();
      if (text) contact[to] = text;
    }
    const tags: string[] = [];
    for (const index of tagColumns) {
      const text = cells[index]?.trim();
      if (text) addTags(tags, text, options.tagSeparator);
    }
    const metadata: Record<string, unknown> = {};
    let isObject = true;
    for (const index of wholeData) {
      const text = cells[index]?.trim();
      if (text) isObject = addObject(metadata, text);
    }
    for (const { index, key } of ownData) {
      const text = cells[index]?.trim();
      if (text) metadata[key] = text;
    }
    if (contact.email === '' && cells.every(isBlank)) return undefined;

    if (takesTags) for (const tag of options.tags) if (!tags.includes(tag)) tags.push(tag);
    for (const [key, value] of constants) metadata[key] ??= value;
    if (tags.length > 0) contact.tags = tags;
    if (hasMetadata && Object.keys(metadata).length > 0) contact.metadata = metadata;
    const phoneIsIgnored = contact.phone !== undefined && ignoresPhone(contact.phone);
    const isFine = isObject && !(phoneIsIgnored && options.strictPhone) && isSendable(contact, needsName);
    if (!isFine || cells.length > width) {
      const errors = [...widthErrors(cells, width), ...fieldErrors(contact, needsName)];
      if (!isObject) errors.push('metadata is not a JSON object');
      if (phoneIsIgnored && options.strictPhone) {
        errors.push(`the service would ignore the phone "${brief(contact.phone)}"`);
      }
      if (errors.length > 0) return problem(line, contact.email, errors.join('; '));
    }
    return { line, contact, size, phoneIsIgnored };
  };
}

const isSendable = (contact: Contact, needsName: boolean): boolean =>
  emailPattern.test(contact.email) &&
  (!needsName || contact.name !== undefined) &&
  (contact.tags === undefined || (contact.tags.length <= mostTags && !contact.tags.some(isTooLong)));

/** A delimiter too many at the end of a line does no harm. */
const widthErrors = (cells: readonly string[], width: number): string[] =>
  cells.slice(width).every(isBlank) ? [] : [`has ${cells.length} cells where the header has ${width}`];

function fieldErrors(contact: Contact, needsName: boolean): string[] {
  const errors: string[] = [];
  if (contact.email === '') errors.push('email is missing');
  else if (!emailPattern.test(contact.email)) errors.push(`"${brief(contact.email)}" is not an email address`);
  if (needsName && contact.name === undefined) errors.push('name is missing');
  const { tags = [] } = contact;
  if (tags.length > mostTags) errors.push(`has ${tags.length} tags, at most ${mostTags} are allowed`);
  for (const tag of tags.filter(isTooLong)) {
    errors.push(`the tag "${brief(tag)}" has ${lengthOf(tag)} characters, at most ${longestTag} are allowed`);
  }
  return errors;
}

const isTooLong = (tag: string): boolean => tag.length > longestTag && lengthOf(tag) > longestTag;

const isBlank = (cell: string): boolean => cell.trim() === '';

type TextField = Exclude<Field, 'tags' | 'metadata'>;

const isTextField = (to: Target): to is TextField => to !== 'tags' && !to.startsWith('metadata');

/** Problems outlive the piece of the file that they were cut from; a copy does not keep that piece in memory. */
export const problem = (line: number, email: string, error: string): Problem => ({
  line,
  email: copy(brief(email)),
  error: copy(error),
});

/** By this rows are told apart; the service's own reading of case is not shown, so we take the careful one. */
export const emailKey = (contact: Contact): string => contact.email.toLowerCase();

/** A string of its own, where a slice would keep all of the text alive that it was cut from. */
export const copy = (text: string): string => Buffer.from(text).toString();

const brief = (text: string | undefined = ''): string => (text.length > 254 ? `${text.slice(0, 253)}…` : text);

/** Says whether the text is a JSON object. */
function addObject(metadata: Record<string, unknown>, text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    Object.assign(metadata, value);
    return true;
  } catch {
    return false;
  }
}

function addTags(tags: string[], text: string, separator: string): void {
  for (const part of text.includes(separator) ? text.split(separator) : [text]) {
    let tag = part.trim();
    // Some exports quote each tag of a cell once more: "VIP","Customer".
    if (tag.length > 1 && tag.startsWith('"') && tag.endsWith('"')) tag = tag.slice(1, -1);
    if (tag !== '' && !tags.includes(tag)) tags.push(tag);
  }
}

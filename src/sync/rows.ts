import { emailPattern, lengthOf, unseen } from '../api/fields.ts';
import { isDropped, type Phones, type PhoneVerdict } from '../batch/phone.ts';
import type { CsvRecord } from '../tabular/csv.ts';
import { detached } from '../text/detached.ts';
import { parseExactly, quoteIt, roundedIn } from '../text/exact-json.ts';
import { unmeantIn } from '../text/json-keys.ts';
import { isRecord } from '../text/record.ts';
import { textFiller } from './fill-texts.ts';
import type { Findings } from './findings.ts';
import { type Contact, isOwnData, type Mapping, type Shape } from './mapping.ts';
import { tagReader } from './tags.ts';

export type Row = {
  readonly line: number;
  readonly contact: Contact;
  /** Characters in the file. */
  readonly size: number;
  /** Lines of other rows that were merged into this one. */
  readonly alsoLines?: readonly number[];
  /** What the service makes of the phone, if there is one. */
  readonly phone: PhoneVerdict;
};

/** A row that cannot be sent, or that the service refused: one of the report's `errors`. */
export type Problem = { readonly line: number; readonly email: string; readonly error: string };

export type RowOptions = {
  readonly tagSeparator: string | undefined;
  /** For every row. */
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly strictPhone: boolean;
};

/** `skipped`: by the user's wish. Undefined where every cell is blank. */
export type ReadRow = (record: CsvRecord) => Row | Problem | 'skipped' | undefined;

/** What it takes to read a row, beside the mapping. */
export type Reading = {
  readonly phones: Phones;
  /** Says of the cells of a row whether it is left out. */
  readonly leavesOut: ((cells: readonly string[]) => boolean) | undefined;
  /** Takes down what a first look at the file has to say. */
  readonly findings: Findings;
};

export const isProblem = (row: Row | Problem): row is Problem => 'error' in row;

/** Tags per synced contact, and characters of each (service.md#limits-5). */
export const mostTags = 10;
const longestTag = 50;

/**
 * Record → contact, or what is wrong with it, all at once; undefined where every cell is blank, which is how
 * spreadsheets write the lines below their last row. A file may have millions of rows: the columns are sorted out
 * once, so that a row costs little more than cutting its cells.
 */
export function createRowReader(mapping: Mapping, shape: Shape, options: RowOptions, reading: Reading): ReadRow {
  const { width } = mapping;
  const { phones, leavesOut, findings } = reading;
  const fillTexts = textFiller(mapping, findings);
  const addTags = tagAdder(mapping, shape, options, findings);
  const addMetadata = metadataAdder(mapping, options);
  const needsName = shape.required.includes('name');

  return (record) => {
    const { line, cells, size } = record;
    const contact: Contact = { email: '' };
    fillTexts(contact, cells);
    if (contact.email === '' && cells.every(isBlank)) return undefined;
    if (leavesOut?.(cells)) return 'skipped';
    if (contact.email.includes(':::')) takeFirstEmail(contact, line, findings);
    addTags(contact, record);
    const wrong = addMetadata(contact, cells);
    const phone = contact.phone === undefined ? 'fine' : judgePhone(contact, phones, findings);
    const strict = options.strictPhone && isDropped(phone);
    findings.see(cells);
    if (wrong !== undefined || strict || !isSendable(contact, needsName) || cells.length > width) {
      const errors = [...widthErrors(cells, width), ...fieldErrors(contact, needsName)];
      if (wrong !== undefined) errors.push(`metadata ${wrong}`);
      if (strict) errors.push(`the service would ignore the phone "${brief(contact.phone)}"`);
      if (errors.length > 0) return problem(line, contact.email, errors.join('; '));
    }
    return { line, contact, size, phone };
  };
}

/** Google joins several addresses of a person in one cell. */
function takeFirstEmail(contact: Contact, line: number, findings: Findings): void {
  const [first = ''] = contact.email.split(':::');
  contact.email = first.trim();
  findings.severalEmails.add(line, contact.email);
}

function judgePhone(contact: Contact, phones: Phones, findings: Findings): PhoneVerdict {
  const cell = contact.phone ?? '';
  const phone = phones.read(cell);
  if (phone !== cell) findings.phonesRead++;
  if (phone === '') {
    delete contact.phone;
    return 'fine';
  }
  contact.phone = phone;
  const verdict = phones.judge(phone);
  if (verdict === 'doubtful') findings.doubtfulPhones++;
  return verdict;
}

function tagAdder(
  { columns }: Mapping,
  shape: Shape,
  options: RowOptions,
  findings: Findings,
): (contact: Contact, record: CsvRecord) => void {
  const indexes = columns.flatMap(({ index, to }) => (to === 'tags' ? [index] : []));
  const constants = shape.fields.includes('tags') ? options.tags : [];
  if (indexes.length + constants.length === 0) return () => {};
  const addTags = tagReader(options.tagSeparator, () => {
    findings.tagLists++;
  });
  return (contact, { line, cells }) => {
    const tags: string[] = [];
    for (const index of indexes) {
      const text = cells[index]?.trim();
      if (!text) continue;
      const doubt = addTags(text, tags);
      if (doubt !== undefined) findings.doubtTags(doubt, line, text);
    }
    dropSystemGroups(tags, findings);
    for (const tag of constants) if (!tags.includes(tag)) tags.push(tag);
    if (tags.length > 0) contact.tags = tags;
  };
}

const mostGroups = 10;

/** `* myContacts` and its like are groups that everybody is in, not what somebody said of a person. */
function dropSystemGroups(tags: string[], { systemGroups }: Findings): void {
  for (let i = tags.length - 1; i >= 0; i--) {
    const tag = tags[i] ?? '';
    if (!tag.startsWith('* ') || tag.includes(':::')) continue;
    tags.splice(i, 1);
    if (systemGroups.size < mostGroups) systemGroups.add(detached(tag));
  }
}

/**
 * A key of own data may be named as anything, so none may be there already. Not null itself: an object that begins with
 * that is a hash table to V8, several times as slow to make.
 */
const nothing: object = Object.create(null);

/** The function says what is wrong with what should be a JSON object. */
function metadataAdder(
  { columns }: Mapping,
  options: RowOptions,
): (contact: Contact, cells: readonly string[]) => string | undefined {
  const ownData = columns.flatMap(({ index, to }) => (isOwnData(to) ? [{ index, key: to.slice(9) }] : []));
  const wholeData = columns.flatMap(({ index, to }) => (to === 'metadata' ? [index] : []));
  const constants = Object.entries(options.metadata);
  if (ownData.length + wholeData.length + constants.length === 0) return () => undefined;
  return (contact, cells) => {
    const metadata: Record<string, unknown> = Object.create(nothing);
    let wrong: string | undefined;
    for (const index of wholeData) {
      const text = cells[index]?.trim();
      if (text) wrong ??= addObject(metadata, text);
    }
    for (const { index, key } of ownData) {
      const text = cells[index]?.trim();
      if (text) metadata[key] = text;
    }
    for (const [key, value] of constants) metadata[key] ??= value;
    if (Object.keys(metadata).length > 0) contact.metadata = metadata;
    return wrong;
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
  else if (!emailPattern.test(contact.email)) errors.push(notAddress(contact.email));
  if (needsName && contact.name === undefined) errors.push('name is missing');
  const { tags = [] } = contact;
  if (tags.length > mostTags) errors.push(`has ${tags.length} tags, at most ${mostTags} are allowed`);
  for (const tag of tags.filter(isTooLong)) {
    errors.push(`the tag "${brief(tag)}" has ${lengthOf(tag)} characters, at most ${longestTag} are allowed`);
  }
  return errors;
}

/** Of what nobody sees in the message it is said. */
function notAddress(email: string): string {
  const hidden = new RegExp(`[${unseen}]`, 'u')
    .exec(email)?.[0]
    .charCodeAt(0)
    .toString(16)
    .toUpperCase()
    .padStart(4, '0');
  const why = hidden === undefined ? '' : `: it holds U+${hidden}, which nobody sees`;
  return `"${brief(email)}" is not an email address${/\p{Cc}/u.test(email) ? ': it holds a control character' : why}`;
}

const isTooLong = (tag: string): boolean => tag.length > longestTag && lengthOf(tag) > longestTag;

const isBlank = (cell: string): boolean => cell.trim() === '';

/** Problems outlive the piece of the file that they were cut from. */
export const problem = (line: number, email: string, error: string): Problem => ({
  line,
  email: detached(brief(email)),
  error: detached(error),
});

/** By this rows are told apart; how case counts is not described, so we take the careful reading (service.md#contacts-5). */
export const emailKey = (contact: Contact): string => contact.email.toLowerCase();

const brief = (text: string | undefined = ''): string => (text.length > 254 ? `${text.slice(0, 253)}…` : text);

/** Says what is wrong with a text that should be a JSON object. */
function addObject(metadata: Record<string, unknown>, text: string): string | undefined {
  const wrong = 'is not a JSON object';
  try {
    const value = parseExactly(text);
    if (!isRecord(value)) return wrong;
    const rounded = roundedIn(value);
    if (rounded !== undefined) return quoteIt(rounded);
    const unmeant = unmeantIn(text);
    if (unmeant !== undefined) return unmeant;
    Object.assign(metadata, value);
    return undefined;
  } catch {
    return wrong;
  }
}

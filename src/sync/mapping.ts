import type * as v from 'valibot';
import type { SyncContact } from '../api/contacts.ts';
import { Failure } from '../errors.ts';
import { columnName, findColumn, isEmail, listedColumns, oneColumn } from '../tabular/columns.ts';
import { type Field, fieldOf, isBareName } from '../tabular/header-names.ts';

export type Target = Field | `metadata.${string}`;

export const isOwnData = (to: string): to is `metadata.${string}` => to.startsWith('metadata.');

/** What is sent of a row: only what it holds, since a blank says nothing. */
export type Contact = v.InferOutput<typeof SyncContact> & { website?: string; country?: string };

/** What a contact of the operation looks like: syncContacts knows tags, create_sync_contacts websites and countries. */
export type Shape = {
  readonly fields: readonly Field[];
  readonly required: readonly Field[];
  /** The service finds a contact by its phone as well. */
  readonly isFoundByPhone?: true;
};

export const syncShape: Shape = {
  fields: ['email', 'name', 'last_name', 'phone', 'company', 'tags', 'metadata'],
  required: ['email'],
};

export const listShape: Shape = {
  fields: ['email', 'name', 'last_name', 'phone', 'company', 'website', 'country', 'metadata'],
  required: ['email', 'name'],
  isFoundByPhone: true,
};

export type Column = {
  readonly index: number;
  readonly header: string;
  readonly to: Target;
  /**
   * A last name that may have the first name in it: `Name` beside `Vorname`. `with first`: it is one only where it has it,
   * as a display name, or one beside another whole name, may be a company's.
   */
  readonly fullName?: 'any' | 'with first';
};

/** A column that fills a field where the columns before it are blank. */
export type Fallback = {
  readonly index: number;
  readonly header: string;
  readonly to: TextField;
  readonly isFullName: boolean;
};

/** A field whose cell goes as it is. */
export type TextField = Exclude<Field, 'tags' | 'metadata'>;

export const isTextField = (to: Target): to is TextField => to !== 'tags' && !to.startsWith('metadata');

export type Mapping = {
  /** How many cells a row has. */
  readonly width: number;
  /** In the order of the file. */
  readonly columns: readonly Column[];
  /** The most telling first. */
  readonly fallbacks: readonly Fallback[];
  /** Columns that are not sent. */
  readonly unused: readonly { readonly index: number; readonly header: string }[];
};

/** Columns that svc itself adds to rejects, so that a fixed file can be synced again as it is. */
const isOwn = (header: string): boolean => /^svc_/iu.test(header.trim());

/** A `--map`: "HEADER=FIELD", or "#N=FIELD" for the Nth column. */
export type MapWish = { readonly text: string; readonly wanted: string; readonly to: Target | 'ignore' };

export const readWishes = (texts: readonly string[], shape: Shape): MapWish[] =>
  texts.map((text) => {
    const at = text.lastIndexOf('='); // a header may hold "=", a field never does
    if (at < 1) throw new Failure('usage', `--map takes "HEADER=FIELD", not "${text}".`, { hint: offered(shape) });
    const wanted = text.slice(0, at).trim();
    const to = text.slice(at + 1).trim();
    const isTarget = to === 'ignore' || isOneOf(shape.fields, to) || (isOwnData(to) && to.length > 9);
    if (isTarget) return { text, wanted, to };
    throw new Failure('usage', `--map "${text}": there is no field "${to}".`, { hint: offered(shape) });
  });

const isOneOf = (fields: readonly Field[], to: string): to is Field => fields.some((field) => field === to);

/** Whether these headers name every column that is needed and wished for: then the line is a header. */
export function isMappable(headers: readonly string[], wishes: readonly MapWish[], shape: Shape): boolean {
  if (wishes.some(({ wanted }) => findColumn(headers, wanted) === undefined)) return false;
  const wished = new Set<string>(wishes.map(({ to }) => to));
  return shape.required.every(
    (field) => wished.has(field) || headers.some((header) => fieldOf(header, headers)?.field === field),
  );
}

/**
 * Which column fills which field. Wishes win over what the header suggests. `examples` are the first rows: a message
 * about a missing column names the one that holds it.
 */
export function mapHeaders(
  headers: readonly string[],
  wishes: readonly MapWish[],
  shape: Shape,
  examples: readonly (readonly string[])[] = [],
): Mapping {
  const targets = wishedTargets(headers, wishes);
  const taken = new Set<Target | 'ignore'>(targets.values());
  takeOwnData(headers, targets, taken);
  const { fallbacks, wholeName } = takeKnown(headers, shape, { targets, taken });
  for (const field of shape.required) if (!taken.has(field)) throw noColumn(field, headers, examples);
  const columns: Column[] = [];
  const unused: { index: number; header: string }[] = [];
  for (const [index, text] of headers.entries()) {
    const to = targets.get(index);
    const header = text.trim();
    if (to !== undefined && to !== 'ignore')
      columns.push({
        index,
        header,
        to,
        ...(index === wholeName?.index && { fullName: wholeName.fullName }),
      });
    if (to !== undefined || isOwn(header) || header === '') continue;
    if (!fallbacks.some((fallback) => fallback.index === index)) unused.push({ index, header });
  }
  return { width: headers.length, columns, fallbacks, unused };
}

type Targets = Map<number, Target | 'ignore'>;

function wishedTargets(headers: readonly string[], wishes: readonly MapWish[]): Targets {
  const targets: Targets = new Map();
  const taken = new Set<string>();
  for (const { text, wanted, to } of wishes) {
    const index = oneColumn(headers, wanted, (column) => `--map "${column}=${to}"`);
    if (index === undefined) {
      throw new Failure('usage', `--map "${text}": the file has no column "${wanted}".`, {
        hint: ifJson(headers) ?? listedColumns(headers),
      });
    }
    if (targets.has(index)) throw new Failure('usage', `--map names the column "${headers[index]}" twice.`);
    // Several columns may add tags; of anything else a contact has one.
    if (taken.has(to) && to !== 'tags') throw new Failure('usage', `--map gives ${to} two columns.`);
    targets.set(index, to);
    if (to !== 'ignore') taken.add(to);
  }
  return targets;
}

/** Columns named `metadata.KEY` go as they are. */
function takeOwnData(headers: readonly string[], targets: Targets, taken: Set<Target | 'ignore'>): void {
  for (const [index, header] of headers.entries()) {
    const key = /^\s*metadata\.(.*\S)/iu.exec(header)?.[1];
    // A key of that name would be lost in any JavaScript that reads it.
    if (targets.has(index) || key === undefined || taken.has(`metadata.${key}`)) continue;
    targets.set(index, `metadata.${key}`);
    taken.add(`metadata.${key}`);
  }
}

type WholeName = { readonly index: number } & Required<Pick<Column, 'fullName'>>;

/** The best column of each field; the others of a field whose first column was found in the same way stand in. */
function takeKnown(
  headers: readonly string[],
  shape: Shape,
  { targets, taken }: { readonly targets: Targets; readonly taken: Set<Target | 'ignore'> },
): { readonly fallbacks: Fallback[]; readonly wholeName: WholeName | undefined } {
  const wished = new Set(taken);
  const ranked = headers.flatMap((header, index) => {
    const match = targets.has(index) || header.includes('metadata.') ? undefined : fieldOf(header, headers);
    return match && shape.fields.includes(match.field) ? [{ index, header: header.trim(), ...match }] : [];
  });
  const fallbacks: Fallback[] = [];
  let wholeName: WholeName | undefined;
  const hasLastName = wished.has('last_name') || ranked.some(({ field }) => field === 'last_name');
  // Of "name;name", as two tables that were joined have it, the second may be a company's.
  const isWhole = (index: number): boolean => fieldOf(headers[index] ?? '', headers)?.isFullName === true;
  const hasFirstName =
    [...targets].some(([index, to]) => to === 'name' && !isWhole(index)) ||
    ranked.some(({ field, isFullName }) => field === 'name' && !isFullName);
  for (const { index, header, field, isFullName } of ranked.toSorted((a, b) => a.rank - b.rank || a.index - b.index)) {
    if (!taken.has(field)) {
      targets.set(index, field);
      taken.add(field);
    } else if (isFullName && !hasLastName && wholeName === undefined && shape.fields.includes('last_name')) {
      // Beside a first name, "Name" and "Full Name" have the last one: no other column has it.
      targets.set(index, 'last_name');
      wholeName = { index, fullName: hasFirstName && isBareName(header) ? 'any' : 'with first' };
    } else if (!wished.has(field) && isTextField(field)) fallbacks.push({ index, header, to: field, isFullName });
  }
  return { fallbacks, wholeName };
}

function noColumn(field: Field, headers: readonly string[], examples: readonly (readonly string[])[]): Failure {
  const index = likelyColumn(field, headers, examples);
  const wish = `--map "${columnName(headers, Math.max(0, index))}=${field}"`;
  const hint = `${listedColumns(headers)} ${index < 0 ? `Name one, for example: ${wish}` : `If it is this one: ${wish}`}`;
  return new Failure('usage', `No column holds the ${field === 'email' ? 'email address' : field} of a contact.`, {
    hint: ifJson(headers) ?? hint,
  });
}

const ifJson = ([first = '']: readonly string[]): string | undefined =>
  /^\s*(?:\[\s*(?:$|\{)|\{)/u.test(first)
    ? 'It looks like JSON, and this command reads CSV. "svc contacts create --from FILE" reads JSON too.'
    : undefined;

/** An email shows itself in the rows; without first names, a last name is the best that there is. */
const likelyColumn = (field: Field, headers: readonly string[], examples: readonly (readonly string[])[]): number =>
  headers.findIndex((header, index) =>
    field === 'email'
      ? examples.some((cells) => isEmail(cells[index]))
      : fieldOf(header, headers)?.field === 'last_name',
  );

const offered = (shape: Shape): string => `Fields: ${shape.fields.join(', ')}, metadata.KEY, or ignore.`;

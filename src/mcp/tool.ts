import type { Operation } from '../api/operation.ts';
import type { Reach } from '../derive/grants.ts';
import type { Tool as Derived } from '../derive/mcp-tools.ts';
import type { Toolset } from '../derive/toolsets.ts';
import { Failure } from '../errors.ts';
import type { Service } from '../http/call/call.ts';
import { jsonIn } from '../text/json.ts';
import { number } from '../text/number.ts';
import type { Fields } from '../text/record.ts';
import type { Answer } from './answer.ts';
import { unknownIn } from './unknown.ts';

/** What a person has granted. */
export type Grant = Readonly<Record<Exclude<Reach, 'read'>, boolean>> & {
  /** What would reach somebody becomes a draft. `send` is granted with it. */
  readonly draftSends: boolean;
  /** Names of tools; undefined: all that are granted. */
  readonly only: readonly string[] | undefined;
  /** Kinds of records; undefined: all. */
  readonly toolsets: readonly Toolset[] | undefined;
};

/** How far a long call is. */
export type Tell = (done: number, total: number | undefined, message: string) => void;

/** What a tool runs with. */
type Call = {
  readonly service: Service;
  readonly input: Fields;
  /** Random: ends the fence around the data of the account. */
  readonly boundary: string;
  readonly tell: Tell;
};

export type Tool = Omit<Derived, 'operation'> & {
  readonly operation?: Operation;
  run(call: Call): Promise<Answer>;
};

/** A tool that only reads. `answer`: once its arguments are known; `fields`: those that were asked for of each record. */
export function readingTool(
  about: Pick<Tool, 'name' | 'title' | 'description' | 'toolset' | 'operation'> & Partial<Pick<Tool, 'outputSchema'>>,
  inputSchema: Pick<Tool['inputSchema'], 'properties' | 'required'>,
  answer: (call: Call, fields: readonly string[] | undefined) => Promise<Answer>,
): Tool {
  const tool: Tool = {
    outputSchema: { type: 'object' },
    ...about,
    inputSchema: { type: 'object', ...inputSchema },
    annotations: { readOnlyHint: true },
    reach: 'read',
    async run(call) {
      refuseUnknown(tool, call.input);
      return answer(call, fieldsOfInput(call.input));
    },
  };
  return tool;
}

export const invalid = (fields: Readonly<Record<string, readonly string[]>>): Failure =>
  new Failure('usage', 'The arguments are not valid; nothing was sent.', { fields });

/** A model that invents a field learns so, and is not left to believe that it was heard. */
export function refuseUnknown({ inputSchema }: Pick<Tool, 'inputSchema'>, input: Fields): void {
  const known = Object.keys(inputSchema.properties ?? {});
  const unknown = Object.keys(input).filter((name) => !known.includes(name));
  if (unknown.length === 0) {
    const inside = unknownIn(inputSchema, input);
    if (Object.keys(inside).length > 0) throw invalid(inside);
    return;
  }
  throw invalid(
    Object.fromEntries(unknown.map((name) => [name, [`is not an argument; there are ${known.join(', ') || 'none'}`]])),
  );
}

/**
 * The connection reads the numbers of a call before svc does, and has then rounded a long one: another id, another
 * order. What it was is not known any more, so nothing is sent.
 */
export function refuseRounded(input: unknown): void {
  const rounded = roundedIn(input, '');
  if (rounded.length === 0) return;
  throw invalid(Object.fromEntries(rounded.map((path) => [path, [inQuotes]])));
}

const inQuotes =
  'holds a number that was rounded on its way, for a number keeps no more than 16 digits: write it in quotes';

function roundedIn(value: unknown, path: string): string[] {
  if (typeof value === 'number') return isRounded(value) ? [path] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, held]) => roundedIn(held, path ? `${path}.${key}` : key));
}

const isRounded = (value: number): boolean =>
  !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));

function namesIn(text: string): unknown[] {
  const names = text.split(',');
  return /^\s*\["/u.test(text) ? [jsonIn(text, names)].flat() : names;
}

/** Of `fields`; each dot in it is looked at in every record. */
const mostLetters = 10_000;

/** The `fields` of a read: names with commas between them, or a list, also as JSON in a text. */
export function fieldsOfInput({ fields }: Fields): string[] | undefined {
  if (fields === undefined || fields === null) return undefined;
  if ([fields].flat().join(',').length > mostLetters)
    throw invalid({ fields: [`must be no longer than ${number(mostLetters)} letters`] });
  const list: unknown[] = typeof fields === 'string' ? namesIn(fields) : [fields].flat();
  const names = list.flatMap((field) => (typeof field === 'string' ? [field.trim()] : []));
  if (names.length < list.length || names.includes('')) {
    throw invalid({ fields: ['must be a list of names of fields, for example ["id", "contact.email"]'] });
  }
  return names.length > 0 ? names : undefined;
}

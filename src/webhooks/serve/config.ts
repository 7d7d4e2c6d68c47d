import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import { type Document, isMap, isNode, LineCounter, parseDocument } from 'yaml';
import type { Context } from '../../context.ts';
import { readUserText } from '../../disk/place/user-file.ts';
import { Failure } from '../../errors.ts';
import { checkFilter } from '../../output/jq.ts';
import { nearest } from '../../text/near.ts';
import { type Fields, isRecord } from '../../text/record.ts';
import { configSchema, type ServeConfig } from './config-schema.ts';

/** A configuration that was judged good, and the folder that its relative paths begin at. */
export type Configured = { readonly config: ServeConfig; readonly file: string; readonly folder: string };

type Mistake = { readonly line: number; readonly text: string };

/** Reads and judges the file. Throws a usage Failure that names the line of each mistake. */
export async function readServeConfig(ctx: Pick<Context, 'stdin' | 'signal'>, path: string): Promise<Configured> {
  const text = await readUserText(ctx, path, '--config');
  const file = resolve(path);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineOf: LineOf = (path) => lines.linePos(offsetOf(document, path)).line;
  const unread = document.errors.map(({ pos, message }) => ({ line: lines.linePos(pos[0]).line, text: message }));
  if (unread.length > 0) throw mistaken(path, unread);
  const value: unknown = jsOf(document, path);
  if (value !== null && !isRecord(value)) {
    throw mistaken(path, [{ line: 1, text: `the file ${mustBeMap}` }]);
  }
  const checked = v.safeParse(configSchema, value ?? {});
  const keysAlone = ofOneAccount(value ?? {});
  const alone = keysAlone.map((key) => ({
    line: lineOf(key),
    text: `${nameOf(key)} is of one account: where accounts is given, each of them has its own`,
  }));
  // What has to go need not be right.
  const isToGo = (path: readonly Key[]) => keysAlone.some((key) => key.every((name, at) => path[at] === name));
  const misplaced = misplacedIn(configSchema, value).filter(({ path }) => !isToGo(path));
  const places = misplaced.map((one) => ({ line: lineOf(one.path), text: misplacedWords(one) }));
  // Of what stands in a list there the schema says that its keys are missing.
  const isBelowOne = (issue: v.BaseIssue<unknown>) => misplaced.some((one) => one.known === 'map' && isIn(issue, one));
  // A map with a list in place of one of its own maps lacks what was asked for there: that is one mistake.
  const isAroundOne = (issue: v.BaseIssue<unknown>) =>
    issue.type === 'check' && misplaced.some(({ known, path }) => known === 'map' && isAt(issue, path.slice(0, -1)));
  const isFound = (issue: v.BaseIssue<unknown>) =>
    !isMisplaced(issue) && !isBelowOne(issue) && !isAroundOne(issue) && !isToGo(keysOf(issue));
  const wrong = checked.success ? [] : checked.issues.filter(isFound);
  const found = wrong.map((issue) => mistakeOf(issue, lineOf));
  if (!checked.success || alone.length > 0 || places.length > 0) throw mistaken(path, [...places, ...found, ...alone]);
  const bad = await badFilters(checked.output, lineOf, ctx.signal);
  if (bad.length > 0) throw mistaken(path, bad);
  return { config: checked.output, file, folder: dirname(file) };
}

/** What the file says beside `accounts` that could not hold for all of them. */
function ofOneAccount({ accounts, secrets, listen }: Fields): readonly Key[][] {
  if (accounts === undefined) return [];
  return [
    ...(secrets === undefined ? [] : [['secrets']]),
    ...(isRecord(listen) && listen.path !== undefined ? [['listen', 'path']] : []),
  ];
}

/** Aliases that grow without end are refused here. */
function jsOf(document: Document, path: string): unknown {
  try {
    return document.toJS();
  } catch {
    throw mistaken(path, [{ line: 1, text: 'its aliases cannot be resolved' }]);
  }
}

const mustBeMap = 'must be a map of names and values';

type Key = string | number;
/** The line of the file in which the path stands. */
type LineOf = (path: readonly Key[]) => number;

const keysOf = ({ path }: v.BaseIssue<unknown>): Key[] =>
  (path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)));

function mistakeOf(issue: v.BaseIssue<unknown>, lineOf: LineOf): Mistake {
  const path = keysOf(issue);
  const line = lineOf(path);
  const place = nameOf(path);
  if (issue.received === 'undefined') return { line, text: `${place} is missing` };
  if (issue.type === 'strict_object') return { line, text: `${place || 'the file'} ${mustBeMap}` };
  return { line, text: `${place} ${issue.message}`.trim() };
}

/** What is not as the schema has it there: a key that it does not know, beside those that it does, or a list in place of a map. */
type Misplaced = { readonly path: readonly Key[]; readonly known: readonly string[] | 'map' };

const isIn = ({ path }: v.BaseIssue<unknown>, { path: place }: Misplaced): boolean =>
  place.every((key, at) => path?.[at]?.key === key);

const isAt = ({ path }: v.BaseIssue<unknown>, place: readonly Key[]): boolean =>
  path?.length === place.length && place.every((key, at) => path[at]?.key === key);

const isMisplaced = ({ type, expected }: v.BaseIssue<unknown>): boolean =>
  type === 'strict_object' && expected === 'never';

/** All of them: the schema itself tells of the first one of a map alone, and takes a list for a map. */
function misplacedIn(schema: unknown, value: unknown, path: readonly Key[] = []): Misplaced[] {
  if (!isRecord(schema)) return [];
  const { wrapped, item, entries } = schema;
  if (wrapped !== undefined) return misplacedIn(wrapped, value, path);
  if (Array.isArray(value))
    return isRecord(entries)
      ? [{ path, known: 'map' }]
      : value.flatMap((one, at) => misplacedIn(item, one, [...path, at]));
  if (!isRecord(entries) || !isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    Object.hasOwn(entries, key)
      ? misplacedIn(entries[key], inner, [...path, key])
      : [{ path: [...path, key], known: Object.keys(entries) }],
  );
}

function misplacedWords({ path, known }: Misplaced): string {
  if (known === 'map') return `${nameOf(path)} ${mustBeMap}`;
  const meant = nearest(String(path.at(-1)), known);
  return `${nameOf(path)} is not known${meant ? `; did you mean ${meant}?` : ''}`;
}

/** `sinks[1].http.url` */
const nameOf = (path: readonly Key[]): string =>
  path.map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at > 0 ? '.' : ''}${key}`)).join('');

/** Where the path stands in the file, or as much of it as is there. A name stands before its value. */
function offsetOf(document: Document, path: readonly Key[]): number {
  for (let length = path.length; length >= 0; length--) {
    const part = path.slice(0, length);
    const holder: unknown = length === 0 ? document.contents : document.getIn(part.slice(0, -1), true);
    if (length > 0 && isMap(holder)) {
      const pair = holder.items.find(({ key }) => String(key) === String(part.at(-1)));
      if (pair && isNode(pair.key) && pair.key.range) return pair.key.range[0];
    }
    const node: unknown = length === 0 ? document.contents : document.getIn(part, true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

async function badFilters({ sinks }: ServeConfig, lineOf: LineOf, signal: AbortSignal): Promise<Mistake[]> {
  const bad: Mistake[] = [];
  for (const [at, { filter }] of sinks.entries()) {
    if (filter === undefined) continue;
    const path = ['sinks', at, 'filter'];
    try {
      await checkFilter(filter, signal);
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'usage') throw error;
      bad.push({ line: lineOf(path), text: `${nameOf(path)}: ${error.message}` });
    }
  }
  return bad;
}

function mistaken(path: string, mistakes: readonly Mistake[]): Failure {
  const sorted = [...mistakes].sort((a, b) => a.line - b.line);
  const fields: Record<string, string[]> = {};
  for (const { line, text } of sorted) {
    fields[`line ${line}`] = [...(fields[`line ${line}`] ?? []), text.replace(/([^.?])$/u, '$1.')];
  }
  const count = sorted.length === 1 ? 'a mistake' : `${sorted.length} mistakes`;
  return new Failure('usage', `${path} has ${count}.`, { fields, hint: 'To see what it may hold: svc help serve' });
}

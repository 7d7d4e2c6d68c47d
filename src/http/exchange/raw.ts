import { hearersOf } from '../../api/hearers.ts';
import { operations } from '../../api/index.ts';
import type { Method, Operation, Table } from '../../api/operation.ts';
import { filledPath, isPreset } from '../../api/path.ts';
import { Failure } from '../../errors.ts';
import { isKept } from '../../text/exact-json.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { RequestSpec } from './asking.ts';

export type Known = {
  readonly operation: Operation;
  /** Values of the path's placeholders. */
  readonly params: Readonly<Record<string, number>>;
};

const table: Table = operations;

/** The operation of the table that a raw method and path (without its query) mean, if there is one. */
export function operationAt(method: string, path: string, among: Table = table): Known | undefined {
  for (const operation of Object.values(among)) {
    if (operation.method !== method) continue;
    const names: string[] = [];
    const pattern = filledPath(operation.path, (name) => {
      // Whatever literal the account's service uses.
      if (isPreset(name)) return '[^/]+';
      names.push(name);
      return '(\\d+)';
    });
    const match = new RegExp(`^${pattern}$`, 'u').exec(path);
    if (!match) continue;
    const params = Object.fromEntries(names.map((name, i) => [name, Number(match[i + 1])]));
    // A number that is not kept is the id of another record.
    return Object.values(params).every(Number.isSafeInteger) ? { operation, params } : undefined;
  }
  return undefined;
}

/** The send that a server may take a path for: percent-encoding, case, slashes, a suffix and a prefix do not hide it. */
export function looselyAt(method: string, path: string): Operation | undefined {
  const readings = readingsOf(path);
  return Object.values(table).find((operation) => {
    if (hearersOf(operation) === undefined) return false;
    if (!isLike(method, operation.method)) return false;
    const pattern = new RegExp(`${filledPath(operation.path, () => '[^/]+').toLowerCase()}(?:/[^/\\w]+)*$`, 'u');
    return readings.some((reading) => pattern.test(reading));
  });
}

/** What servers make of a path: some end it where a query, a fragment or a NUL begins once it is decoded. */
function readingsOf(path: string): readonly string[] {
  const whole = decoded(path).toLowerCase();
  const ends = [...whole.matchAll(/[?#\0]/gu)].map(({ index }) => index);
  return [...ends.map((at) => whole.slice(0, at)), whole].map(resolved);
}

/** Of each segment its first word: without dots, parameters, a suffix such as `.json`, and whatever else a server may drop. */
function resolved(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split(/[/\\]/u)) {
    const name = segment.replace(/;.*$/su, '').trim();
    const [word = name] = /[\w-]+/u.exec(name) ?? [];
    if (name === '..') kept.pop();
    else if (word !== '' && word !== '.') kept.push(word);
  }
  return `/${kept.join('/')}`;
}

/** PUT and PATCH are one to many servers. */
const isLike = (method: string, other: string): boolean =>
  method === other || (['PUT', 'PATCH', 'POST'].includes(method) && ['PUT', 'PATCH', 'POST'].includes(other));

/** Decoded until nothing is left to decode: a proxy and a server may each do it once. */
function decoded(path: string): string {
  let text = path;
  for (;;) {
    const next = text.replaceAll(/%(?:[\da-f]{2})/giu, (code) =>
      String.fromCharCode(Number.parseInt(code.slice(1), 16)),
    );
    if (next === text) return text;
    text = next;
  }
}

/** What sending must know about a request that is not in the table: only reads are repeated. */
export const askedOf = (method: string, known: Known | undefined): RequestSpec =>
  known?.operation ?? {
    id: '',
    safety: method === 'GET' || method === 'HEAD' ? 'read' : 'once',
    credentials: ['api_key', 'oauth'],
    scope: null,
  };

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies readonly Method[];

/** A path as typed, relative to the base URL: with or without the first slash, or the whole URL below it. */
export function relativePath(typed: string, baseUrl: string): string {
  const below = typed.startsWith(`${baseUrl}/`) ? typed.slice(baseUrl.length) : typed;
  if (/^[a-z][a-z0-9+.-]*:/iu.test(below) || below.startsWith('//')) {
    throw new Failure('usage', `${typed} is not below the base URL ${baseUrl}.`, {
      hint: 'Give a path like /contacts. A credential never goes to another address.',
    });
  }
  const path = below.startsWith('/') ? below : `/${below}`;
  const resolved = new URL(`${baseUrl}${path}`);
  if (!resolved.href.startsWith(`${baseUrl}/`)) throw new Failure('usage', `${typed} leads outside the base URL.`);
  return resolved.href.slice(baseUrl.length).replace(/#.*$/u, '');
}

/**
 * `-f key=string` and `-F key=typed` as an object. Keys nest as in `contact[name]=Ada` and `labels[]=new`. Typed values:
 * true, false, null, numbers, and `@FILE`, whose text is in `files`; anything else stays text.
 */
export function fieldsFrom(
  texts: readonly string[],
  typed: readonly string[],
  files: ReadonlyMap<string, string>,
): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const text of texts) place(root, text, (value) => value, '-f');
  const read = (value: string, text: string) =>
    value.startsWith('@') && value.length > 1 ? files.get(value.slice(1)) : literal(value, text);
  for (const text of typed) place(root, text, (value) => read(value, text), '-F');
  return root;
}

type Holder = Record<string, unknown> | unknown[];

const isHolder = (value: unknown): value is Holder => typeof value === 'object' && value !== null;

function place(root: Record<string, unknown>, text: string, read: (value: string) => unknown, flag: string): void {
  const at = text.indexOf('=');
  const [key = '', value = ''] = at > 0 ? [text.slice(0, at), text.slice(at + 1)] : [];
  const match = /^([^[\]]+)((?:\[[^[\]]*\])*)$/u.exec(key);
  if (!match) throw new Failure('usage', `${flag} takes key=value, not "${text}".`);
  const steps = [match[1] ?? '', ...[...(match[2] ?? '').matchAll(/\[([^[\]]*)\]/gu)].map((step) => step[1] ?? '')];
  let node: Holder = root;
  for (const [i, step] of steps.entries()) {
    const last = i === steps.length - 1;
    const below: Holder = steps[i + 1] === '' ? [] : {};
    const next = last ? read(value) : below;
    if (Array.isArray(node)) {
      if (step !== '') throw new Failure('usage', `${flag} ${key} mixes a list and an object.`);
      node.push(next);
      node = below;
    } else {
      const present: unknown = Object.hasOwn(node, step) ? node[step] : undefined;
      if (step === '' || step === '__proto__') throw new Failure('usage', `${flag} ${key} is not a usable key.`);
      if (last || !isHolder(present)) node[step] = next;
      node = isHolder(present) ? present : below;
    }
  }
}

function literal(text: string, typed: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'null') return null;
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/u.test(text) || !Number.isFinite(Number(text))) return text;
  if (isKept(text)) return Number(text);
  throw new Failure('usage', `-F ${typed}: a number keeps no more than 16 digits.`, {
    hint: `Send it as a text, with -f ${shellWord(typed)}, or the whole body with --input.`,
  });
}

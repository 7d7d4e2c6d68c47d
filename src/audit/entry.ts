import type { ResourceName } from '../api/resources.ts';
import type { Origin } from '../context.ts';
import { jsonIn } from '../text/json.ts';
import { fieldsIn, isRecord } from '../text/record.ts';

/** By which way of using svc a request was made. */
export const faces = ['cli', 'bulk', 'api', 'mcp', 'inbox', 'serve'] as const satisfies readonly Origin['face'][];

/**
 * `sent`: it is about to leave. `done`: svc has seen it. `refused`: surely not done. `unknown`: nobody knows; so is what
 * never got another line than `sent`.
 */
const outcomes = ['sent', 'done', 'refused', 'unknown'] as const;

export type Outcome = (typeof outcomes)[number];

/** What a request is about. `id`: null until the service has given one. `number`: as people know a ticket. */
export type RecordNamed = {
  readonly kind: ResourceName;
  readonly id: number | null;
  readonly number: string | null;
};

export type Who = { readonly user: string; readonly host: string; readonly client: string | null };

/** What is known of a write before it leaves. No secret is in it. */
export type About = {
  readonly service: string;
  readonly account: number | null;
  /** Null with a credential of the environment. */
  readonly profile: string | null;
  /** Its kind. */
  readonly credential: string;
  readonly face: (typeof faces)[number];
  readonly who: Who;
  /** The words behind `svc`, or the name of an assistant's tool. */
  readonly command: string;
  /** Its id in the table; null for a path that is not there. */
  readonly operation: string | null;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly record: RecordNamed | null;
  /** SHA-256 of the body as it is sent, in hex. */
  readonly digest: string;
  /** The draft that it sends. */
  readonly draft: number | null;
  /** The row of the journal that it belongs to. */
  readonly row?: string;
  /** No write, but the record itself: it is switched off or on. */
  readonly recording?: 'off' | 'on';
};

/** A line of the file. An entry has two: `sent`, and what became of it, with the same `seq`. */
export type Line = About & {
  readonly seq: number;
  /** The newest `seq` so far. */
  readonly newest: number;
  /** Counts the lines over all files. */
  readonly line: number;
  /** ISO 8601. */
  readonly time: string;
  readonly outcome: Outcome;
  /** The HTTP status, where there was an answer. */
  readonly status: number | null;
  /** With `audit full`: what was sent. */
  readonly body?: string;
  /** The digest of the line before, of the file before where it is the first; null at the very beginning. */
  readonly prev: string | null;
};

type OfLine = Pick<Line, 'seq' | 'newest' | 'line' | 'time' | 'record' | 'outcome' | 'status' | 'prev'>;

/**
 * A line as it is written. `sum` is of all that stands before it: it tells a line that was changed from one that follows a
 * changed one.
 */
export function lineText(about: string, { seq, newest, line, time, record, outcome, status, prev }: OfLine): string {
  const text = `{"seq":${seq},"newest":${newest},"line":${line},"time":"${time}",${about},"record":${JSON.stringify(record)},"outcome":"${outcome}","status":${status},"prev":${prev === null ? null : `"${prev}"`}`;
  return `${text},"sum":"${sumOf(text)}"}`;
}

/** FNV-1a over UTF-16 units, of 32 bits: it finds the place; that nobody can forge it is what the digests are for. */
function sumOf(text: string): string {
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193);
  return (sum >>> 0).toString(16).padStart(8, '0');
}

/** The numbers that every line begins with, which is all that the next one goes on from. */
export function numbersOf(line: string): Pick<Line, 'newest' | 'line'> | undefined {
  const found = /^\{"seq":\d{1,15},"newest":(\d{1,15}),"line":(\d{1,15}),/u.exec(line);
  return found ? { newest: Number(found[1]), line: Number(found[2]) } : undefined;
}

/** What both lines of an entry say: made once. `body`: of the first one alone. */
export function aboutText({ record: _, ...about }: About, body?: string): string {
  return JSON.stringify(body === undefined ? about : { ...about, body }).slice(1, -1);
}

/** Undefined for what is no line of the record, or was changed. */
export function parseLine(text: string): Line | undefined {
  const end = /,"sum":"([\da-f]{8})"\}$/u.exec(text);
  if (!end || sumOf(text.slice(0, end.index)) !== end[1]) return undefined;
  return readLine(text);
}

/** The same where it may have been changed. */
export function readLine(text: string): Line | undefined {
  const { sum: _, ...line } = fieldsIn(jsonIn(text));
  return isLine(line) ? line : undefined;
}

function isLine(value: unknown): value is Line {
  if (!isRecord(value)) return false;
  const { seq, newest, line, time, outcome, face, command, path } = value;
  const areTexts = [time, face, command, path].every((one) => typeof one === 'string');
  return [seq, newest, line].every(Number.isSafeInteger) && areTexts && outcomes.some((one) => one === outcome);
}

import type { Tally } from './chunks.ts';
import type { Problem } from './rows.ts';

/** The first line: what was being done to what. */
export type Header = {
  readonly svc_sync: 1;
  /** Absolute path; null for standard input. */
  readonly file: string | null;
  /** SHA-256 of the content. */
  readonly content: string;
  /** A digest of the service, the account and the operation. */
  readonly destination: string;
  readonly rows: number;
  readonly started_at: string;
};

export type Done = Tally & {
  readonly chunk: number;
  readonly first_line: number;
  /** Rows of the file. */
  readonly rows: number;
  readonly unaccounted: number;
  /** Requests made since the line before, repetitions included. */
  readonly requests: number;
  /** Since this run began. */
  readonly ms: number;
  readonly errors: readonly Problem[];
};

export type Line =
  | Header
  | { readonly run: { readonly at: string } }
  | { readonly sent: { readonly chunk: number; readonly first_line: number; readonly rows: number } }
  | { readonly done: Done }
  | { readonly finished: { readonly at: string } };

/** What a journal says. */
export type Past = {
  readonly header: Header;
  readonly done: ReadonlyMap<number, Done>;
  readonly finishedAt: string | undefined;
  /** Spent by earlier runs. */
  readonly ms: number;
  readonly requests: number;
  /** Bytes up to the end of the last good line. */
  readonly goodLength: number;
};

export type Reading =
  | { readonly kind: 'past'; readonly past: Past }
  /** Nothing of it can be read, and there is nothing in it: the process was stopped while it wrote the first line. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'damaged'; readonly line: number };

/**
 * A crash tears the end of a file, never its middle. So lines at the end that cannot be read are forgotten: what they
 * told is done again, which sync makes harmless. A line in the middle that cannot be read is damage from elsewhere.
 */
export function readJournal(bytes: Buffer): Reading {
  const done = new Map<number, Done>();
  let header: Header | undefined;
  let finishedAt: string | undefined;
  let goodLength = 0;
  let firstBad: number | undefined;
  let ms = 0;
  let msOfRun = 0;
  let requests = 0;
  for (const { text, number, end } of linesOf(bytes)) {
    const line = parseLine(text);
    const fits = line !== undefined && 'svc_sync' in line === (number === 1);
    if (!fits) {
      firstBad ??= number;
      continue;
    }
    if (firstBad !== undefined) return { kind: 'damaged', line: firstBad };
    goodLength = end;
    if ('svc_sync' in line) header = line;
    else if ('run' in line) {
      ms += msOfRun;
      msOfRun = 0;
    } else if ('done' in line) {
      done.set(line.done.chunk, line.done);
      msOfRun = Math.max(msOfRun, line.done.ms);
      requests += line.done.requests;
    } else if ('finished' in line) finishedAt = line.finished.at;
  }
  if (header === undefined) return { kind: 'empty' };
  return { kind: 'past', past: { header, done, finishedAt, ms: ms + msOfRun, requests, goodLength } };
}

/** Only lines that end: the last one without a line feed was torn. */
function* linesOf(bytes: Buffer) {
  let start = 0;
  for (let number = 1; ; number++) {
    const end = bytes.indexOf(10, start);
    if (end < 0) return;
    yield { text: bytes.toString('utf8', start, end), number, end: end + 1 };
    start = end + 1;
  }
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isTime = (value: unknown): boolean => typeof value === 'string' && !Number.isNaN(Date.parse(value));

const counts = [
  'chunk',
  'first_line',
  'rows',
  'created',
  'updated',
  'synced',
  'unaccounted',
  'requests',
  'ms',
] as const;

function parseLine(text: string): Line | undefined {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof line !== 'object' || line === null) return undefined;
  return isLine(line as Record<string, never>) ? (line as Line) : undefined;
}

function isLine(line: Record<string, Record<string, unknown>>): boolean {
  if ('svc_sync' in line) {
    const { svc_sync, content, destination, rows, started_at } = line as Record<string, unknown>;
    return (
      svc_sync === 1 &&
      typeof content === 'string' &&
      typeof destination === 'string' &&
      isCount(rows) &&
      isTime(started_at)
    );
  }
  if (line.run) return isTime(line.run.at);
  if (line.sent) return isCount(line.sent.chunk) && isCount(line.sent.first_line) && isCount(line.sent.rows);
  if (line.finished) return isTime(line.finished.at);
  const { done } = line;
  return !!done && counts.every((name) => isCount(done[name])) && Array.isArray(done.errors);
}

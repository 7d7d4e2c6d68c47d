import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { removeDrafts, replaceFile } from '../../../disk/file/atomic-file.ts';
import { removeFile } from '../../../disk/file/folder.ts';
import { readAt, type Span } from '../../../disk/log/log-file.ts';
import { type Counted, inboxFile } from './file.ts';
import { type Index, openIndex, removeIndexes, syncIndex } from './index-file.ts';
import type { Stretch } from './index-run.ts';

/** What the first part of an inbox says, as far as its index reaches: so it need not be read again. */
export type Known = {
  /** The last that was written. */
  readonly limit: number;
  readonly arrivals: number;
  /** Of those, how many a rewriting may leave out. */
  readonly idle: number;
  /** Each sink that ever had something to do. */
  readonly sinks: readonly string[];
  readonly counted: Counted;
  /** Where the index ends. */
  readonly end: number;
  /** The lines of what somebody still waits for, and of dead letters. */
  readonly open: readonly Span[];
};

const knownFile = 'inbox.known';
const closedFile = 'inbox.closed';
const version = 1;

/** Of so many bytes at the beginning and at the end, so that another inbox is not taken for this one. */
const compared = 64 * 1024;

export async function saveKnown(folder: string, index: Index, known: Known): Promise<void> {
  const inbox = await open(join(folder, inboxFile), 'r');
  const ends = await endsOf(inbox, known.end).finally(() => inbox.close());
  const about = index.runs.map(({ filter: _, firsts: __, ...stretch }) => stretch);
  const head = Buffer.from(
    `${JSON.stringify({ version, index: index.name, runs: about, ends, ...known, open: known.open.length })}\n`,
  );
  const spans = new Float64Array(known.open.flatMap(({ start, length }) => [start, length]));
  const rest = Buffer.concat([head, Buffer.from(spans.buffer)]);
  await syncIndex(index);
  await replaceFile(join(folder, knownFile), Buffer.concat([Buffer.from(sumOf(rest)), rest]));
}

const sumOf = (bytes: Uint8Array): string => `${crc32(bytes).toString(16).padStart(8, '0')}\n`;

/** Undefined where there is none, or where it is damaged or of another inbox. To be closed by whoever opens it. */
export async function openKnown(folder: string, inbox: FileHandle, flags: 'r' | 'r+') {
  const bytes = await readFile(join(folder, knownFile)).catch(() => undefined);
  if (!bytes || bytes.toString('latin1', 0, 9) !== sumOf(bytes.subarray(9))) return undefined;
  const end = bytes.indexOf(10, 9) + 1;
  const said = JSON.parse(bytes.toString('utf8', 9, end));
  if (said.version !== version) return undefined;
  const runs: readonly Stretch[] = said.runs;
  if (said.ends !== (await endsOf(inbox, said.end))) return undefined;
  const index = await openIndex(folder, { name: said.index, runs, flags });
  const known: Known = { ...said, open: spansIn(bytes.subarray(end)) };
  return index && { index, known };
}

function spansIn(bytes: Buffer): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at + 16 <= bytes.length; at += 16) {
    spans.push({ start: bytes.readDoubleLE(at), length: bytes.readDoubleLE(at + 8) });
  }
  return spans;
}

async function endsOf(inbox: FileHandle, end: number): Promise<string> {
  const length = Math.min(end, compared);
  const [first, last] = [
    await readAt(inbox, { start: 0, length }),
    await readAt(inbox, { start: end - length, length }),
  ];
  return first && last ? `${end} ${crc32(first)} ${crc32(last)}` : 'shorter';
}

/** Nothing is known of the inbox any more: it is read as a whole the next time. */
export async function forgetKnown(folder: string): Promise<void> {
  await removeFile(join(folder, knownFile));
  await removeFile(join(folder, closedFile));
  await removeIndexes(folder);
}

/** The inbox itself: what else stands in the folder stays. */
export async function removeInbox(folder: string): Promise<void> {
  await removeFile(join(folder, inboxFile));
  await forgetKnown(folder);
}

/** The inbox was closed, and nobody has changed it yet. */
export async function stampClosed(folder: string): Promise<void> {
  await replaceFile(join(folder, closedFile), JSON.stringify(await stampOf(folder)));
}

/**
 * Whether anybody changed the inbox since it was closed; undefined where it never was, for its process was killed. From
 * now on it is in use.
 */
export async function wasChanged(folder: string): Promise<boolean | undefined> {
  const path = join(folder, closedFile);
  await removeDrafts(path);
  await removeDrafts(join(folder, knownFile));
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const now = await stampOf(folder);
  await removeFile(path);
  return text !== JSON.stringify(now);
}

async function stampOf(folder: string): Promise<{ readonly size: string; readonly mtime: string }> {
  const { size, mtimeNs } = await stat(join(folder, inboxFile), { bigint: true });
  return { size: String(size), mtime: String(mtimeNs) };
}

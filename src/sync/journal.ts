import { appendFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOfAll, type JournalFolder, journalFolder, type Wording } from '../batch/journal-folder.ts';
import { type Finished, prune } from '../batch/journal-prune.ts';
import type { Clock } from '../context.ts';
import { isThere } from '../disk/file/atomic-file.ts';
import { bytesAt } from '../disk/file/file-head.ts';
import { Failure, orElse } from '../errors.ts';
import { type Chunk, lineCount, type Outcome } from './chunks.ts';
import { type Header, journalReader, type Line, type Past } from './journal-lines.ts';

/** What a run is recognised by. */
export type Identity = {
  readonly file: string | undefined;
  readonly content: string;
  readonly rows: number;
  /** The service, the account, and the operation with its list: of two runs with the same, the second refuses. */
  readonly destination: string;
  /** As version 0.1.0 named it, by the credential: what it left unfinished goes on. */
  readonly formerly?: readonly string[];
  /** How rows are made of the file. */
  readonly mapping: string;
};

/** How an earlier run bears upon this one. */
export type Earlier =
  | { readonly kind: 'none' }
  | { readonly kind: 'interrupted' | 'finished' | 'restarted' | 'changed' | 'remapped'; readonly at: string };

export type Journal = Awaited<ReturnType<typeof openJournal>>;

type Options = {
  readonly restart: boolean;
  readonly clock: Pick<Clock, 'now'>;
  /** The clock agrees with the service's. */
  readonly isClockSure?: boolean;
};

const nothingDone: Pick<Past, 'done' | 'open' | 'ms' | 'requests'> = { done: new Map(), ms: 0, requests: 0 };

const wording: Wording = {
  doing: 'syncing this file',
  again: 'it resumes.',
  journal: 'this sync',
  earlier: 'this sync',
  damagedHint: () => 'Nothing was sent. To start from scratch, add --restart: existing contacts are only completed.',
};

/**
 * One file for each content, mapping, account and service: lines of JSON, each on disk before the next step is taken.
 * Throws where another run of the same content is under way, and where the journal is damaged before its end.
 */
export async function openJournal(state: string, identity: Identity, { restart, clock, isClockSure = false }: Options) {
  const folder = journalFolder(join(state, 'sync'), wording);
  const destination = digest(identity.destination);
  const where = digest(identity.content, destination);
  const held = await folder.lock(where);
  try {
    const nameAt = (place: string) => join(folder.path, `${place}-${digest(identity.mapping)}.jsonl`);
    const path = nameAt(where);
    for (const former of identity.formerly ?? [])
      await takeOver(nameAt(digest(identity.content, digest(former))), path);
    const now = clock.now().toISOString();
    const before = await pastOf(folder, path, restart);
    const resumed = before?.finishedAt === undefined && !restart ? before : undefined;
    const earlier: Earlier = resumed
      ? { kind: 'interrupted', at: resumed.header.started_at }
      : (beginsAgain(before, restart) ?? (await otherRun(folder, identity, destination)));
    if (!resumed) {
      const { content, rows, file = null } = identity;
      const header: Header = { svc_sync: 1, file, content, destination, rows, started_at: now };
      await folder.begin(path, toText(header));
      const pruning = { folder: folder.path, written: path, now: isClockSure ? clock.now() : undefined };
      await prune({ ...pruning, finished: (old) => finishedIn(folder, old), date: dateFinished }).catch(() => {});
    }
    const log = await folder.open(path, { take: journalReader().take, syncs: 'alone', held });
    // After a line that failed none is written: the run ends, and the next one goes on from what is there.
    let last: Promise<void> = Promise.resolve();
    const append = (line: Line) => {
      last = last.then(() => folder.onDisk(() => log.append(toText(line))));
      return last;
    };
    await append({ run: { at: now } });
    return {
      path,
      earlier,
      past: resumed ?? nothingDone,
      /** Fires once another process has the journal. */
      lost: held.lost,
      /** Throws then; to be asked right before each request. */
      check: held.check,
      /** Each resolves when its line is on disk. */
      sent: (chunk: Chunk) => append({ sent: about(chunk) }),
      /** Nothing came of it. */
      back: (chunk: Chunk) => append({ back: about(chunk) }),
      done: (chunk: Chunk, { problems, ...counts }: Outcome, requests: number, ms: number) =>
        append({ done: { ...about(chunk), ...counts, requests, ms, errors: problems } }),
      finished: () => append({ finished: { at: clock.now().toISOString(), ...(isClockSure && { sure: true }) } }),
      /** Lets another run begin. */
      async close() {
        // What a disk that went away did not take is told by the line that failed.
        await log.close().catch(() => {});
        await held.release().catch(() => {});
      },
    };
  } catch (error) {
    await held.release();
    throw error;
  }
}

const about = (chunk: Chunk) => ({
  chunk: chunk.number,
  first_line: chunk.rows[0]?.line ?? 0,
  rows: lineCount(chunk),
});

const toText = (line: Line): string => `${JSON.stringify(line)}\n`;

/** A journal that version 0.1.0 named after the credential. */
async function takeOver(former: string, path: string): Promise<void> {
  if (former === path || (await isThere(path)) || !(await isThere(former))) return;
  await rename(former, path);
}

async function finishedIn(folder: JournalFolder, path: string): Promise<Finished | undefined> {
  const lines = journalReader();
  // Of what cannot be read to its end nobody knows what came after the end of a run.
  const isRead = await folder.read(path, { take: lines.take }).catch(() => false);
  const { finishedAt: at, isFinishSure: sure } = lines.past() ?? {};
  return !isRead || at === undefined ? undefined : { at, sure };
}

const dateFinished = (path: string, now: Date): Promise<void> =>
  appendFile(path, toText({ finished: { at: now.toISOString(), sure: true } }));

async function pastOf(folder: JournalFolder, path: string, restart: boolean): Promise<Past | undefined> {
  const lines = journalReader();
  try {
    const isThere = await folder.read(path, { take: lines.take });
    const past = lines.past();
    if (isThere && !past) throw folder.headless(path);
    return past;
  } catch (error) {
    if (restart && error instanceof Failure) return undefined;
    throw error;
  }
}

/** Why this run begins at the first row, though there was one of the same content and mapping. */
function beginsAgain(before: Past | undefined, restart: boolean): Earlier | undefined {
  if (before === undefined) return undefined;
  if (restart) return { kind: 'restarted', at: before.header.started_at };
  return { kind: 'finished', at: before.finishedAt ?? before.header.started_at };
}

/** The last run of a file of that name with another content or mapping. */
async function otherRun(folder: JournalFolder, identity: Identity, destination: string): Promise<Earlier> {
  let latest: Earlier = { kind: 'none' };
  for (const header of await headersIn(folder)) {
    if (header.file === null || header.file !== identity.file || header.destination !== destination) continue;
    if (latest.kind !== 'none' && latest.at >= header.started_at) continue;
    latest = { kind: header.content === identity.content ? 'remapped' : 'changed', at: header.started_at };
  }
  return latest;
}

const headLength = 16_384;

async function headersIn(folder: JournalFolder): Promise<Header[]> {
  const found: Header[] = [];
  for (const path of await folder.list()) {
    const start = orElse(() => bytesAt(path, 0, headLength), Buffer.alloc(0));
    const lines = journalReader();
    lines.take(start.subarray(0, Math.max(0, start.indexOf(10))));
    const { header } = lines.past() ?? {};
    if (header) found.push(header);
  }
  return found;
}

const digest = (...parts: readonly string[]): string => digestOfAll(24, parts);

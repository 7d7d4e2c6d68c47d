import { mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../context.ts';
import { openLog, readLog } from '../disk/append-log.ts';
import { replaceFile } from '../disk/atomic-file.ts';
import { diskFailure } from '../disk/disk-failure.ts';
import { holders, type Release, tryLock } from '../disk/lock.ts';
import { thisBoot } from '../disk/lock-entry.ts';
import type { Recovery } from '../disk/log-file.ts';
import { Failure } from '../errors.ts';
import { hexDigestOf } from '../text/digest.ts';
import { applyLine, type Fate, type Header, journalReader, type Line, type Past } from './journal-lines.ts';

/** What a run is known by. */
export type Identity = {
  readonly command: string;
  readonly file: string | undefined;
  /** The service and the account. */
  readonly destination: string;
  /** What the command line says for every row. */
  readonly settings: string;
};

/** A journal of this file and command that is on disk. */
export type Found = { readonly path: string; readonly past: Past };

/** What the state folder knows of this file and command. While it is held, no other run of them begins. */
export type Journals = {
  /** With the same settings, the latest first. */
  readonly same: readonly Found[];
  /** Not finished, and begun with other settings, or for another account. */
  readonly others: readonly Found[];
  /** Goes on in a journal, or begins a new one in place of `replaces`. */
  open(on: { readonly found?: Found; readonly replaces?: Found }): Promise<Journal>;
  release(): Promise<void>;
};

export type Journal = {
  readonly path: string;
  readonly fates: Map<string, Fate>;
  readonly past: Pick<Past, 'requests' | 'ms'>;
  /** Whether a later run can tell a process that was killed from a power cut. */
  readonly tellsKills: boolean;
  /** Resolves when the line is in the file, and on disk where more than a look depends on it. After a failure none is. */
  write(line: Exclude<Line, Header>): Promise<void>;
  /** Takes the secrets out again, once they are where they belong. */
  forgetSecrets(): Promise<void>;
  /** Why nothing more can be written. */
  failure(): Failure | undefined;
  close(): Promise<void>;
};

type Ports = { readonly state: string; readonly clock: Pick<Clock, 'now'> };

/** Journals of runs that are over help nobody after that time. */
const keptForMs = 90 * 24 * 60 * 60 * 1000;

const markLength = 12;
const mark = {
  text: (end: number) => `{"svc_bulk_bytes":"${String(end).padStart(markLength, '0')}"}\n`,
  read: (first: string) => {
    const digits = /^\{"svc_bulk_bytes":"(\d{12})"\}\n$/u.exec(first)?.[1];
    return digits === undefined ? undefined : Number(digits);
  },
};

export async function openJournals({ state, clock }: Ports, identity: Identity): Promise<Journals> {
  const folder = join(state, 'bulk');
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const account = digest(identity.destination);
    const place = digest(account, identity.command, identity.file ?? '-');
    const settings = digest(identity.settings);
    const release = await locked(join(folder, `${place}.lock`));
    try {
      const boot = await thisBoot();
      const all = await journalsIn(folder, place, identity, boot);
      const same = all.filter(({ past: { header } }) => header.place === place && header.settings === settings);
      const others = all.filter(
        ({ past: { header, finishedAt, fates } }) =>
          finishedAt === undefined && fates.size > 0 && (header.place !== place || header.settings !== settings),
      );
      const open: Journals['open'] = async ({ found, replaces }) => {
        if (found) return openOne(found, clock, boot);
        const now = clock.now().toISOString();
        const { command, file = null } = identity;
        const header: Header = { svc_bulk: 1, command, file, place, account, settings, started_at: now };
        const path =
          replaces?.path ?? join(folder, `${place}-${settings}-${Math.random().toString(36).slice(2, 12)}.jsonl`);
        const text = `${JSON.stringify(header)}\n`;
        await replaceFile(path, mark.text(mark.text(0).length + Buffer.byteLength(text)) + text);
        await prune(folder, path, clock.now().getTime());
        const past = { header, fates: new Map(), finishedAt: undefined, requests: 0, ms: 0 };
        return openOne({ path, past }, clock, boot);
      };
      return { same, others, open, release };
    } catch (error) {
      await release();
      throw error;
    }
  } catch (error) {
    throw unwritable(error);
  }
}

async function locked(path: string): Promise<Release> {
  const release = await tryLock(path);
  if (release) return release;
  const [pid] = await holders(path);
  throw new Failure('failed', `Another svc is sending the rows of this file${pid ? ` (process ${pid})` : ''}.`, {
    hint: 'Wait until it is done, or stop it. Then run this command again: it goes on.',
  });
}

async function openOne({ path, past }: Found, clock: Ports['clock'], boot: string | undefined): Promise<Journal> {
  const log = await openLog(path, { ...recovery(path, journalReader(boot)), room: 'ahead' }).catch((error) => {
    throw unwritable(error);
  });
  let failed: Failure | undefined;
  const fates = new Map(past.fates);
  const write: Journal['write'] = async (line) => {
    if (failed) throw failed;
    try {
      const text = `${JSON.stringify(line)}\n`;
      await (mustBeOnDisk(line, fates) ? log.append(text) : log.note(text));
      applyLine(fates, line);
    } catch (error) {
      failed ??= unwritable(error);
      throw failed;
    }
  };
  await write({ run: { at: clock.now().toISOString(), boot } }).catch(async (error) => {
    await log.close();
    throw error;
  });
  const forgetSecrets = async () => {
    if (![...fates.values()].some((fate) => 'secret' in fate)) return;
    const now = clock.now().toISOString();
    await log.rewrite(() => ({ pieces: [Buffer.from(withoutSecrets(past.header, fates, now))] }));
  };
  return {
    path,
    fates,
    past,
    tellsKills: boot !== undefined,
    write,
    forgetSecrets,
    failure: () => failed,
    close: () => log.close(),
  };
}

/**
 * Without `meant` or `sent` on disk a row could go out twice. A row that is meant there may have left, whether its `sent`
 * is on disk or not. Of the others a power cut may take the last ones: then the next run looks for the rows.
 */
function mustBeOnDisk(line: Exclude<Line, Header>, fates: ReadonlyMap<string, Fate>): boolean {
  if ('sent' in line) return fates.get(line.sent.row)?.status !== 'meant';
  return 'meant' in line || 'finished' in line || ('done' in line && line.done.secret !== undefined);
}

/** The journal of a run that is over, as short as it can be said. */
function withoutSecrets(header: Header, fates: ReadonlyMap<string, Fate>, now: string): string {
  const cost = { requests: 0, ms: 0 };
  const lines = [...fates].flatMap(([row, fate]): Line[] => {
    const { status, line } = fate;
    if (status === 'done') return [{ done: { row, line, id: fate.id, ...cost } }];
    if (status === 'rejected') return [{ rejected: { row, line, error: fate.error, ...cost } }];
    const sent: Line = { sent: { row, line, before: fate.before } };
    return status !== 'unknown' ? [sent] : [sent, { unknown: { row, line, error: fate.error, ...cost } }];
  });
  const isFinished = [...fates.values()].every(({ status }) => status !== 'sent' && status !== 'meant');
  const all: Line[] = [header, ...lines, ...(isFinished ? [{ finished: { at: now } }] : [])];
  const text = all.map((line) => `${JSON.stringify(line)}\n`).join('');
  return mark.text(mark.text(0).length + Buffer.byteLength(text)) + text;
}

const recovery = (path: string, lines: ReturnType<typeof journalReader>): Recovery => ({
  take: lines.take,
  mark,
  damaged: ({ line }) =>
    new Failure('failed', `The journal of this file is damaged in line ${line}: ${path}`, {
      hint: `Nothing was sent. svc cannot tell which rows were sent. To send all rows, remove it: rm '${path}'`,
    }),
});

/** Of this command and file, for whatever account. */
async function journalsIn(
  folder: string,
  place: string,
  { command, file }: Identity,
  boot: string | undefined,
): Promise<Found[]> {
  const found: (Found & { readonly changedMs: number })[] = [];
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.jsonl')) continue;
    const path = join(folder, name);
    const lines = journalReader(boot);
    await readLog(path, recovery(path, lines)).catch((error) => {
      // One that is damaged stands in the way of its own command and file alone.
      if (!(error instanceof Failure) || name.startsWith(place)) throw error;
    });
    const past = lines.past();
    if (past?.header.command !== command || past.header.file !== (file ?? null)) continue;
    found.push({ path, past, changedMs: (await stat(path)).mtimeMs });
  }
  return found.sort((a, b) => b.changedMs - a.changedMs);
}

async function prune(folder: string, current: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = path === current ? undefined : await stat(path).catch(() => undefined);
    if (found === undefined || now - found.mtimeMs <= keptForMs) continue;
    // A lock that is held is no empty folder, and stays.
    if (name.endsWith('.lock')) await rmdir(path).catch(() => {});
    else await rm(path, { force: true });
  }
}

function unwritable(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const told = diskFailure(
    error,
    'The journal cannot be written',
    'Make room and run the same command again: it goes on.',
  );
  if (told instanceof Failure) return told;
  throw error;
}

const digest = (...parts: readonly string[]): string => hexDigestOf(JSON.stringify(parts)).slice(0, 20);

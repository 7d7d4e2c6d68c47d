import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock } from '../context.ts';
import type { Held } from '../disk/lock.ts';
import { thisBoot } from '../disk/lock-entry.ts';
import { Failure } from '../errors.ts';
import { digestOfAll, type JournalFolder, journalFolder, type Wording } from './journal-folder.ts';
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
  readonly held: Held;
};

export type Journal = {
  readonly path: string;
  readonly fates: Map<string, Fate>;
  readonly past: Pick<Past, 'requests' | 'ms' | 'isBelieved' | 'there'>;
  /** Whether a later run can tell a process that was killed from a power cut. */
  readonly tellsKills: boolean;
  /** Resolves when the line is in the file, and on disk where more than a look depends on it. After a failure none is. */
  write(line: Exclude<Line, Header>): Promise<void>;
  /** Throws where another process has the journal now; to be asked right before each request. */
  check(): void;
  /** Takes the secrets out again, once they are where they belong. */
  forgetSecrets(): Promise<void>;
  /** Why nothing more can be written. */
  failure(): Failure | undefined;
  close(): Promise<void>;
};

type Ports = { readonly state: string; readonly clock: Pick<Clock, 'now'> };

const wording: Wording = {
  doing: 'sending the rows of this file',
  again: 'it goes on.',
  journal: 'this file',
  damagedHint: (path) =>
    `Nothing was sent. svc cannot tell which rows were sent. To send all rows, remove it: rm '${path}'`,
  fullHint: 'Make room on the disk first.',
};

const markLength = 12;
const mark = {
  text: (end: number) => `{"svc_bulk_bytes":"${String(end).padStart(markLength, '0')}"}\n`,
  read: (first: string) => {
    const digits = /^\{"svc_bulk_bytes":"(\d{12})"\}\n$/u.exec(first)?.[1];
    return digits === undefined ? undefined : Number(digits);
  },
};

/** What all journals of a run are opened with. */
type Opening = {
  readonly folder: JournalFolder;
  readonly clock: Ports['clock'];
  readonly boot: string | undefined;
  readonly held: Held;
};

export async function openJournals({ state, clock }: Ports, identity: Identity): Promise<Journals> {
  const folder = journalFolder(join(state, 'bulk'), clock, wording);
  const account = digest(identity.destination);
  const place = digest(account, identity.command, identity.file ?? '-');
  const settings = digest(identity.settings);
  const held = await folder.lock(place);
  try {
    const opening = { folder, clock, held, boot: await thisBoot() };
    const all = await folder.onDisk(() => journalsIn(opening, place, identity));
    const same = all.filter(({ past: { header } }) => header.place === place && header.settings === settings);
    const others = all.filter(
      ({ past: { header, finishedAt, fates } }) =>
        finishedAt === undefined && fates.size > 0 && (header.place !== place || header.settings !== settings),
    );
    const open: Journals['open'] = async ({ found, replaces }) => {
      // A person may have thought about the question for as long as they like.
      held.check();
      if (found) return openOne(opening, found);
      const { command, file = null } = identity;
      const started_at = clock.now().toISOString();
      const header: Header = { svc_bulk: 1, command, file, place, account, settings, started_at };
      const name = `${place}-${settings}-${Math.random().toString(36).slice(2, 12)}.jsonl`;
      const path = replaces?.path ?? join(folder.path, name);
      await folder.begin(path, withMark([header]));
      const past = {
        header,
        fates: new Map(),
        finishedAt: undefined,
        requests: 0,
        ms: 0,
        isBelieved: true,
        there: new Map(),
      };
      return openOne(opening, { path, past });
    };
    return { same, others, open, held };
  } catch (error) {
    await held.release();
    throw error;
  }
}

async function openOne({ folder, clock, boot, held }: Opening, { path, past }: Found): Promise<Journal> {
  const log = await folder.open(path, { take: journalReader(boot).take, mark, room: 'ahead', held });
  let failed: Failure | undefined;
  const fates = new Map(past.fates);
  const write: Journal['write'] = async (line) => {
    if (failed) throw failed;
    try {
      const text = `${JSON.stringify(line)}\n`;
      await folder.onDisk(() => (mustBeOnDisk(line, fates) ? log.append(text) : log.note(text)));
      applyLine(fates, line);
    } catch (error) {
      if (error instanceof Failure) failed ??= error;
      throw error;
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
    check() {
      try {
        held.check();
      } catch (error) {
        if (error instanceof Failure) failed ??= error;
        throw error;
      }
    },
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
  // What may be done twice is done again after a power cut, in the order of the file.
  if ('sent' in line) return line.sent.keys === undefined && fates.get(line.sent.row)?.status !== 'meant';
  return 'meant' in line || 'finished' in line || ('done' in line && line.done.secret !== undefined);
}

/** The journal of a run that is over, as short as it can be said. */
function withoutSecrets(header: Header, fates: ReadonlyMap<string, Fate>, now: string): string {
  const cost = { requests: 0, ms: 0 };
  const lines = [...fates].flatMap(([row, fate]): Line[] => {
    const { status, line } = fate;
    if (status === 'done')
      return [{ done: { row, line, id: fate.id, ...(fate.error !== undefined && { error: fate.error }), ...cost } }];
    if (status === 'rejected') return [{ rejected: { row, line, error: fate.error, ...cost } }];
    const sent: Line = { sent: { row, line, before: fate.before } };
    return status !== 'unknown' ? [sent] : [sent, { unknown: { row, line, error: fate.error, ...cost } }];
  });
  const isFinished = [...fates.values()].every(({ status }) => status !== 'sent' && status !== 'meant');
  const all: Line[] = [header, ...lines, ...(isFinished ? [{ finished: { at: now } }] : [])];
  return withMark(all);
}

function withMark(lines: readonly Line[]): string {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return mark.text(mark.text(0).length + Buffer.byteLength(text)) + text;
}

/** Of this command and file, for whatever account. */
async function journalsIn({ folder, boot }: Opening, place: string, { command, file }: Identity): Promise<Found[]> {
  const found: (Found & { readonly changedMs: number })[] = [];
  for (const path of await folder.list()) {
    const lines = journalReader(boot);
    await folder.read(path, { take: lines.take, mark }).catch((error) => {
      // One that is damaged stands in the way of its own command and file alone.
      if (!(error instanceof Failure) || basename(path).startsWith(place)) throw error;
    });
    const past = lines.past();
    if (past?.header.command !== command || past.header.file !== (file ?? null)) continue;
    found.push({ path, past, changedMs: (await stat(path)).mtimeMs });
  }
  return found.sort((a, b) => b.changedMs - a.changedMs);
}

const digest = (...parts: readonly string[]): string => digestOfAll(20, parts);

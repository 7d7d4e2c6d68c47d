import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Account } from '../../batch/account.ts';
import { digestOfAll, type JournalFolder, unreadable } from '../../batch/journal-folder.ts';
import { bytesAt } from '../../disk/file/file-head.ts';
import { namesIn } from '../../disk/file/folder.ts';
import { randomName } from '../../disk/file/random-name.ts';
import { hexDigestOf } from '../../text/digest.ts';
import type { RowRequests } from '../rows/row-requests.ts';
import { parseLine } from './check.ts';
import type { FormerHeader, Header } from './lines.ts';
import { journalReader, type Past, type Present, voidKey } from './reader.ts';
import { mark } from './text.ts';

/** What a run is known by. Where its rows stand is none of it, and neither is how svc logged in. */
export type Identity = {
  readonly account: Account;
  /** The words behind `svc`. */
  readonly command: string;
  /** What the command line says for every row. */
  readonly settings: string;
  /** For messages, and for journals that know rows by it; undefined for standard input. */
  readonly file: string | undefined;
};

/** The digests that journals are found by. */
export type Keys = ReturnType<typeof keysOf>;

export function keysOf({ account, command, settings }: Identity) {
  const { service, id, isKnown, formerly } = account;
  const [known, unknown] = [digest(service, 'known', command), digest(service, 'unknown', command)];
  return {
    scope: digest(service, id, command),
    /** Of a service and a command alone: whether the account of `scope` is known. */
    profile: isKnown ? known : unknown,
    /** The `profile` of those that may be of this account, or not. */
    doubtful: isKnown ? [unknown] : [unknown, known],
    settings: digestOfSettings(settings),
    /** As version 0.1.0 named the account. */
    formerly: new Set(formerly.map((one) => digest(JSON.stringify(one)))),
  };
}

type Named = Pick<Header, 'scope' | 'profile'>;

/** `strange`: one of the two does not know its account, and they are of different logins. */
const bearing = ({ scope, profile }: Named, keys: Keys): Bearing => {
  if (scope === keys.scope) return 'ours';
  return keys.doubtful.includes(profile) ? 'strange' : 'none';
};

/** Surely of this account and command, or perhaps. */
export const mayBeOurs = (one: Named, keys: Keys): boolean => bearing(one, keys) !== 'none';

/** A journal that cannot be read any more still says by its name whose it is. */
export const newName = ({ scope, profile }: Named): string => `${scope}.${profile}.${randomName()}.jsonl`;

export function scopeInName(name: string): Named | undefined {
  const [, scope, profile] = /^([\da-f]{20})\.([\da-f]{20})\./u.exec(name) ?? [];
  return scope && profile ? { scope, profile } : undefined;
}

/** What lies beside a journal is called as it is. */
export function isOfOthers(path: string, keys: Keys): boolean {
  const named = scopeInName(basename(path));
  return named !== undefined && !mayBeOurs(named, keys);
}

/** Under this name version 0.1.0 locks a run of the file. */
export const formerPlace = (account: string, command: string, file: string | null): string =>
  digest(account, command, file ?? '-');

/** `isFreed`: a later run was told to send rows of it once more. */
export type Found = { readonly path: string; readonly past: Past; readonly isFreed?: boolean };

/** Names the work of a journal, over all its runs. `voidedAt`: when a run of it last sent once more what was sent before. */
export const batchOf = (path: string, started: string, voidedAt = ''): string =>
  hexDigestOf([path, started, voidedAt].join('\n')).slice(0, 8);

/** Journals of this account and command. */
export type OnDisk = Awaited<ReturnType<typeof journalsOnDisk>>;

/**
 * Reads them. Throws where one is empty, cut short or damaged, and may be of this account and command: that never means
 * that nothing was sent.
 */
export async function journalsOnDisk(
  folder: JournalFolder,
  identity: Identity,
  { present, refs }: { readonly present: Present; readonly refs: RowRequests },
) {
  const keys = keysOf(identity);
  const ours: (Found & { readonly changedMs: number })[] = [];
  const strange: Found[] = [];
  for (const path of await folder.list()) {
    const bearing = await bearingOf(path, identity, keys);
    if (bearing === 'none') continue;
    const lines = journalReader(present, refs);
    // A run that has just ended may have taken it away, before it was read or since.
    const isRead = await folder.read(path, { take: lines.take, mark });
    const changed = isRead ? await stat(path).catch(unreadable(path)) : undefined;
    if (!changed) continue;
    const past = lines.past();
    if (!past) throw folder.headless(path);
    if (bearing === 'strange') strange.push({ path, past });
    else ours.push({ path, past, changedMs: changed.mtimeMs });
  }
  ours.sort((a, b) => b.past.lastRun - a.past.lastRun || b.changedMs - a.changedMs);
  return {
    /** The latest first; without the rows that a later run was told to send again. */
    ours: standing(ours),
    /** Of another credential where an account is not known, or of version 0.1.0: it may be another account, or not. */
    strange,
  };
}

/** Since which run earlier ones say nothing of a row that counts, by its `voidKey`. */
function voidedSince(all: readonly Found[]): ReadonlyMap<string, number> {
  const since = new Map<string, number>();
  for (const { past } of all) {
    for (const [key, run] of past.voided) since.set(key, Math.max(run, since.get(key) ?? 0));
  }
  return since;
}

function standing(all: readonly Found[]): Found[] {
  const since = voidedSince(all);
  if (since.size === 0) return [...all];
  return all.map(({ path, past }) => {
    const { header, rowStatuses } = past;
    const before = rowStatuses.size;
    const sinceOf = (...name: readonly [row: string, is?: string]) => since.get(voidKey(header.settings, ...name)) ?? 0;
    for (const row of rowStatuses.keys()) {
      const { is } = rowStatuses.get(row) ?? {};
      const last = Math.max(sinceOf(row), is === undefined ? 0 : sinceOf(row, is));
      if (rowStatuses.runOf(row) < last) rowStatuses.delete(row);
    }
    return { path, past, isFreed: rowStatuses.size < before };
  });
}

type Bearing = 'ours' | 'strange' | 'none';

async function bearingOf(path: string, { command, file }: Identity, keys: Keys): Promise<Bearing> {
  // The name that version 0.1.0 gave does not tell the command, so it may be any.
  if (isOfOthers(path, keys)) return 'none';
  const header = await headerOf(path);
  if (header === 'gone') return 'none';
  if (header === undefined) return 'ours';
  if (header.svc_bulk === 2) return bearing(header, keys);
  if (header.command !== command) return 'none';
  if (keys.formerly.has(header.account)) return 'ours';
  return header.file === (file ?? null) ? 'strange' : 'none';
}

/** More than the longest path and everything else of a header. */
const headLength = 32_768;

/** Undefined where it does not say. Throws where the file is there and the system does not give it. */
export async function headerOf(path: string): Promise<Header | FormerHeader | 'gone' | undefined> {
  const head = await headOf(path).catch(unreadable(path));
  if (head === undefined) return 'gone';
  const [first = '', second = ''] = head.split('\n', 2);
  const line = mark.read(`${first}\n`) === undefined ? undefined : parseLine(second);
  return line && 'svc_bulk' in line ? line : undefined;
}

const headOf = async (path: string): Promise<string> => bytesAt(path, 0, headLength).toString('utf8');

/** Whether an earlier run of this command has left anything: without that, a dry run needs no login. */
export async function mayBeKnown(folder: string, words: string): Promise<boolean> {
  const names = new Set(await namesIn(folder));
  for (const name of names) {
    // Rows without their journal: of a run that begins, or of one that was deleted.
    if (name.endsWith('.rows') && !names.has(name.replace(/\.rows$/u, '.jsonl'))) return true;
    const header = name.endsWith('.jsonl') ? await headerOf(join(folder, name)).catch(() => undefined) : 'gone';
    if (header !== 'gone' && (header === undefined || header.command === words)) return true;
  }
  return false;
}

const digest = (...parts: readonly string[]): string => digestOfAll(20, parts);

export const digestOfSettings = (settings: string): string => digest(settings);

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type JournalFolder, leftToItsOwn, unreadable } from '../../batch/journal-folder.ts';
import { codeOf, Failure } from '../../errors.ts';
import { someOf } from '../../text/each.ts';
import type { RowStatus } from './lines.ts';
import { type Found, headerOf, type Identity, keysOf, mayBeOurs } from './on-disk.ts';
import { journalReader, type Past, type Present } from './reader.ts';
import { mark } from './text.ts';

/** By this machine's clock. `isSure`: it agrees with the service's. */
export type Moment = { readonly ms: number; readonly isSure: boolean };

/**
 * A request of another run that was not answered. `content`: the digest of what it writes; `isKept`: the journal that tells
 * of it stays.
 */
export type Copy = {
  readonly keys: readonly string[];
  readonly content: string | undefined;
  readonly isKept: boolean;
};

type Asked = {
  readonly folder: JournalFolder;
  readonly present: Present;
  readonly now: Moment;
  readonly identity: Identity;
  /** The journals of this command; the one that this run goes on in is read by the run itself. */
  readonly ours: readonly Found[];
  readonly own: Found | undefined;
  /** The journal in the place of which a new one is written. */
  readonly replaces: Found | undefined;
};

/**
 * What runs of other files and of other commands for the same kind of record have left on its way: it would overwrite
 * what this run writes. A journal that says nothing readable is left to its own command, which refuses it.
 */
export async function copiesElsewhere({ folder, present, now, identity, ours, own, replaces }: Asked): Promise<Copy[]> {
  const known = new Map(ours.map((one) => [one.path, one]));
  const copies: Copy[] = [];
  for (const path of await folder.list()) {
    if (path === own?.path || (now.isSure && (await isLongAgo(path, now)))) continue;
    const past = known.get(path)?.past ?? (await pastOfKin(path, { folder, present, identity }));
    if (past && (await hasArrived({ path, past }, now))) continue;
    for (const [, rowStatus] of past?.rowStatuses.held() ?? []) {
      if (leavesCopy(rowStatus, now))
        copies.push({ keys: rowStatus.keys, content: rowStatus.is, isKept: path !== replaces?.path });
    }
  }
  return copies;
}

const hourMs = 60 * 60 * 1000;
/** Nothing is on its way for so long, also where a clock was set by hours. */
const longAgoMs = 24 * hourMs;

const isPast = ({ ms, isSure }: Moment, then: number, forMs: number): boolean =>
  Math.abs(ms - then) > (isSure ? forMs : longAgoMs);

async function isLongAgo(path: string, now: Moment, forMs = longAgoMs): Promise<boolean> {
  const changed = await stat(path).catch(unreadable(path));
  return changed === undefined || isPast(now, changed.mtimeMs, forMs);
}

/** Of a run that came to its end no clock was set meanwhile, and nothing goes out again. */
export const hasArrived = async ({ path, past }: Found, now: Moment): Promise<boolean> =>
  past.finished !== undefined && (!hasCopies(past, now) || (await isLongAgo(path, now, hourMs)));

const hasCopies = ({ rowStatuses }: Pick<Past, 'rowStatuses'>, now: Moment): boolean =>
  someOf(rowStatuses.held(), ([, rowStatus]) => leavesCopy(rowStatus, now));

/** Whether a request of a row may still write to its records. One that is done says since when; a journal may grow for years. */
export function leavesCopy<S extends RowStatus>(
  rowStatus: S,
  now: Moment,
): rowStatus is S & { readonly keys: readonly string[] } {
  if (!('keys' in rowStatus) || !rowStatus.keys) return false;
  return !('at' in rowStatus && rowStatus.at) || !isPast(now, Date.parse(rowStatus.at), hourMs);
}

/** What a journal says of a command like `tickets close` beside `tickets update`. */
async function pastOfKin(path: string, { folder, present, identity }: Pick<Asked, 'folder' | 'present' | 'identity'>) {
  const command = await kinIn(path, identity);
  if (command === undefined || command === identity.command) return undefined;
  const lines = journalReader(present);
  return folder
    .read(path, { take: lines.take, mark })
    .then(() => lines.past())
    .catch(leftToItsOwn);
}

/** The command of a journal that may be of this account, for records of one kind, and of which a request may overwrite; else undefined. */
export async function kinIn(path: string, identity: Identity): Promise<string | undefined> {
  const header = await headerOf(path).catch(ofAnotherUser);
  if (typeof header !== 'object' || header.svc_bulk !== 2) return undefined;
  const { command } = header;
  if (kindOf(command) !== kindOf(identity.command)) return undefined;
  if (!mayBeOurs(header, keysOf({ ...identity, command }))) return undefined;
  // Only what may overwrite has keys. Most journals are of creations, and long.
  return (await fileHas(path, '"keys":').catch(unreadable(path))) ? command : undefined;
}

/** For a `catch`: who may not open it has not written it either, and no run of theirs goes on from it. */
function ofAnotherUser(error: unknown): undefined {
  if (error instanceof Failure && codeOf(error.cause) === 'EACCES') return undefined;
  throw error;
}

const kindOf = (command: string): string | undefined => command.split(' ')[0];

/** Whether the text (ASCII) stands in the file, which may be large. */
async function fileHas(path: string, text: string): Promise<boolean> {
  let end = '';
  for await (const piece of createReadStream(path, { encoding: 'latin1' })) {
    if ((end + piece).includes(text)) return true;
    end = (end + piece).slice(1 - text.length);
  }
  return false;
}

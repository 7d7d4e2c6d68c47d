import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { diskWords } from '../../disk/file/disk-failure.ts';
import { pathToWrite } from '../../disk/file/strangers.ts';
import { type Held, tryLock } from '../../disk/lock/lock.ts';
import { openLog } from '../../disk/log/append-log.ts';
import type { Damage } from '../../disk/log/log-file.ts';
import { codeOf, Failure, messageOf } from '../../errors.ts';
import { jsonIn } from '../../text/json.ts';
import { type Kind, kinds, type Row } from './records.ts';
import { type Change, put, type Removable, remove, type State, setClock, stateOf } from './state.ts';

/**
 * Keeps a state in a file through SIGKILL at any moment. The file is a journal of lines, `<crc32> <changes as JSON>`;
 * a request is answered once its line is on disk, and requests that come together share one write and one sync.
 *
 * The first line says how many bytes are surely on disk. A crash can only tear what comes after them. No request was
 * answered for that part, so it is dropped. Anything wrong before that point is damage, and the file is left as it is.
 */
export type StateFile = Awaited<ReturnType<typeof openLocked>>;

/** One change as the file holds it; null where the row is gone. A checksum stands before it, so its parts are as they were written. */
type Kept =
  | readonly [kind: 'clock', key: 'clock', aheadMs: number]
  | readonly [kind: 'last_id', of: string, id: number]
  | { readonly [K in Kind]: readonly [kind: K, key: string | number, row: Row<K>] }[Kind]
  | readonly [kind: Removable, key: string | number, row: null];

type Written = readonly [kind: Change['kind'], key: string | number, value: unknown];

const headerOf = (committed: number): string =>
  `{"svc_sandbox_state":1,"committed":"${String(committed).padStart(15, '0')}"}\n`;
const headerLength = headerOf(0).length;

/** The file is rewritten when it is this much larger than twice a fresh one. */
const slack = 32 * 1024 * 1024;
const rowsPerLine = 500;

export async function openStateFile(named: string): Promise<StateFile> {
  const path = await resolve(named);
  const hint = 'End one of them, or name another file with --state.';
  const held = await tryLock(`${path}.lock`, { what: `the state file ${named}`, hint }).catch((error) => {
    throw unusable(named, error);
  });
  if (!held) {
    throw new Failure('failed', `Another sandbox keeps its state in ${named}.`, {
      hint: 'End it first, or name another file with --state.',
    });
  }
  try {
    return await openLocked(path, named, held);
  } catch (error) {
    await held.release();
    throw error;
  }
}

async function openLocked(path: string, named: string, held: Held) {
  const loaded = stateOf({});
  const log = await openLog(path, {
    take(bytes) {
      const line = parseLine(bytes);
      for (const change of line ?? []) apply(loaded, change);
      return line !== undefined;
    },
    damaged: (where) => damaged(named, wordsFor(where)),
    mark: { text: headerOf, read: committedIn },
    held,
  }).catch((error) => {
    throw error instanceof Failure ? error : unusable(named, error);
  });
  loaded.changed.clear();
  let freshSize = log.size();
  let mustReplace = false;
  let isReplacing = false;
  /** The newest thing on its way to the disk. */
  let last: Promise<void> = Promise.resolve();

  /** Some of a failed change may be lost: the next commit writes all of the state, so that nothing is missing. */
  function follow(work: Promise<void>): Promise<void> {
    last = work.catch((error) => {
      mustReplace = true;
      throw error instanceof Failure ? error : unusable(named, error);
    });
    return last;
  }

  /** Rewrites the file from this state. */
  function replace(state: State): Promise<void> {
    mustReplace = false;
    isReplacing = true;
    // Now, not when the snapshot is taken: what changes in between is written again behind it.
    state.changed.clear();
    const moved = () => {
      freshSize = log.size();
    };
    const work = log.rewrite(() => ({ pieces: snapshot(state), moved }));
    return follow(
      work.finally(() => {
        isReplacing = false;
      }),
    );
  }

  return {
    /** What the file held; undefined where it is new, and `replace` has to fill it. */
    state: freshSize > 0 ? loaded : undefined,
    /** Resolves when all that changed in the state is on disk. */
    commit(state: State): Promise<void> {
      const isDue = mustReplace || log.size() > 2 * freshSize + slack;
      if (isDue && !isReplacing) return replace(state);
      // Someone else's changes may still be on their way to the disk.
      return state.changed.size > 0 ? follow(log.append(lineOf(drain(state)))) : last;
    },
    replace,
    /** Fires once another process has the file; `reason` says who. */
    lost: held.lost,
    async close() {
      await log.close();
      await held.release();
    },
  };
}

function committedIn(first: string): number | undefined {
  const header = /^\{"svc_sandbox_state":1,"committed":"(\d{15})"\}\n$/u.exec(first);
  return header ? Number(header[1]) : undefined;
}

const wordsFor = ({ why, byte }: Damage): string =>
  ({
    start: 'it does not begin like a state file',
    missing: `${-byte} bytes are missing at its end`,
    line: `what stands at byte ${byte} cannot be read`,
  })[why];

/** A state file may be named through a link, or not be there yet. */
async function resolve(named: string): Promise<string> {
  try {
    await pathToWrite(named);
    const path = await realpath(named);
    // Asked before the lock, which would be made beside it.
    if ((await stat(path)).isDirectory()) throw unusable(named, 'it is a folder');
    return path;
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (codeOf(error) !== 'ENOENT') throw unusable(named, error);
    const folder = await realpath(dirname(named)).catch(() => dirname(named));
    return join(folder, basename(named));
  }
}

function parseLine(bytes: Buffer): readonly Kept[] | undefined {
  const sum = bytes.toString('latin1', 0, 8);
  const json = bytes.subarray(9);
  if (Number.parseInt(sum, 16) !== crc32(json)) return undefined;
  return jsonIn(json.toString()) as readonly Kept[] | undefined;
}

function lineOf(line: readonly Written[]): string {
  const json = JSON.stringify(line);
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}

function drain(state: State): Written[] {
  const changes = [...state.changed.values()];
  state.changed.clear();
  return changes.map((change) => written(state, change));
}

function written(state: State, { kind, key }: Change): Written {
  if (kind === 'clock') return [kind, key, state.clockAheadMs];
  if (kind === 'last_id') return [kind, key, state.lastIds.get(key)];
  return [kind, key, state.rows[kind].get(key) ?? null];
}

function apply(state: State, [kind, key, value]: Kept): void {
  if (kind === 'clock') setClock(state, value);
  else if (kind === 'last_id') state.lastIds.set(key, value);
  else if (value === null) remove(state, kind, key);
  else put(state, kind, value);
}

/** All of a state as a file of its own. */
function snapshot(state: State): Buffer[] {
  const changes: Change[] = [{ kind: 'clock', key: 'clock' }];
  for (const key of state.lastIds.keys()) changes.push({ kind: 'last_id', key });
  for (const kind of kinds) for (const key of state.rows[kind].keys()) changes.push({ kind, key });
  const lines: Buffer[] = [];
  for (let at = 0; at < changes.length; at += rowsPerLine) {
    const part = changes.slice(at, at + rowsPerLine);
    lines.push(Buffer.from(lineOf(part.map((change) => written(state, change)))));
  }
  const size = lines.reduce((sum, line) => sum + line.length, headerLength);
  return [Buffer.from(headerOf(size)), ...lines];
}

const unusable = (named: string, cause: unknown): Failure =>
  new Failure(
    'failed',
    `The state file ${named} cannot be used: ${diskWords[codeOf(cause) ?? ''] ?? messageOf(cause)}.`,
    {
      hint: 'Name another file with --state.',
      cause,
    },
  );

const damaged = (named: string, what: string): Failure =>
  new Failure('failed', `The state file ${named} is damaged: ${what}. It was left as it is.`, {
    hint: 'Restore it from a copy, or name another file with --state.',
  });

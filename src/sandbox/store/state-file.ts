import { type FileHandle, open, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { isCode, replaceFile } from '../../disk/atomic-file.ts';
import { tryLock } from '../../disk/lock.ts';
import { Failure } from '../../errors.ts';
import { type Kind, kinds } from './records.ts';
import { type Change, put, remove, type State, setClock, stateOf } from './state.ts';

/**
 * Keeps a state in a file through SIGKILL at any moment. The file is a journal of lines, `<crc32> <changes as JSON>`;
 * a request is answered once its line is on disk, and requests that come together share one write and one sync.
 *
 * The first line says how many bytes were surely written. A crash can only tear what lies beyond, which nobody was
 * answered for and which is dropped; whatever is wrong before that point is damage, and the file is left as it is.
 */
export type StateFile = {
  /** What the file held; undefined where it is new, and `replace` has to fill it. */
  readonly state: State | undefined;
  /** Resolves when all that changed in the state is on disk. */
  commit(state: State): Promise<void>;
  /** Rewrites the file from this state. */
  replace(state: State): Promise<void>;
  close(): Promise<void>;
};

type Line = readonly (readonly [kind: Change['kind'], key: string | number, row: unknown])[];

const headerOf = (committed: number): string =>
  `{"svc_sandbox_state":1,"committed":"${String(committed).padStart(15, '0')}"}\n`;
const headerLength = headerOf(0).length;

/** Rewritten when it is this much larger than twice what a fresh one would be. */
const slack = 32 * 1024 * 1024;
const rowsPerLine = 500;

export async function openStateFile(named: string): Promise<StateFile> {
  const path = await resolve(named);
  const release = await tryLock(`${path}.lock`).catch((error) => {
    throw unusable(named, error);
  });
  if (!release) {
    throw new Failure('failed', `Another sandbox keeps its state in ${named}.`, {
      hint: 'End it first, or name another file with --state.',
    });
  }
  try {
    return await openLocked(path, named, release);
  } catch (error) {
    await release();
    throw error;
  }
}

async function openLocked(path: string, named: string, release: () => Promise<void>): Promise<StateFile> {
  const found = await load(path, named);
  let file: FileHandle | undefined;
  let end = headerLength;
  let freshSize = 0;
  let mustReplace = false;
  let pending: string[] = [];
  let running: Promise<void> | undefined;

  const reopen = async (size: number) => {
    await file?.close();
    file = await open(path, 'r+');
    end = size;
    freshSize = size;
  };
  if (found) {
    await reopen(found.end);
    // What a crash tore off lies here; nobody was answered for it.
    await file?.truncate(found.end);
  }

  async function rewrite(state: State): Promise<void> {
    mustReplace = true;
    pending = [];
    state.changed.clear();
    const text = snapshot(state);
    await replaceFile(path, text).catch((error) => {
      throw unusable(named, error);
    });
    await reopen(text.length);
    mustReplace = false;
  }

  async function append(): Promise<void> {
    const bytes = Buffer.from(pending.join(''));
    pending = [];
    const handle = file as FileHandle;
    try {
      const { bytesWritten } = await handle.write(bytes, 0, bytes.length, end);
      if (bytesWritten < bytes.length) throw new Error('the disk is full');
      await handle.datasync();
      end += bytes.length;
      await handle.write(headerOf(end), 0);
    } catch (error) {
      // Some of the bytes may be there. The next commit rewrites the whole file, so that nothing stands after them.
      mustReplace = true;
      throw unusable(named, error);
    }
  }

  /** One write at a time; whoever comes while it runs shares the next. */
  function enqueue(work: () => Promise<void>): Promise<void> {
    const before = running?.catch(() => {}) ?? Promise.resolve();
    const mine: Promise<void> = before.then(work).finally(() => {
      if (running === mine) running = undefined;
    });
    running = mine;
    return mine;
  }

  let next: Promise<void> | undefined;
  return {
    state: found?.state,
    commit(state) {
      if (state.changed.size > 0) pending.push(lineOf(drain(state)));
      // Someone else's changes may still be on their way to the disk.
      else if (pending.length === 0 && !mustReplace) return running ?? Promise.resolve();
      next ??= enqueue(async () => {
        next = undefined;
        if (mustReplace || end > 2 * freshSize + slack) await rewrite(state);
        else if (pending.length > 0) await append();
      });
      return next;
    },
    replace: (state) => enqueue(() => rewrite(state)),
    async close() {
      await running?.catch(() => {});
      await file?.close();
      await release();
    },
  };
}

/** A state file may be named through a link, or not be there yet. */
async function resolve(named: string): Promise<string> {
  try {
    const path = await realpath(named);
    // Asked before the lock, which would be made beside it.
    if ((await stat(path)).isDirectory()) throw unusable(named, 'it is a folder');
    return path;
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (!isCode(error, 'ENOENT')) throw unusable(named, error);
    const folder = await realpath(dirname(named)).catch(() => dirname(named));
    return join(folder, basename(named));
  }
}

async function load(path: string, named: string): Promise<{ state: State; end: number } | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw unusable(named, error);
  }
  if (bytes.length === 0) return undefined;
  const header = /^\{"svc_sandbox_state":1,"committed":"(\d{15})"\}\n$/u.exec(
    bytes.toString('latin1', 0, headerLength),
  );
  const committed = Number(header?.[1] ?? Number.NaN);
  if (!header) throw damaged(named, 'it does not begin like a state file');
  if (bytes.length < committed) throw damaged(named, `${committed - bytes.length} bytes are missing at its end`);

  const state = stateOf({});
  let at = headerLength;
  while (at < bytes.length) {
    const newline = bytes.indexOf(10, at);
    const line = newline < 0 ? undefined : parseLine(bytes.subarray(at, newline));
    if (!line) {
      if (at < committed) throw damaged(named, `what stands at byte ${at} cannot be read`);
      break;
    }
    for (const change of line) apply(state, change);
    at = newline + 1;
  }
  state.changed.clear();
  return { state, end: at };
}

function parseLine(bytes: Buffer): Line | undefined {
  const sum = bytes.toString('latin1', 0, 8);
  const json = bytes.subarray(9);
  if (Number.parseInt(sum, 16) !== crc32(json)) return undefined;
  try {
    return JSON.parse(json.toString());
  } catch {
    return undefined;
  }
}

function lineOf(line: Line): string {
  const json = JSON.stringify(line);
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}

function drain(state: State): Line {
  const changes = [...state.changed.values()];
  state.changed.clear();
  return changes.map(({ kind, key }) => [kind, key, valueNow(state, kind, key)]);
}

function valueNow(state: State, kind: Change['kind'], key: string | number): unknown {
  if (kind === 'clock') return state.clockAheadMs;
  if (kind === 'last_id') return state.lastIds.get(key as string);
  return state.rows[kind].get(key) ?? null;
}

function apply(state: State, [kind, key, value]: Line[number]): void {
  if (kind === 'clock') setClock(state, value as number);
  else if (kind === 'last_id') state.lastIds.set(key as string, value as number);
  else if (value === null) remove(state, kind as 'lists', key);
  else put(state, kind, value as never);
}

/** All of a state as a file of its own. */
function snapshot(state: State): Buffer {
  const changes: Change[] = [{ kind: 'clock', key: 'clock' }];
  for (const key of state.lastIds.keys()) changes.push({ kind: 'last_id', key });
  for (const kind of kinds) for (const key of state.rows[kind as Kind].keys()) changes.push({ kind, key });
  const lines: Buffer[] = [];
  for (let at = 0; at < changes.length; at += rowsPerLine) {
    const part = changes.slice(at, at + rowsPerLine);
    lines.push(Buffer.from(lineOf(part.map(({ kind, key }) => [kind, key, valueNow(state, kind, key)]))));
  }
  const size = lines.reduce((sum, line) => sum + line.length, headerLength);
  return Buffer.concat([Buffer.from(headerOf(size)), ...lines]);
}

const unusable = (named: string, cause: unknown): Failure =>
  new Failure('failed', `The state file ${named} cannot be used: ${cause instanceof Error ? cause.message : cause}.`, {
    hint: 'Name another file with --state.',
    cause,
  });

const damaged = (named: string, what: string): Failure =>
  new Failure('failed', `The state file ${named} is damaged: ${what}. It was left as it is.`, {
    hint: 'Restore it from a copy, or name another file with --state.',
  });

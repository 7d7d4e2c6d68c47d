import { parse } from 'node:path';
import { Worker } from 'node:worker_threads';
import { workingFolder } from '../../disk/place/working-folder.ts';
import type { Answers, Connection, Mode, Work } from './connection.ts';
import { sqliteFailure } from './failure.ts';
import { unpack } from './unpack.ts';

type Reply = { readonly id: number; readonly value?: unknown; readonly error?: string; readonly code?: string };
type Waiting = { readonly done: (value: unknown) => void; readonly failed: (error: unknown) => void };

/**
 * Started before it is known for which file, so that what the start takes and what the command takes to load pass at the
 * same time.
 */
export function warmThread(): void {
  warm ??= newWorker();
}

let warm: Worker | undefined;

function newWorker(): Worker {
  // No thread starts while the current folder is one that was removed; and no path leads on from there.
  if (workingFolder() === undefined) process.chdir(parse(process.execPath).root);
  // Rows come and go: a large nursery would only grow.
  const resourceLimits = { maxYoungGenerationSizeMb: 4 };
  // The build puts the worker beside the chunk that this comes to be in, under the same name.
  const worker = new Worker(new URL('./sqlite-worker.cjs', import.meta.url), { execArgv: [], resourceLimits });
  // Only while it is asked does it keep the process.
  worker.unref();
  const noMore = () => {
    if (warm === worker) warm = undefined;
  };
  worker.on('error', noMore).on('exit', noMore);
  // While it starts, which takes longer.
  worker.postMessage(unpack());
  return worker;
}

/** The WebAssembly engine, in a thread of its own. */
export function startThread(path: string, { readOnly, isWal }: Mode): Connection {
  const waiting = new Map<number, Waiting>();
  let asked = 0;
  let isClosed = false;
  let hasFailed = false;
  let isEnding = false;
  const worker = warm ?? newWorker();
  warm = undefined;
  const giveUp = (said: string): void => {
    for (const { failed } of waiting.values()) failed(sqliteFailure(path, said));
    waiting.clear();
    asked = Number.NaN;
    hasFailed = true;
  };
  const onMessage = ({ id, value, error, code }: Reply): void => {
    const asker = waiting.get(id);
    waiting.delete(id);
    // An answer may still come while it is being ended, and nothing else keeps the process until it is over.
    if (waiting.size === 0 && !isEnding) worker.unref();
    hasFailed ||= error !== undefined;
    if (error === undefined) asker?.done(value);
    else asker?.failed(sqliteFailure(path, error, code));
  };
  const onError = (error: Error): void => giveUp(error.message);
  const onExit = (): void => giveUp('the database thread ended');
  worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  /** For the next file: a thread takes longer to start than most questions take. One that has met an error is not used again. */
  const keep = (): void => {
    worker.off('message', onMessage).off('error', onError).off('exit', onExit);
    giveUp('the database is closed');
    warm = worker;
  };
  return {
    readOnly,
    ask: <W extends Work>(work: W, given = {}) =>
      new Promise<Answers[W]>((done, failed) => {
        if (Number.isNaN(asked)) return failed(sqliteFailure(path, 'the database thread ended'));
        const id = ++asked;
        isClosed = work === 'close';
        // Messages of a thread have no types: `Answers` says what sqlite-worker.cjs sends.
        waiting.set(id, { done: (value) => done(value as Answers[W]), failed });
        worker.ref();
        worker.postMessage({ id, work, ...given, ...(work === 'open' && { path, readOnly, isWal }) });
      }),
    async end() {
      if (Number.isNaN(asked)) return;
      if (isClosed && !hasFailed && waiting.size === 0 && !warm) return keep();
      isEnding = true;
      await worker.terminate();
    },
  };
}

import { before } from '../../promise/aborted.ts';
import { queryEnded } from '../tables/store.ts';
import type { Connection } from './connection.ts';

/** Waits for the thread until `signal`, which ends it. */
export async function untilInterrupted<T>(thread: Connection, signal: AbortSignal, work: Promise<T>): Promise<T> {
  try {
    return await before(signal, work);
  } catch (error) {
    if (!signal.aborted) throw error;
    await thread.end();
    throw queryEnded(signal);
  }
}

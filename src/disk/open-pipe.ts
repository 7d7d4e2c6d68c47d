import { constants, openSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, interruption } from '../errors.ts';

/**
 * A named pipe to write to, as soon as somebody reads it; rejects with the error of the system. Neither the wait for a
 * reader nor one who reads slowly holds a thread: a thread that waits keeps the process from ending. `signal` ends the wait.
 */
export async function openPipe(path: string, signal?: AbortSignal): Promise<Writable> {
  for (;;) {
    try {
      const fd = openSync(path, constants.O_WRONLY | (constants.O_NONBLOCK ?? 0));
      return new (process.getBuiltinModule('node:net').Socket)({ fd, readable: false, writable: true });
    } catch (error) {
      // Nobody reads it yet.
      if (codeOf(error) !== 'ENXIO') throw error;
      if (signal?.aborted) throw interruption(signal, `Interrupted: nobody reads ${path}.`);
      await sleep(20);
    }
  }
}

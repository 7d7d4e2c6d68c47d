import type { Sql, Store } from './store.ts';

/**
 * Writes while the next page is read. What came while the database was busy goes into one transaction: on a slow disk
 * few transactions are many times faster.
 */
export type Writer = {
  /** Resolves when it is durable. */
  write<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Resolves when there is room for more; rejects where a write has failed. */
  room(): Promise<void>;
  /** Resolves when everything is durable. */
  done(): Promise<void>;
};

type Job = {
  readonly work: (sql: Sql) => Promise<unknown>;
  readonly done: (value: unknown) => void;
  readonly failed: (error: unknown) => void;
};

const mostWaiting = 3;

export function createWriter(store: Store): Writer {
  let queue: Job[] = [];
  let working: Promise<void> = Promise.resolve();
  let isWorking = false;
  let failure: { readonly error: unknown } | undefined;

  const run = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      try {
        const values = await store.write(async (sql) => {
          const results: unknown[] = [];
          for (const { work } of batch) results.push(await work(sql));
          return results;
        });
        for (const [at, { done }] of batch.entries()) done(values[at]);
      } catch (error) {
        failure ??= { error };
        for (const { failed } of batch) failed(error);
      }
    }
    isWorking = false;
  };

  const done = async (): Promise<void> => {
    while (isWorking) await working;
    if (failure) throw failure.error;
  };

  return {
    write<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
      const written = new Promise<T>((resolve, reject) => {
        queue.push({ work, done: resolve as (value: unknown) => void, failed: reject });
      });
      // Whoever does not wait for it hears of a failure by `room` and `done`.
      written.catch(() => {});
      if (!isWorking) {
        isWorking = true;
        working = run();
      }
      return written;
    },
    async room() {
      if (failure) throw failure.error;
      if (queue.length >= mostWaiting) await done();
    },
    done,
  };
}

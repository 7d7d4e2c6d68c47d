import type { Sql, Store } from '../tables/store.ts';

type Job = {
  /** Resolves with what tells the asker of its answer, once that is durable. */
  readonly work: (sql: Sql) => Promise<() => void>;
  readonly failed: (error: unknown) => void;
};

const mostWaiting = 3;

/**
 * Writes while the next page is read. What came while the database was busy goes into one transaction: on a slow disk
 * few transactions are many times faster.
 */
export function createWriter(store: Store) {
  let queue: Job[] = [];
  let working: Promise<void> = Promise.resolve();
  let isWorking = false;
  let failure: { readonly error: unknown } | undefined;

  const run = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      // What stands behind a write that failed may say that all before it is stored.
      if (failure) {
        for (const { failed } of batch) failed(failure.error);
        continue;
      }
      try {
        const answers = await store.write(async (sql) => {
          const all: (() => void)[] = [];
          for (const { work } of batch) all.push(await work(sql));
          return all;
        });
        for (const tell of answers) tell();
      } catch (error) {
        failure ??= { error };
        for (const { failed } of batch) failed(error);
      }
    }
    isWorking = false;
  };

  /** Resolves when everything is durable. */
  const done = async (): Promise<void> => {
    while (isWorking) await working;
    if (failure) throw failure.error;
  };

  return {
    /** Resolves when it is durable. */
    write<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
      const written = new Promise<T>((resolve, reject) => {
        const answered = async (sql: Sql) => {
          const value = await work(sql);
          return () => resolve(value);
        };
        queue.push({ work: answered, failed: reject });
      });
      // Whoever does not wait for it hears of a failure by `room` and `done`.
      written.catch(() => {});
      if (!isWorking) {
        isWorking = true;
        working = run();
      }
      return written;
    },
    /** Resolves when there is room for more; rejects where a write has failed. */
    async room(): Promise<void> {
      if (failure) throw failure.error;
      if (queue.length >= mostWaiting) await done();
    },
    done,
  };
}

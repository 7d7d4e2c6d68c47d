import { newSpool } from '../../disk/draft/spool.ts';
import type { Answers } from './connection.ts';

/** Rows at a time. */
export const piece = 500;

type Next = () => Promise<Answers['next']>;

/** The rows as they are asked for. `end` comes after the last, and after whoever reads leaves earlier. */
export async function* rowsAsAsked(next: Next, end: () => Promise<void>): AsyncGenerator<readonly unknown[]> {
  try {
    for (let done = false; !done; ) {
      const some = await next();
      yield* some.rows;
      done = some.done;
    }
  } finally {
    await end();
  }
}

/**
 * The rows, read at the database's speed and not at the reader's: a pager that stays open holds nothing, for the query is
 * over, and `end` called, as soon as the last row is read. What waits for the reader is in a file.
 */
export function rowsReadAhead(next: Next, end: () => Promise<void>): AsyncGenerator<readonly unknown[]> {
  const waiting = newSpool<Answers['next']['rows']>(20);
  let isLeft = false;
  const read = async (): Promise<void> => {
    try {
      for (let done = false; !done && !isLeft; ) {
        const some = await next();
        await waiting.put(some.rows);
        done = some.done;
      }
    } finally {
      await end();
    }
  };
  const reading = read().then(
    () => waiting.finish(),
    (error) => waiting.finish(error),
  );
  async function* rows() {
    try {
      for (let some = await waiting.take(); some; some = await waiting.take()) yield* some;
    } finally {
      isLeft = true;
      await reading;
      await waiting.close();
    }
  }
  return rows();
}

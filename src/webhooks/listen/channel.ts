/** Values on their way from a producer to the one consumer, in order. */
export type Channel<T> = AsyncIterable<T> & {
  push(value: T): void;
  /** Whether another value is there already. */
  more(): boolean;
  /** What was pushed before is still taken; then the iteration ends. */
  end(): void;
};

export function createChannel<T>(): Channel<T> {
  let values: T[] = [];
  let taken = 0;
  let ended = false;
  let wake = () => {};
  return {
    push(value) {
      values.push(value);
      wake();
    },
    more: () => taken < values.length,
    end() {
      ended = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        // Also what is pushed meanwhile: an array is read up to its end.
        for (const value of values) {
          taken++;
          yield value;
        }
        values = [];
        taken = 0;
        if (ended) return;
        // Not at once: what comes in the same turn of the event loop is then printed together.
        await new Promise<void>((resolve) => {
          wake = () => setImmediate(resolve);
        });
      }
    },
  };
}

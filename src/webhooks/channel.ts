/** Values on their way from whoever has them to the one who takes them, in order. */
export type Channel<T> = AsyncIterable<T> & {
  push(value: T): void;
  /** What was pushed before is still taken; then the iteration ends. */
  end(): void;
};

export function createChannel<T>(): Channel<T> {
  const values: T[] = [];
  let ended = false;
  let wake = () => {};
  return {
    push(value) {
      values.push(value);
      wake();
    },
    end() {
      ended = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        for (const value of values.splice(0)) yield value;
        if (values.length > 0) continue;
        if (ended) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

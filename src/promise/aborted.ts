/** Resolves once the signal fires, at once where it has. */
export const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

/** What the promise gives, or the signal's reason where that fires before. */
export const before = <T>(signal: AbortSignal, promise: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const over = () => reject(signal.reason);
    if (signal.aborted) over();
    signal.addEventListener('abort', over, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', over));
  });

/**
 * What `next` makes of a value: at once where the value is there, for a promise costs more than much of what is done
 * with it. Throws what `next` throws then; rejects where the value had to be waited for.
 */
export const andThen = <T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> =>
  value instanceof Promise ? value.then(next) : next(value);

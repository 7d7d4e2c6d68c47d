import { isDeepStrictEqual } from 'node:util';
import { Failure, runSameAgain } from '../errors.ts';
import type { Service } from '../http/call/call.ts';

/** What a write was made of: how it is read again, what it was, and how both are told. */
type MadeOf<T> = {
  readonly read: () => Promise<T>;
  readonly was: T;
  /** As in "List 7 has just changed". */
  readonly what: string;
  /** As in "Nothing was added". */
  readonly done: string;
};

/** Before it was read, in the clock's ticks: an answer may be long on its way, and so may what is read or asked after it. */
type Since = { readonly seenAt: number };

/** Reads once more what a write was made of; throws where it is not as it was. */
export async function requireStill<T>({ read, was, what, done }: MadeOf<T>): Promise<void> {
  if (isDeepStrictEqual(await read(), was)) return;
  throw new Failure('failed', `${what} has just changed. Nothing was ${done}.`, {
    hint: runSameAgain,
  });
}

/** A service that reads again before a write that was refused goes out once more: the wait may have been a minute. */
export const whileStill = <T>(service: Service, madeOf: MadeOf<T> & Since): Service => ({
  ...service,
  seenAt: madeOf.seenAt,
  beforeRepeat: () => requireStill(madeOf),
});

/** The same of a write that changes nothing of what it was made of: also before one that may be done goes out once more. */
export const whileStillInDoubt = <T>(service: Service, madeOf: Omit<MadeOf<T>, 'done'> & Since): Service => ({
  ...service,
  seenAt: madeOf.seenAt,
  mayLeave: () => requireStill({ ...madeOf, done: 'sent now' }),
});

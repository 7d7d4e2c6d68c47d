import { isDeepStrictEqual } from 'node:util';
import { type AsRead, asRead } from '../as-read.ts';
import { Failure, runSameAgain } from '../errors.ts';
import type { Service } from '../http/call/call.ts';

/** What a write was made of: how it is read again, what it was, and how both are told. */
type MadeOf<T> = {
  readonly read: (reading: Service) => Promise<T>;
  readonly seen: AsRead<T>;
  /** As in "List 7 has just changed". */
  readonly what: string;
  /** As in "Nothing was added". */
  readonly done: string;
};

/** Reads once more what a write was made of; throws where it is not as it was. */
export async function requireStill<T>(service: Service, madeOf: MadeOf<T>): Promise<AsRead<T>> {
  const { read, seen, what, done } = madeOf;
  const now = await asRead(service, read);
  if (isDeepStrictEqual(now.was, seen.was)) return now;
  throw new Failure('failed', `${what} has just changed. Nothing was ${done}.`, { hint: runSameAgain });
}

/** A service that reads again before a write that was refused goes out once more: the wait may have been a minute. */
export const whileStill = <T>(service: Service, madeOf: MadeOf<T>): Service => ({
  ...service,
  restsOn: { seen: madeOf.seen, beforeRepeat: () => requireStill(service, madeOf) },
});

/** The same of a write that changes nothing of what it was made of: also before one that may be done goes out once more. */
export const whileStillInDoubt = <T>(service: Service, madeOf: Omit<MadeOf<T>, 'done'>): Service => ({
  ...service,
  restsOn: { seen: madeOf.seen, mayLeave: () => requireStill(service, { ...madeOf, done: 'sent now' }) },
});

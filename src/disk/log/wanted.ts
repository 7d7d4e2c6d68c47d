import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { orElse } from '../../errors.ts';

/** Whoever waits for a lock that others hold for milliseconds, again and again, says so beside it: then it is their turn. */
const markOf = (locks: string): string => join(locks, '.wanted');

const betweenMs = 10;

/** Says so until the function that it returns is called. */
export function want(locks: string): () => void {
  // Where it cannot be said, the wait takes longer.
  const say = () => orElse(() => writeFileSync(markOf(locks), '', { mode: 0o600 }), undefined);
  say();
  const again = setInterval(say, betweenMs);
  return () => {
    clearInterval(again);
    // What is not there asks for nothing.
    orElse(() => rmSync(markOf(locks), { force: true }), undefined);
  };
}

/** Asked by whoever holds the lock. It is said again by whoever still waits. */
export function isWanted(locks: string): boolean {
  try {
    if (!statSync(markOf(locks), { throwIfNoEntry: false })) return false;
    rmSync(markOf(locks), { force: true });
    return true;
  } catch {
    // The folder is gone, or something else lies in its place: what is written next tells of it.
    return false;
  }
}

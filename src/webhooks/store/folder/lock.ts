import { join } from 'node:path';
import { type Held, holders, tryLock } from '../../../disk/lock/lock.ts';

const lockOf = (folder: string): string => join(folder, 'lock');

/** Whoever holds it has the inbox; undefined where another process does. `hint`: what to do where it is lost. */
export const takeInbox = (folder: string, hint?: string): Promise<Held | undefined> =>
  tryLock(lockOf(folder), { what: `the inbox in ${folder}`, hint });

/** The process that has it, as far as that can be told. */
export const holderOf = async (folder: string): Promise<number | undefined> => (await holders(lockOf(folder)))[0];

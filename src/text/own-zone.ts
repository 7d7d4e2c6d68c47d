import type { Env } from '../env.ts';
import { isLocal } from './time.ts';

export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** As POSIX writes UTC: a name of its own and no offset. */
const utc = /^(?:[a-z]{3,}|<[\w+-]+>)[+-]?0{1,2}(?::00)*$/iu;

/** The TZ of this machine where it names no zone that Node knows, which then goes by UTC without a word; else undefined. */
export function unknownZone({ TZ }: Env): string | undefined {
  const name = (TZ ?? '').replace(/^:/u, '').replace(/^\/.*\/zoneinfo\//u, '');
  if (name === '' || name === '/etc/localtime' || utc.test(name) || isZone(name)) return undefined;
  // What is no name may be known all the same: GMT+3.
  const isAway = [0, 6].some((month) => new Date(2026, month).getTimezoneOffset() !== 0);
  return isAway ? undefined : TZ;
}

/** Where UTC stands in for the zone in which a time was typed. */
export function zoneDoubt(texts: readonly string[], flag: string, env: Env): string | undefined {
  const zone = texts.some(isLocal) ? unknownZone(env) : undefined;
  if (zone === undefined) return undefined;
  return `Warning: this machine's time zone (TZ=${zone}) is none that is known, so ${flag} is read as UTC. To be sure, give the zone: 2026-01-31T09:00:00+01:00`;
}

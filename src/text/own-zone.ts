import type { Env } from '../env.ts';
import { orElse } from '../errors.ts';
import { sanitize } from './sanitize.ts';
import { isLocal } from './time.ts';

export const isZone = (timeZone: string): boolean =>
  orElse(() => new Intl.DateTimeFormat('en', { timeZone }), undefined) !== undefined;

/** Minutes that the clock of a zone is ahead of UTC. */
function offsetIn(timeZone: string, at: Date): number {
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(at);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign = '+', hours = 0, minutes = 0] = /([+-])(\d\d):(\d\d)/u.exec(name) ?? [];
  return Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
}

/** As POSIX writes UTC: a name of its own and no offset. */
const utc = /^(?:[a-z]{3,}|<[\w+-]+>)[+-]?0{1,2}(?::00)*$/iu;

/**
 * The TZ of this machine where Node goes by another zone, mostly UTC, without a word: it knows no such zone, or not by that
 * name (`europe/berlin`, a path). Else undefined.
 */
export function unknownZone({ TZ }: Env): string | undefined {
  const name = (TZ ?? '').replace(/^:/u, '').replace(/^\/.*\/zoneinfo\//u, '');
  if (name === '' || name === '/etc/localtime' || utc.test(name)) return undefined;
  const days = [0, 6].map((month) => new Date(2026, month));
  // What is no name may be known all the same: GMT+3.
  const isKnown = isZone(name)
    ? days.every((at) => offsetIn(name, at) === -at.getTimezoneOffset())
    : days.some((at) => at.getTimezoneOffset() !== 0);
  return isKnown ? undefined : TZ;
}

/** Where UTC stands in for the zone in which a time was typed. */
export function zoneDoubt(texts: readonly string[], flag: string, env: Env): string | undefined {
  const zone = texts.some(isLocal) ? unknownZone(env) : undefined;
  if (zone === undefined) return undefined;
  return `Warning: this machine's time zone (TZ=${sanitize(zone)}) is none that is known, so ${flag} may be read as UTC. To be sure, give the zone: 2026-01-31T09:00:00+01:00`;
}

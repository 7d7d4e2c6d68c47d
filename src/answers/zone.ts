import { Failure, orElse } from '../errors.ts';

/** A day of a calendar: month and day from 1. */
export type Day = { readonly year: number; readonly month: number; readonly day: number };

/** Where midnight is, and how far the clocks are from UTC. All moments are ms since 1970. */
export type Zone = ReturnType<typeof zoneNamed>;

/** The zone of this machine; undefined where the system names none that is known (TZ). */
export function ownZone(): string | undefined {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return orElse(() => timeZone && new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone, undefined);
}

/** @throws Failure `usage` where there is no such zone */
export function zoneNamed(name: string) {
  const format = formatOf(name);
  const offsetAt = (moment: number): number => {
    const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return (Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(moment / 1000) * 1000) / 1000;
  };
  const dayAt = (moment: number): Day => {
    const local = new Date(moment + offsetAt(moment) * 1000);
    return { year: local.getUTCFullYear(), month: local.getUTCMonth() + 1, day: local.getUTCDate() };
  };
  const numberAt = (moment: number): number => numberOf(dayAt(moment));
  return {
    name: spelt(name, format.resolvedOptions().timeZone),
    /** Seconds ahead of UTC. */
    offsetAt,
    /** The day that the calendar shows. */
    dayAt,
    /** Its first moment: where midnight is skipped, a later one. */
    startOf: (day: Day) => {
      const wanted = numberOf(day);
      // No clock is further from UTC than 14 hours.
      return firstSecond(wanted - 16 * hourMs, wanted + 16 * hourMs, (moment) => numberAt(moment) >= wanted);
    },
  };
}

/** The first whole second behind `before` from which on it is so, as it is at `after`. */
function firstSecond(before: number, after: number, isSo: (moment: number) => boolean): number {
  if (after - before <= 1000) return after;
  const middle = Math.floor((before + after) / 2000) * 1000;
  return isSo(middle) ? firstSecond(before, middle, isSo) : firstSecond(middle, after, isSo);
}

/** Some engines call a zone by an older name (`Asia/Katmandu`): it keeps the one that was given. */
const spelt = (given: string, known: string): string => (given.toLowerCase() === known.toLowerCase() ? known : given);

const hourMs = 3_600_000;

/** A calendar's day as UTC would begin it: to count with days. */
const numberOf = ({ year, month, day }: Day): number => Date.UTC(year, month - 1, day);

/** So many days later. */
export function daysAfter({ year, month, day }: Day, days: number): Day {
  const date = new Date(Date.UTC(year, month - 1, day + days));
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** 0 is Monday. */
export const weekdayOf = (day: Day): number => (new Date(numberOf(day)).getUTCDay() + 6) % 7;

/** `2026-01-31` */
export const dayText = ({ year, month, day }: Day): string =>
  `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;

/** The moments in [begins, ends) at which the clocks change, with the offset from each on; `begins` is the first. */
export function offsetsBetween(zone: Zone, begins: number, ends: number): { from: number; seconds: number }[] {
  const found = [{ from: begins, seconds: zone.offsetAt(begins) }];
  // Two changes are further apart than a day.
  for (let at = begins; at < ends; at += 24 * hourMs) {
    const next = Math.min(at + 24 * hourMs, ends);
    const seconds = zone.offsetAt(next);
    if (seconds === found.at(-1)?.seconds) continue;
    const from = firstSecond(at, next, (moment) => zone.offsetAt(moment) === seconds);
    if (from < ends) found.push({ from, seconds });
  }
  return found;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      ...{ timeZone, year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' },
    });
  } catch {
    throw new Failure('usage', `--zone: there is no time zone "${timeZone}".`, {
      hint: 'Give one like Europe/Berlin, America/New_York or UTC.',
    });
  }
}

import { Failure } from '../errors.ts';

const zoned = /^\d{4}-\d{2}-\d{2}(?:Z|[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)? ?(?:Z|[+-]\d{2}:?\d{2}))$/iu;
const dateFirst = /^(\d{4})-(\d{2})-(\d{2})(?!\d)/u;
const dateOnly = /^\d{4}-\d{2}-\d{2}$/u;
const dateAndTime = /^\d{4}-\d{2}-\d{2}[T ](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?$/u;

const span = /^(\d{1,6})(s|m|h|d|w)$/u;
const spanMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/**
 * A moment in the past: `2d`, `12h` or `30m` before `now`, the first moment of `today` or `yesterday` in this machine's
 * zone, or a time as `parseTime` reads it.
 */
export function parsePast(text: string, flag: string, now: Date): string {
  refuseMonth(text, flag);
  const typed = text.trim().toLowerCase();
  if (typed === 'now') return inSeconds(now);
  if (typed === 'today' || typed === 'yesterday') {
    return new Date(now.getFullYear(), now.getMonth(), now.getDate() - Number(typed === 'yesterday')).toISOString();
  }
  const [, count, unit] = span.exec(typed) ?? [];
  if (count === undefined) return parseTime(text, flag, ', today, yesterday, or a span like 2w, 2d, 12h or 30m');
  const then = new Date(now.getTime() - Number(count) * spanMs[unit as keyof typeof spanMs]);
  if (then.getTime() >= 0) return inSeconds(then);
  throw new Failure('usage', `${flag} must lie after 1970, not "${text}" ago.`);
}

/** `M` is a month to many programs, and months differ in length. */
function refuseMonth(text: string, flag: string): void {
  const [, unit = ''] = /^(?:in )?\d+ ?([a-z]+)$/iu.exec(text.trim()) ?? [];
  if (unit !== 'M' && !/^(?:mo|y)/iu.test(unit)) return;
  const problem = `${flag} has no unit for months and years: "${text}". The units are m (minutes), h, d and w.`;
  throw new Failure('usage', problem, { hint: 'Give days or weeks, such as 30d or 4w.' });
}

const clock = /^(today|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?: (?:at )?(\d{1,2}):(\d{2}))?$/u;
const ahead = /^(?:in )?(\d{1,6}) ?(m|h|d|w)$/u;
const days = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** Whether it is another time whenever it is said. */
export const isMoving = (text: string): boolean => {
  const typed = plainly(text);
  return typed === 'now' || clock.test(typed) || ahead.test(typed);
};

/** Whether it is another moment in another time zone. */
export const isLocal = (text: string): boolean => {
  const typed = plainly(text);
  return typed !== 'now' && !zoned.test(text.trim()) && !ahead.test(typed) && !span.test(typed);
};

/**
 * A moment to come: `in 2h`, `tomorrow`, `tomorrow 9:00` or `monday 9:00` in this machine's zone, or a time as
 * `parseTime` reads it. A weekday is today where its time is still to come, else the next one.
 */
export function parseComing(text: string, flag: string, now: Date): string {
  refuseMonth(text, flag);
  const typed = plainly(text);
  if (typed === 'now') return inSeconds(now);
  const [, count, unit] = ahead.exec(typed) ?? [];
  if (count !== undefined)
    return inSeconds(new Date(now.getTime() + Number(count) * spanMs[unit as keyof typeof spanMs]));
  const [, day = '', hours, minute = '0'] = clock.exec(typed) ?? [];
  const hour = hours ?? '0';
  if (day === '') return parseTime(text, flag, ', tomorrow, "tomorrow 9:00", "monday 9:00" or "in 2h"');
  if (Number(hour) > 23 || Number(minute) > 59) {
    throw new Failure('usage', `${flag} must have a time of day from 0:00 to 23:59, not "${text}".`);
  }
  const dateIn = (dayCount: number) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + dayCount, Number(hour), Number(minute));
  const dayCount = daysUntil(day, now);
  // As moments: by the clock on the wall an hour that comes twice may be still to come when its first is over.
  const [today, minutes] = [dateIn(0), Number(hour) * 60 + Number(minute)];
  // One that the clocks skip is over once they have.
  const isSkipped = today.getHours() !== Number(hour) && minutes <= now.getHours() * 60 + now.getMinutes();
  const isOver = dayCount === 0 && day !== 'today' && (today.getTime() <= now.getTime() || isSkipped);
  const date = dateIn(isOver ? 7 : dayCount);
  // A day begins when it begins.
  if (hours !== undefined) refuseSkipped(typed, { local: date, hours, minutes: minute }, flag);
  return inSeconds(date);
}

function daysUntil(day: string, now: Date): number {
  if (day === 'today' || day === 'tomorrow') return Number(day === 'tomorrow');
  return (days.indexOf(day) - now.getDay() + 7) % 7;
}

const plainly = (text: string): string => text.trim().toLowerCase().replaceAll(/\s+/gu, ' ');

/** As the service writes it: without parts of a second. */
export const inSeconds = (date: Date): string => date.toISOString().replace(/\.\d+Z$/u, 'Z');

/** As `parsePast`, exactly and in UTC, to compare with times that svc itself noted. */
export const pastMoment = (text: string, flag: string, now: Date): string =>
  new Date(parsePast(text, flag, now)).toISOString();

/**
 * A time as typed. With a zone it goes out exactly as it is; without one it means this machine's zone, and a bare date
 * its first moment there; both are then written in UTC, which the service uses.
 */
export function parseTime(text: string, flag: string, others = ''): string {
  const typed = text.trim();
  const day = dateFirst.exec(typed);
  const isZoned = zoned.test(typed);
  if (isZoned && day && hasDay(day) && !Number.isNaN(Date.parse(typed))) return typed;
  const local = !isZoned && day && Number(day[1]) >= firstYear && hasDay(day) ? localTime(typed, day) : undefined;
  if (local && !Number.isNaN(local.getTime())) {
    const [, hours, minutes] = dateAndTime.exec(typed) ?? [];
    if (hours !== '24') refuseSkipped(typed, { local, date: day?.[3], hours, minutes }, flag);
    return local.toISOString();
  }
  throw new Failure('usage', `${flag} must be a time like 2026-01-31 or 2026-01-31T09:00:00Z${others}, not "${text}".`);
}

/** An earlier one is a slip of the pen, and some readers of times take it for one of 1900. */
const firstYear = 100;

const localTime = (typed: string, [, year, month, day]: RegExpExecArray): Date | undefined => {
  if (dateOnly.test(typed)) return new Date(Number(year), Number(month) - 1, Number(day));
  return dateAndTime.test(typed) ? new Date(typed.replace(' ', 'T')) : undefined;
};

/** Whether the month has that day: a Date would take the 31st of April for the 1st of May. */
function hasDay([, year, month, day]: RegExpExecArray): boolean {
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

/** The moment, and the day of the month and the time of day that were typed for it. */
type Clock = { readonly local: Date; readonly date?: string; readonly hours?: string; readonly minutes?: string };

/** Where the clocks go forward, an hour is left out, and once a day was; a Date moves what lies in it. */
function refuseSkipped(typed: string, { local, date, hours, minutes }: Clock, flag: string): void {
  const isHour = hours === undefined || (local.getHours() === Number(hours) && local.getMinutes() === Number(minutes));
  if (isHour && (date === undefined || local.getDate() === Number(date))) return;
  const problem = `${flag}: there is no ${typed} here, since the clocks skip that ${isHour ? 'day' : 'hour'}.`;
  throw new Failure('usage', problem, { hint: 'Give another time, or say the zone: 2026-01-31T09:00:00+01:00' });
}

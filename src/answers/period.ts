import { Failure } from '../errors.ts';
import { pastMoment } from '../text/time.ts';
import { type Day, daysAfter, dayText, offsetsBetween, weekdayOf, type Zone } from './zone.ts';

export type Span = 'day' | 'week' | 'month';

/** From its first moment to the one after its last; ms since 1970, whole seconds. */
export type Period = { readonly begins: number; readonly ends: number };

/** What a report is about. */
export type Frame = {
  readonly zone: Zone;
  readonly now: Period;
  /** What it is held beside. */
  readonly before: Period | undefined;
  /** The parts of `now`, for what is drawn in time, and what each is. */
  readonly parts: readonly (Period & { readonly label: string })[];
  readonly partsAre: 'hours' | 'days' | 'weeks' | 'months';
};

export type Asked = {
  readonly span: Span | undefined;
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly compare: boolean;
  /** What both ends are called where they were given: in a command by flags. */
  readonly called?: Called;
};

type Called = Readonly<Record<'since' | 'until', string>>;

const flags: Called = { since: '--since', until: '--until' };

/** @throws Failure `usage` for times that make no period */
export function frameOf({ span, since, until, compare, called = flags }: Asked, zone: Zone, now: Date): Frame {
  const isOwn = since !== undefined || until !== undefined;
  if (isOwn && span !== undefined)
    throw new Failure('usage', `Give "${span}", or ${called.since} and ${called.until}.`, {
      hint: `The last whole ${span} needs neither.`,
    });
  const [period, before] = isOwn
    ? ownPeriod(since, until, { zone, now, called })
    : lastWhole(span ?? 'week', zone, now);
  const isCompared = compare || (!isOwn && span === undefined);
  return { zone, now: period, before: isCompared ? before : undefined, ...partsOf(period, zone) };
}

/** The last one that is over, and the one before. */
function lastWhole(span: Span, zone: Zone, now: Date): [Period, Period] {
  const today = zone.dayAt(now.getTime());
  const firsts = [0, 1, 2].map((back) => zone.startOf(firstDay(span, today, back)));
  const [ends = 0, begins = 0, earlier = 0] = firsts;
  return [
    { begins, ends },
    { begins: earlier, ends: begins },
  ];
}

/** The first day of the span that `today` is in, or of one so many before. Weeks begin on Monday. */
function firstDay(span: Span, today: Day, back: number): Day {
  if (span === 'day') return daysAfter(today, -back);
  if (span === 'week') return daysAfter(today, -weekdayOf(today) - 7 * back);
  // A month before January is one of the year before: daysAfter counts it out.
  return daysAfter({ year: today.year, month: today.month - back, day: 1 }, 0);
}

type Here = { readonly zone: Zone; readonly now: Date; readonly called: Called };

function ownPeriod(since: string | undefined, until: string | undefined, here: Here): [Period, Period] {
  const { called } = here;
  const ends = until === undefined ? inSeconds(here.now.getTime()) : momentOf(until, 'until', here);
  if (since === undefined)
    throw new Failure('usage', `${called.until} needs ${called.since}.`, {
      hint: `Say where the report begins: ${called.since} 2026-01-01`,
    });
  const begins = momentOf(since, 'since', here);
  if (begins >= ends)
    throw new Failure('usage', `${called.since} must be before ${called.until}.`, {
      hint: `They are ${new Date(begins).toISOString()} and ${new Date(ends).toISOString()}.`,
    });
  return [
    { begins, ends },
    { begins: earlier({ begins, ends }, here.zone), ends: begins },
  ];
}

/** As long before it: as many days, where it is made of days, whatever the clocks do. */
function earlier({ begins, ends }: Period, zone: Zone): number {
  const [first, last] = [zone.dayAt(begins), zone.dayAt(ends)];
  if (zone.startOf(first) !== begins || zone.startOf(last) !== ends) return begins - (ends - begins);
  const days = Math.round(
    (Date.UTC(last.year, last.month - 1, last.day) - Date.UTC(first.year, first.month - 1, first.day)) / dayMs,
  );
  return zone.startOf(daysAfter(first, -days));
}

const dayMs = 86_400_000;

const inSeconds = (moment: number): number => Math.floor(moment / 1000) * 1000;

const local = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?$/u;

/** A date is its beginning as `since` and its end as `until`; a time without a zone is one of the report's zone. */
function momentOf(text: string, end: keyof Called, { zone, now, called }: Here): number {
  const flag = called[end];
  const typed = text.trim().toLowerCase();
  const days = { today: 0, yesterday: -1 }[typed];
  const [, year, month, day, hour, minute, second] = local.exec(text.trim()) ?? [];
  const isDay = days !== undefined || (year !== undefined && hour === undefined);
  if (days === undefined && (year === undefined || !isClock(text.trim()))) {
    // It also says what is wrong with what is no time.
    const moment = inSeconds(Date.parse(pastMoment(text, flag, now)));
    if (year === undefined) return moment;
  }
  const date =
    days === undefined
      ? { year: Number(year), month: Number(month), day: Number(day) }
      : daysAfter(zone.dayAt(now.getTime()), days);
  if (isDay) return zone.startOf(end === 'until' ? daysAfter(date, 1) : date);
  const clock = Date.UTC(date.year, date.month - 1, date.day, Number(hour), Number(minute), Number(second ?? 0));
  const guess = clock - zone.offsetAt(clock) * 1000;
  const told = clock - zone.offsetAt(guess) * 1000;
  if (told + zone.offsetAt(told) * 1000 === clock) return told;
  throw new Failure('usage', `${flag}: there is no ${text.trim()} in ${zone.name}, since the clocks skip that hour.`, {
    hint: 'Give another time, or say the zone: 2026-01-31T09:00:00+01:00',
  });
}

/** Whether it is a time of a day that there is: in the report's zone, whatever this machine's clocks skip. */
function isClock(text: string): boolean {
  const iso = text.replace(' ', 'T');
  return iso.length > 10 && iso > '0100' && new Date(`${iso}Z`).toJSON()?.startsWith(iso) === true;
}

/** As many as a line of small bars can show. */
function partsOf(period: Period, zone: Zone): Pick<Frame, 'parts' | 'partsAre'> {
  const { begins, ends } = period;
  const days = (ends - begins) / dayMs;
  if (days <= 2.1) return { partsAre: 'hours', parts: hoursIn(period, zone) };
  const first = zone.dayAt(begins);
  const step = (count: number): Day => {
    if (days <= 62.1) return daysAfter(first, count);
    if (days <= 400) return daysAfter(first, 7 * count - weekdayOf(first));
    return daysAfter({ year: first.year, month: first.month + count, day: 1 }, 0);
  };
  const parts: (Period & { label: string })[] = [];
  for (let count = 0, from = begins; from < ends; count++) {
    const to = Math.min(ends, zone.startOf(step(count + 1)));
    if (to <= from) continue;
    parts.push({ begins: from, ends: to, label: dayText(zone.dayAt(from)) });
    from = to;
  }
  if (days <= 62.1) return { partsAre: 'days', parts };
  return { partsAre: days <= 400 ? 'weeks' : 'months', parts };
}

function hoursIn({ begins, ends }: Period, zone: Zone): (Period & { label: string })[] {
  const count = Math.ceil((ends - begins) / 3_600_000);
  const clockAt = (from: number) =>
    new Date(from + zone.offsetAt(from) * 1000).toISOString().replace('T', ' ').slice(0, 16);
  const hours = Array.from({ length: count }, (_, at) => begins + at * 3_600_000);
  const clocks = hours.map(clockAt);
  return hours.map((from) => {
    const clock = clockAt(from);
    // An hour that comes twice, as clocks are put back, is told apart by how far it is from UTC.
    const isTwice = clocks.indexOf(clock) !== clocks.lastIndexOf(clock);
    return {
      begins: from,
      ends: Math.min(ends, from + 3_600_000),
      label: isTwice ? `${clock} ${offsetText(zone.offsetAt(from))}` : clock,
    };
  });
}

const offsetText = (seconds: number): string =>
  `${seconds < 0 ? '-' : '+'}${new Date(Math.abs(seconds) * 1000).toISOString().slice(11, 16)}`;

/** How far the clocks are from UTC in both periods. */
export const offsetsOf = ({ zone, now, before }: Frame): { from: number; to: number; seconds: number }[] => {
  const [begins, ends] = [before?.begins ?? now.begins, now.ends];
  const all = offsetsBetween(zone, begins, ends);
  return all.map(({ from, seconds }, at) => ({ from, to: all[at + 1]?.from ?? ends, seconds }));
};

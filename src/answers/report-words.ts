import { number } from '../text/number.ts';
import { ownOf } from '../text/record.ts';
import { type Figure, type FigureName, figures } from './figures.ts';
import type { Report, Shown, Value } from './report.ts';

// What the forms of the report share: the words of it, and how a value is written.

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** What people call a key of a figure. */
export function nameOf(name: FigureName, { key, label }: Value): string {
  if (label !== undefined) return label || 'no name';
  if (name === 'by_weekday') return weekdays[Number(key)] ?? key;
  if (name === 'by_hour') return `${key.padStart(2, '0')}:00`;
  const { words }: Figure = figures[name];
  return ownOf(words ?? {}, key) ?? (key || 'unknown');
}

/** A list in which each is there once is the names alone. */
export const hasNumbers = ({ drawn, values }: Shown): boolean =>
  drawn !== 'list' || values.some(({ value }) => value !== 1);

/** A key that is counted in a figure of times or means. */
const counts = new Set(['tickets', 'without', 'ratings']);

/** What one value of a figure is counted in. */
export const unitOf = ({ unit }: Pick<Shown, 'unit'>, key: string): Shown['unit'] => (counts.has(key) ? 'count' : unit);

export function valueText(figure: Pick<Shown, 'unit'>, key: string, value: number | null): string {
  if (value === null) return '–';
  const unit = unitOf(figure, key);
  if (unit === 'count') return number(value);
  return unit === 'seconds' ? duration(value) : value.toFixed(1);
}

/** In its two largest units: `3 d 4 h`, `5 h 2 min`, `42 s`. */
function duration(seconds: number): string {
  const whole = Math.round(Math.abs(seconds));
  const sign = seconds < 0 ? '-' : '';
  const units = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ] as const;
  const at = units.findIndex(([, size]) => whole >= size);
  if (at < 0) return '0 s';
  const parts: string[] = [];
  let left = whole;
  for (const [unit, size] of units.slice(at, at + 2)) {
    if (left >= size) parts.push(`${Math.floor(left / size)} ${unit}`);
    left %= size;
  }
  return sign + parts.join(' ');
}

/** `+3`, `-20 %` beside a number of before; of times and means how much, of counts also the part. */
export function changeText(figure: Pick<Shown, 'unit'>, { key, value, before }: Value): string {
  if (before === null || value === null) return '';
  const change = value - before;
  if (Math.abs(change) < 0.0005) return '=';
  const sign = change > 0 ? '+' : '-';
  const part = before === 0 ? '' : ` (${sign}${number(Math.round((Math.abs(change) / before) * 100))} %)`;
  return `${sign}${valueText(figure, key, Math.abs(change))}${part}`;
}

/** Its first and last day, or its moments where it is not made of days. */
export function periodText({ since, until }: Pick<Report, 'since' | 'until'>, zone: string): string {
  const [first, end] = [localIn(since, zone), localIn(until, zone)];
  if (!first.endsWith(' 00:00') || !end.endsWith(' 00:00')) return `${first} to ${end}`;
  const last = localIn(new Date(Date.parse(until) - 1000).toISOString(), zone).slice(0, 10);
  return first.slice(0, 10) === last ? last : `${first.slice(0, 10)} to ${last}`;
}

/** Of when the figures are and what is missing in them, for whoever reads the report and not svc's notes. */
export function copyTexts(report: Report): string[] {
  const { as_of: asOf, not_whole: partial, refused } = report.copy;
  const isBefore = endOfCopy(report) !== undefined;
  return [
    ...(asOf === null
      ? []
      : [`From a copy of ${localIn(asOf, report.zone)}.${isBefore ? ' What happened after that is missing.' : ''}`]),
    ...(partial.length > 0 ? [`The copy is not whole, so records may be missing: ${partial.join(', ')}.`] : []),
    ...(refused.length > 0 ? [`The service did not show: ${refused.join(', ')}.`] : []),
  ];
}

/** The moment from which on a report of a time that is over has nothing; undefined where the copy is of after its end. */
export function endOfCopy({ copy: { as_of: asOf }, until, zone }: Report): string | undefined {
  return asOf !== null && Date.parse(asOf) < Date.parse(until) ? localIn(asOf, zone) : undefined;
}

/** `2026-01-31 09:00` on a clock of the zone. */
function localIn(time: string, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone, year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
    hourCycle: 'h23',
  }).formatToParts(new Date(time));
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  return `${part('year')}-${part('month')}-${part('day')} ${part('hour')}:${part('minute')}`;
}

/** Of what is drawn in time it says what each column is. */
export const titleOf = ([name, { title }]: readonly [FigureName, Shown], { parts }: Report): string =>
  name === 'opened' || name === 'resolved' ? `${title} by ${parts.slice(0, -1)}` : title;

/** The figures in their order, without those that have nothing to show. */
export const shownFigures = ({ figures }: Report): (readonly [FigureName, Shown])[] =>
  (Object.entries(figures) as [FigureName, Shown][]).filter(([, { values }]) => values.length > 0);

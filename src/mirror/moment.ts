import { parseTime } from '../text/time.ts';

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A time as typed, or how long ago: `2d`, `12h`, `30m`. In UTC. */
export function moment(text: string, flag: string, now: Date): string {
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/u.exec(text.trim()) ?? [];
  if (count !== undefined) return new Date(now.getTime() - Number(count) * (units[unit] ?? 0)).toISOString();
  return new Date(parseTime(text, flag)).toISOString();
}

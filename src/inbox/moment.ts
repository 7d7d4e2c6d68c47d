import { localTime } from '../output/cells.ts';

/** As clocks show it; with the offset in the hour that comes twice at the end of summer time. */
export function momentText(iso: string): string {
  const text = localTime(iso);
  const time = new Date(iso);
  const comesTwice = [-60, -30, 30, 60].some((min) => {
    return localTime(new Date(time.getTime() + min * 60_000).toISOString()) === text;
  });
  if (!comesTwice) return text;
  const east = -time.getTimezoneOffset();
  const two = (part: number) => String(Math.floor(part)).padStart(2, '0');
  return `${text} ${east < 0 ? '-' : '+'}${two(Math.abs(east) / 60)}:${two(Math.abs(east) % 60)}`;
}

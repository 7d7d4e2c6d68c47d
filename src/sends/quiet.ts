import { days, type Quiet } from './policy-schema.ts';

/** Whether it is quiet at a moment: on a day that is quiet whole, or between two times, over midnight too. */
export function isQuiet({ from, to, zone, days: quietDays = [] }: Quiet, now: Date): boolean {
  const { day, time } = localTimeIn(now, zone);
  if (quietDays.some((one) => one === day)) return true;
  if (from === undefined || to === undefined) return false;
  if (from === to) return true;
  return from < to ? time >= from && time < to : time >= from || time < to;
}

/** `sat` and `07:30`, in the zone, or in that of the machine. */
function localTimeIn(now: Date, timeZone: string | undefined): { readonly day: string; readonly time: string } {
  const parts = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  }).formatToParts(now);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  const day = days.find((one) => one === part('weekday').toLowerCase()) ?? '';
  return { day, time: `${part('hour')}:${part('minute')}` };
}

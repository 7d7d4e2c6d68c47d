/** ISO 8601 in UTC (service.md#records-2). A time that names no zone is taken as UTC, whatever this machine's zone is. */
export function inUtc(time: string): string {
  const hasZone = /(?:z|[+-]\d{2}:?\d{2})$/iu.test(time.slice('2026-01-31'.length));
  const isDay = time.length === '2026-01-31'.length;
  return new Date(hasZone || isDay ? time : `${time}Z`).toISOString();
}

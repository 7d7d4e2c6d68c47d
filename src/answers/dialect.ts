import type { Engine } from '../mirror/tables/store.ts';

/** What SQLite and PostgreSQL write in two ways; everything else of an answer is one text for both. */
export type Dialect = {
  /** The seconds since 1970 of a column with a time, with fractions. */
  readonly seconds: (column: string) => string;
  /** The same, whole. */
  readonly wholeSeconds: (column: string) => string;
  /** The time in UTC of such seconds. */
  readonly time: (seconds: string) => string;
};

export const dialects: Readonly<Record<Engine, Dialect>> = {
  sqlite: {
    seconds: (column) => `unixepoch(${column}, 'subsec')`,
    wholeSeconds: (column) => `unixepoch(${column})`,
    time: (seconds) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${seconds}, 'unixepoch')`,
  },
  postgres: {
    seconds: (column) => `CAST(extract(epoch FROM ${column}) AS double precision)`,
    wholeSeconds: (column) => `CAST(floor(extract(epoch FROM ${column})) AS bigint)`,
    time: (seconds) => `to_timestamp(${seconds})`,
  },
};

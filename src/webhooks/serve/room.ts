import { isPostgresUrl } from '../../database/place.ts';
import { number } from '../../text/number.ts';
import type { ServeConfig } from './config-schema.ts';

/** A folder has where each event stands in memory, with its id; measured by `bench/kept.js`. */
const bytesPerEvent = 900;
const manyEvents = 1_000_000;

/** A note where a folder is to keep more than it is made for. */
export function roomNeeded({ inbox = '', keep }: Pick<ServeConfig, 'inbox' | 'keep'>): string[] {
  if (isPostgresUrl(inbox) || keep <= manyEvents) return [];
  const gigabytes = Math.round((keep * bytesPerEvent) / 1e9);
  return [
    `keep: ${number(keep)} in a folder takes about ${gigabytes} GB of memory once so many are there. In Postgres it takes none.`,
  ];
}

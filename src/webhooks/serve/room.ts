import { isPostgresUrl } from '../../database/place.ts';
import { number } from '../../text/number.ts';
import type { ServeConfig } from './config-schema.ts';

/** An event of 1 KB with its headers and what became of it. */
const bytesPerEvent = 1_600;
/** The file grows to twice what is kept, and is copied then without the oldest. */
const copies = 3;
const manyEvents = 1_000_000;

/** A note where a folder is to keep so much that its disk has to be chosen for it. */
export function roomNeeded({ inbox = '', keep }: Pick<ServeConfig, 'inbox' | 'keep'>): string[] {
  if (isPostgresUrl(inbox) || keep <= manyEvents) return [];
  const gigabytes = Math.round((keep * bytesPerEvent * copies) / 1e9);
  return [
    `keep: ${number(keep)} in a folder takes up to about ${gigabytes} GB of disk with events of 1 KB: its file grows to twice what is kept, and is copied then.`,
  ];
}

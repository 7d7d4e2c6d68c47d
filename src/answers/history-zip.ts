import { strToU8, zipSync } from 'fflate';
import type { History } from './history.ts';
import { historyHtml } from './history-html.ts';

/** person.json and person.html. The same history gives the same bytes, on every machine and every day. */
export function historyZip(history: History): Uint8Array {
  const files = {
    'person.html': strToU8(historyHtml(history)),
    'person.json': strToU8(`${JSON.stringify(history, null, 2)}\n`),
  };
  // The library writes a file's time as this machine's zone has it: the first that the format knows is the same in all.
  return zipSync(files, { level: 9, mtime: new Date(1980, 0, 1) });
}

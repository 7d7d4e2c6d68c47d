import { basename } from 'node:path';
import { localTime } from '../../output/cells.ts';
import { stdinName } from '../../tabular/decode.ts';
import { listed } from '../../text/listed.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { Found } from '../journal/on-disk.ts';

/** So many runs are named. */
const mostOrigins = 3;

/** When rows were sent, and from which file. */
export function origins(from: Iterable<Found>): string {
  const runs = [...new Set(from)];
  const named = runs.slice(0, mostOrigins).map(originOf);
  const more = runs.length > named.length ? ', and by earlier runs' : '';
  return named.join(', and ') + more;
}

function originOf({ past: { header, finished, sentFrom } }: Found): string {
  const names = (sentFrom.size > 0 ? [...sentFrom] : [header.file]).map((from) =>
    from === null ? stdinName : sanitize(basename(from)),
  );
  return `at ${localTime(finished?.at ?? header.started_at)} from ${listed([...new Set(names)])}`;
}

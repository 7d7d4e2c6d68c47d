import { join } from 'node:path';
import { linesIn, partsOf } from '../disk/log/shared-log-part.ts';
import { type Line, type Outcome, readLine } from './entry.ts';
import { fileName } from './place.ts';

/** A write, as it is told: what its last line says. */
export type Entry = Omit<Line, 'newest' | 'line' | 'outcome'> & {
  readonly outcome: Exclude<Outcome, 'sent'>;
  /** When its outcome was written; null where it never was. */
  readonly ended_at: string | null;
};

const ofEntry: Readonly<Record<keyof Entry, true>> = {
  ...{ service: true, account: true, profile: true, credential: true, face: true, who: true, command: true },
  ...{ operation: true, method: true, path: true, record: true, digest: true, draft: true, row: true },
  ...{ recording: true, seq: true, time: true, status: true, body: true, prev: true, outcome: true, ended_at: true },
};

/** What an entry may have. */
export const entryFields: readonly string[] = Object.keys(ofEntry);

/** The files of a record, the oldest first. */
export const filesOf = (root: string): string[] =>
  partsOf({ root, name: fileName }).map((part) => join(root, part, fileName));

/** Every entry, the oldest first. What is no line of the record is passed over: `verify` tells of it. */
export async function entriesIn(root: string): Promise<Entry[]> {
  const entries = new Map<number, Entry>();
  for (const file of filesOf(root)) {
    for await (const { bytes, isWhole } of linesIn(file)) {
      const line = isWhole ? readLine(bytes.toString('utf8')) : undefined;
      if (line) entries.set(line.seq, merged(entries.get(line.seq), line));
    }
  }
  return [...entries.values()];
}

function merged(earlier: Entry | undefined, line: Line): Entry {
  const { newest: _, line: __, outcome, ...told } = line;
  if (!earlier || outcome === 'sent') return { ...told, outcome: 'unknown', ended_at: null };
  const { status, record, prev } = told;
  return { ...earlier, status, record, prev, outcome, ended_at: line.time };
}

import { isCount, isTime } from '../batch/journal-values.ts';
import { jsonAs } from '../text/json.ts';
import { isRecord, isText } from '../text/record.ts';
import type { Tally } from './chunks.ts';
import type { Problem } from './rows.ts';

/** The first line: what was being done to what. */
export type Header = {
  readonly svc_sync: 1;
  /** Absolute path; null for standard input. */
  readonly file: string | null;
  /** SHA-256 of the content. */
  readonly content: string;
  /** A digest of the service, the account and the operation. */
  readonly destination: string;
  readonly rows: number;
  readonly started_at: string;
};

type Done = Tally & {
  readonly chunk: number;
  readonly first_line: number;
  /** Rows of the file. */
  readonly rows: number;
  readonly unaccounted: number;
  /** Requests made since the line before, repetitions included. */
  readonly requests: number;
  /** Since this run began. */
  readonly ms: number;
  readonly errors: readonly Problem[];
};

type About = { readonly chunk: number; readonly first_line: number; readonly rows: number };

export type Line =
  | Header
  | { readonly run: { readonly at: string } }
  | { readonly sent: About }
  /** Nothing came of what was sent. 0.1.0 did not say so. */
  | { readonly back: About }
  | { readonly done: Done }
  /** `sure`: by a clock that agreed with the service's. */
  | { readonly finished: { readonly at: string; readonly sure?: boolean } };

/** What a journal says. */
export type Past = {
  readonly header: Header;
  readonly done: ReadonlyMap<number, Done>;
  /**
   * Chunks that were on their way when a run ended, or of which it did not know whether they were done: they may still
   * arrive. With their rows of the file.
   */
  readonly open?: ReadonlyMap<number, number>;
  readonly finishedAt: string | undefined;
  readonly isFinishSure: boolean;
  /** Spent by earlier runs. */
  readonly ms: number;
  readonly requests: number;
};

/** Takes the lines of a journal one after the other: false for what is none. `past` is undefined without a header. */
export function journalReader(): { take(text: Buffer): boolean; past(): Past | undefined } {
  const done = new Map<number, Done>();
  const open = new Map<number, number>();
  let header: Header | undefined;
  let finishedAt: string | undefined;
  let isFinishSure = false;
  let number = 0;
  let ms = 0;
  let msOfRun = 0;
  let requests = 0;
  return {
    take(text) {
      number++;
      const line = jsonAs(text.toString('utf8'), isLine);
      if (line === undefined || 'svc_sync' in line !== (number === 1)) return false;
      if ('svc_sync' in line) header = line;
      else if ('run' in line) {
        ms += msOfRun;
        msOfRun = 0;
      } else if ('sent' in line) open.set(line.sent.chunk, line.sent.rows);
      else if ('back' in line) open.delete(line.back.chunk);
      else if ('done' in line) {
        open.delete(line.done.chunk);
        done.set(line.done.chunk, line.done);
        msOfRun = Math.max(msOfRun, line.done.ms);
        requests += line.done.requests;
      } else if ('finished' in line) {
        finishedAt = line.finished.at;
        isFinishSure = line.finished.sure === true;
      }
      return true;
    },
    past: () => header && { header, done, open, finishedAt, isFinishSure, ms: ms + msOfRun, requests },
  };
}

const counts = 'chunk first_line rows created updated synced unaccounted requests ms'.split(' ');

function isLine(line: unknown): line is Line {
  if (!isRecord(line)) return false;
  if ('svc_sync' in line) {
    const { svc_sync, content, destination, rows, started_at } = line;
    return svc_sync === 1 && isText(content) && isText(destination) && isCount(rows) && isTime(started_at);
  }
  const { run, sent, back, finished, done } = line;
  const about = sent ?? back;
  if (isRecord(run)) return isTime(run.at);
  if (isRecord(about)) return isCount(about.chunk) && isCount(about.first_line) && isCount(about.rows);
  if (isRecord(finished)) return isTime(finished.at);
  return isRecord(done) && counts.every((name) => isCount(done[name])) && Array.isArray(done.errors);
}

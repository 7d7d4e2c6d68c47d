import { fieldsIn, isRecord } from '../text/record.ts';

/** What an earlier run was. */
export type Header = {
  readonly svc_bulk: 1;
  /** The words behind `svc`. */
  readonly command: string;
  /** Absolute path; null for standard input. */
  readonly file: string | null;
  /** A digest of the service, the account, the command and the file. */
  readonly place: string;
  /** A digest of the service and the account alone. */
  readonly account: string;
  /** A digest of what the command line says for every row. */
  readonly settings: string;
  readonly started_at: string;
};

/** Every line of a row says which one it is, and where it stood in the file. */
type About = { readonly row: string; readonly line: number };

/** What the run has cost since the line before: requests, and milliseconds since it began. */
type Cost = { readonly requests: number; readonly ms: number };

export type Line =
  | Header
  | {
      readonly run: {
        readonly at: string /** Of the machine; undefined where that cannot be told. */;
        readonly boot?: string;
      };
    }
  /** What the service listed before the first row: a row that was on its way is known from these by its id. */
  | { readonly there: { readonly ids: readonly number[] } }
  /** On disk before any of them leaves. `before` as in `sent`. */
  | { readonly meant: { readonly rows: readonly About[]; readonly before: number | null } }
  /**
   * Written before it leaves. `before`: the newest id that was there; null where that is not known. `keys`: of a row that
   * may be done twice, the records that it is about.
   */
  | { readonly sent: About & { readonly before: number | null; readonly keys?: readonly string[] } }
  /** Nothing came of it: it never left, or the rate limit refused it. */
  | { readonly back: About }
  /** `error`: it is there, and what was to follow was not done. */
  | { readonly done: About & Cost & { readonly id: number | null; readonly secret?: string; readonly error?: string } }
  | { readonly rejected: About & Cost & { readonly error: string } }
  | { readonly unknown: About & Cost & { readonly error: string } }
  | { readonly finished: { readonly at: string } };

/** What became of a row. */
export type Fate =
  | { readonly status: 'meant'; readonly line: number; readonly before: number | null }
  | ({ readonly status: 'sent'; readonly line: number } & Open)
  | {
      readonly status: 'done';
      readonly line: number;
      readonly id: number | null;
      readonly secret?: string;
      readonly error?: string;
    }
  | { readonly status: 'rejected'; readonly line: number; readonly error: string }
  | ({ readonly status: 'unknown'; readonly line: number; readonly error: string } & Open);

type Open = { readonly before: number | null; readonly keys?: readonly string[] };

export type Past = {
  readonly header: Header;
  readonly fates: ReadonlyMap<string, Fate>;
  readonly finishedAt: string | undefined;
  readonly requests: number;
  readonly ms: number;
  /** Every line that was written is in it: the machine has not been started again since. */
  readonly isBelieved: boolean;
  /** What was there before the first row of each run that has written it down, by the newest of its ids. */
  readonly there: ReadonlyMap<number, readonly number[]>;
};

/**
 * Takes the lines of a journal one after the other: false for what is none. `boot` is the machine's present one.
 *
 * A row that was only meant to go has certainly not gone if the machine has not been started again since: its `sent`
 * would be in the file, on disk or not. After a power cut it may have gone.
 */
export function journalReader(boot: string | undefined): { take(text: Buffer): boolean; past(): Past | undefined } {
  const fates = new Map<string, Fate>();
  const there = new Map<number, readonly number[]>();
  let header: Header | undefined;
  let finishedAt: string | undefined;
  let requests = 0;
  let ms = 0;
  let msOfRun = 0;
  let bootOfRun: string | undefined;
  let isWhole = true;
  const isSameBoot = () => isWhole && boot !== undefined && bootOfRun === boot;
  const judgeMeant = () => {
    const isSame = isSameBoot();
    for (const [row, fate] of fates) {
      if (fate.status !== 'meant') continue;
      if (isSame) fates.delete(row);
      else fates.set(row, { ...fate, status: 'sent' });
    }
  };
  return {
    take(text) {
      const line = parseLine(text.toString('utf8'));
      if (!line || 'svc_bulk' in line !== (header === undefined)) {
        isWhole = false;
        return false;
      }
      if ('svc_bulk' in line) {
        header = line;
        return true;
      }
      applyLine(fates, line);
      if ('there' in line) there.set(newestOf(line.there.ids), line.there.ids);
      if ('finished' in line) finishedAt = line.finished.at;
      else if (!('run' in line)) finishedAt = undefined;
      if ('run' in line) {
        judgeMeant();
        bootOfRun = line.run.boot;
        ms += msOfRun;
        msOfRun = 0;
      }
      const cost = costOf(line);
      requests += cost.requests;
      msOfRun = Math.max(msOfRun, cost.ms);
      return true;
    },
    past() {
      judgeMeant();
      return header && { header, fates, finishedAt, requests, ms: ms + msOfRun, isBelieved: isSameBoot(), there };
    },
  };
}

/** By hand: a list may have more ids than a call takes arguments. */
export const newestOf = (ids: Iterable<number>, atLeast = 0): number => {
  let newest = atLeast;
  for (const id of ids) newest = Math.max(newest, id);
  return newest;
};

function costOf(line: Exclude<Line, Header>): Cost {
  if ('done' in line) return line.done;
  if ('rejected' in line) return line.rejected;
  return 'unknown' in line ? line.unknown : { requests: 0, ms: 0 };
}

/** What a line says of its row. */
export function applyLine(fates: Map<string, Fate>, line: Exclude<Line, Header>): void {
  if ('meant' in line) {
    const { rows, before } = line.meant;
    for (const { row, line: at } of rows) fates.set(row, { status: 'meant', line: at, before });
  } else if ('sent' in line) {
    const { row, line: at, before, keys } = line.sent;
    fates.set(row, { status: 'sent', line: at, before, ...(keys && { keys }) });
  } else if ('back' in line) fates.delete(line.back.row);
  else if ('done' in line) fates.set(line.done.row, doneFate(line.done));
  else if ('rejected' in line) {
    fates.set(line.rejected.row, { status: 'rejected', line: line.rejected.line, error: line.rejected.error });
  } else if ('unknown' in line) {
    const { row, line: at, error } = line.unknown;
    const sent = fates.get(row);
    const { before, keys }: Open = sent && 'before' in sent ? sent : { before: null };
    fates.set(row, { status: 'unknown', line: at, error, before, ...(keys && { keys }) });
  }
}

const doneFate = ({ line, id, secret, error }: Extract<Line, { done: object }>['done']): Fate => ({
  status: 'done',
  line,
  id,
  ...(secret !== undefined && { secret }),
  ...(error !== undefined && { error }),
});

const isCount = (value: unknown): boolean => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
const isText = (value: unknown): value is string => typeof value === 'string';
const isTime = (value: unknown): boolean => isText(value) && !Number.isNaN(Date.parse(value));
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isId = (value: unknown): boolean => value === null || isCount(value);

function parseLine(text: string): Line | undefined {
  try {
    const line: unknown = JSON.parse(text);
    return isLine(line) ? line : undefined;
  } catch {
    return undefined;
  }
}

const isAbout = (about: unknown): about is Readonly<Record<string, unknown>> & About =>
  isRecord(about) && isText(about.row) && isCount(about.line);

function isLine(line: unknown): line is Line {
  if (!isRecord(line)) return false;
  if ('svc_bulk' in line) {
    const { svc_bulk, file, started_at, ...texts } = line;
    const named = ['command', 'place', 'account', 'settings'].every((name) => isText(texts[name]));
    return svc_bulk === 1 && named && (file === null || isText(file)) && isTime(started_at);
  }
  const { run, there, meant, sent, back, done, rejected, unknown, finished } = line;
  if (run || finished) return isTime(fieldsIn(run ?? finished).at);
  if (there) {
    const { ids } = fieldsIn(there);
    return Array.isArray(ids) && ids.every(isCount);
  }
  if (meant) {
    const { rows, before } = fieldsIn(meant);
    return isId(before) && Array.isArray(rows) && rows.every(isAbout);
  }
  const about = sent ?? back ?? done ?? rejected ?? unknown;
  if (!isAbout(about)) return false;
  if (sent) return isId(about.before) && (about.keys === undefined || areTexts(about.keys));
  if (back) return true;
  if (!isCount(about.requests) || !isCount(about.ms)) return false;
  return done ? isId(about.id) && (about.error === undefined || isText(about.error)) : isText(about.error);
}

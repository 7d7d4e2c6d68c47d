/** What an earlier run was. */
export type Header = {
  readonly svc_bulk: 2;
  /** The words behind `svc`. */
  readonly command: string;
  /** Absolute path; null for standard input. */
  readonly file: string | null;
  /** A digest of the service, the account and the command. */
  readonly scope: string;
  /** Of the service and the command, and whether the account is known. */
  readonly profile: string;
  /** A digest of what the command line says for every row. */
  readonly settings: string;
  readonly started_at: string;
};

/** As version 0.1.0 wrote it: a row's name is the digest of its request. */
export type FormerHeader = {
  readonly svc_bulk: 1;
  readonly command: string;
  readonly file: string | null;
  /** A digest of the service, the credential, the command and the file. */
  readonly place: string;
  /** A digest of the service and the credential. */
  readonly account: string;
  readonly settings: string;
  readonly started_at: string;
};

/** A row as runs with these settings call it. `is`: that request alone. */
export type Named = readonly [settings: string, row: string, is?: string];

/**
 * Every line of a row says which one it is, and where it stood in the file. `is`: the digest of its request. `again`: it
 * goes once more, and once it has gone earlier runs say nothing of these that counts any more. `unsure`: it goes once more
 * though it may be done; what is said of that stays true until this attempt is answered well.
 */
export type About = {
  readonly row: string;
  readonly line: number;
  readonly is?: string;
  readonly again?: readonly Named[];
  readonly unsure?: string;
};

/** What the run has cost since the line before: requests, and milliseconds since it began. */
type Cost = { readonly requests: number; readonly ms: number };

/**
 * A row that was known by another name, with its status (`fate` in the file). `settings`: of the run that knew it, if others;
 * `sent`: the number of the run that has sent it.
 */
export type Renamed = {
  readonly was: string;
  readonly row: string;
  readonly fate: RowStatus;
  readonly settings?: string;
  readonly sent?: number;
};

export type RunLine = {
  readonly at: string;
  /** Counts up over all runs: rows that a later one sends again were sent by the earlier ones. 0.1.0 wrote none. */
  readonly number?: number;
  /** Which start of the machine; undefined where that cannot be told. */
  readonly boot?: string;
  readonly witness?: string;
  /** Every line that the run before wrote is surely there. */
  readonly whole?: boolean;
  readonly file?: string | null;
  /** In a journal that was rewritten: the files from which its rows were sent. */
  readonly sentFrom?: readonly (string | null)[];
  /** With --retry-unknown: what earlier rows in doubt are like, beside which it is to send rows like them. */
  readonly passedOver?: readonly string[];
  /** A digest of the cells of all rows of the file. */
  readonly content?: string;
  /** Which columns its rows fill. */
  readonly shapes?: readonly (readonly string[])[];
};

/** `elsewhere`: what this very journal says of them stays. Builds between releases wrote it. */
export type Again = {
  readonly rows: readonly string[];
  readonly settings: readonly string[];
  readonly elsewhere?: true;
};

/** `sure`: by a clock that agreed with the service's. `rejects`: the content of the file with its rejected rows. */
export type Finish = { readonly at: string; readonly sure?: boolean; readonly rejects?: string };

export type Line =
  | Header
  | FormerHeader
  | { readonly run: RunLine }
  /** What the service listed before the first row: a row that was on its way is known from these by its id. */
  | { readonly there: Listed & { readonly key?: number } }
  /** These may go once more, whatever earlier runs with one of these settings say of them: the file was begun again. */
  | { readonly again: Again }
  /**
   * With --restart: for runs that go on in this journal earlier ones say nothing of these; for any other, until they have gone.
   * `is`: what is to be sent for each; empty where that is not agreed to.
   */
  | { readonly restart: { readonly rows: readonly string[]; readonly is?: readonly string[] } }
  | { readonly renamed: { readonly rows: readonly Renamed[] } }
  /** On disk before its draft is kept. `batch`: with the row's name the key of the draft. `like`: as of `sent`. */
  | { readonly drafting: About & { readonly batch: string; readonly like?: string } }
  /** On disk before any of them leaves. `before` as in `sent`. */
  | { readonly meant: { readonly rows: readonly About[] } & Before }
  /**
   * Written before it leaves. `keys`: of a row that may be done twice, the records that it is about; `like`: of any other,
   * as `likeOf` tells it. 0.1.0 wrote none.
   */
  | { readonly sent: About & Open }
  /** Nothing came of this attempt: it never left, or the rate limit refused it. */
  | { readonly back: About }
  /** `error`: it is there, and what was to follow was not done; with `rest` the next run does it. */
  | { readonly done: About & Cost & Made }
  | { readonly rejected: About & Cost & { readonly error: string } }
  | { readonly unknown: About & Cost & { readonly error: string } }
  | { readonly finished: Finish };

/** What became of a row. `is`: the digest of its request. */
export type RowStatus = Said & { readonly line: number; readonly is?: string };

export type Said =
  /** Whether its draft is kept, the drafts tell. */
  | ({ readonly status: 'drafting'; readonly batch: string; readonly like?: string } & Unsure)
  | ({ readonly status: 'meant'; readonly like?: string } & Before & Unsure)
  | ({ readonly status: 'sent' } & Open)
  /** `unsure`: of a draft. */
  | ({ readonly status: 'done' } & Made & Unsure)
  | { readonly status: 'rejected'; readonly error: string }
  | ({ readonly status: 'unknown'; readonly error: string } & Open);

/** Of a row that is done. */
export type Made = {
  readonly id: number | null;
  readonly secret?: string;
  readonly error?: string;
  readonly rest?: true;
  /** With `error`: what was to follow may have been done. It is never done again. */
  readonly doubt?: true;
  /** Of a note: its ticket. */
  readonly of?: number;
  readonly step?: number;
  readonly drafted?: number;
  /** When that draft was made: drafts in another place may have the same id. */
  readonly draftedAt?: string;
  /** With `doubt`, `rest` or `drafted`: as of `sent`. */
  readonly like?: string;
  /** Records to which a request of this row may still write, and when it was said, by this machine's clock. */
  readonly keys?: readonly string[];
  readonly at?: string;
};

/** Of a row that may be done by an earlier attempt: what is said of that. */
export type Unsure = { readonly unsure?: string };

/**
 * What was there when a row left. `before`: the largest id, or the key of what the journal says was listed; null where
 * that is not known. `there`: these as well, by their ids; of a message, all of its thread. `left`: when it left, by the
 * service's clock in milliseconds; null where that is not known, and earlier versions did not say it. `made`: when the
 * latest record was made that svc had made by then.
 */
export type Before = Times & { readonly before: number | null; readonly there?: readonly number[] };

type Times = { readonly left?: number | null; readonly made?: number };

/** `since`: of the newest page, from when on it held all there were, in milliseconds; null where that is not known. */
export type Listed = { readonly ids: readonly number[]; readonly since?: number | null };

type Open = Unsure & Before & { readonly keys?: readonly string[]; readonly like?: string };

/** What rows call it: where ids do not grow, two of one journal may have the same largest id. */
export const keyOf = ({ ids, key }: Listed & { readonly key?: number }): number => key ?? largestOf(ids);

/** By hand: a list may have more ids than a call takes arguments. */
export const largestOf = (ids: Iterable<number>, atLeast = 0): number => {
  let largest = atLeast;
  for (const id of ids) largest = Math.max(largest, id);
  return largest;
};

/** The lines behind the header. */
export type RowLine = Exclude<Line, Header | FormerHeader>;

/** The rows of which a line says what became of them, with their requests where it says those. */
export function saidIn(line: RowLine): readonly Pick<About, 'row' | 'is'>[] {
  if ('meant' in line) return line.meant.rows;
  if ('renamed' in line) return line.renamed.rows.map(({ row, fate: { is } }) => ({ row, is }));
  if ('drafting' in line) return [line.drafting];
  if ('sent' in line) return [line.sent];
  if ('done' in line) return [line.done];
  if ('rejected' in line) return [line.rejected];
  return 'unknown' in line ? [line.unknown] : [];
}

export const rowsOf = (line: RowLine): readonly string[] => saidIn(line).map(({ row }) => row);

export function costOf(line: RowLine): Cost {
  if ('done' in line) return line.done;
  if ('rejected' in line) return line.rejected;
  return 'unknown' in line ? line.unknown : { requests: 0, ms: 0 };
}

type Part = Omit<Made, 'id' | 'secret' | 'of' | 'doubt'> & { readonly doubt?: object | true };

/** Of a row that is done in part: what was not; of one that waits for a person, its draft. */
export const partOf = ({ error, rest, doubt, step, drafted, draftedAt }: Part) => ({
  ...(step !== undefined && { step }),
  ...(drafted !== undefined && { drafted }),
  ...(draftedAt !== undefined && { draftedAt }),
  ...(error !== undefined && { error }),
  ...(rest === true && { rest }),
  ...(doubt === undefined ? {} : { doubt: true as const }),
});

export type Kept = Pick<Made, 'keys' | 'at' | 'like'> & Omit<Before, 'before'> & Unsure;

/** What a row that is not over is known by, where its line says so, and what is said of an earlier attempt. */
export function heldIn(said: object): Kept {
  const { keys, like, at, unsure, there, left, made }: Partial<Made & Before> & Unsure = said;
  const known = { ...(there && { there }), ...(left !== undefined && { left }), ...(made !== undefined && { made }) };
  return { ...(keys && { keys, ...(at && { at }) }), ...(like && { like }), ...(unsure && { unsure }), ...known };
}

export const isOver = (rowStatus: RowStatus | undefined): boolean =>
  rowStatus?.status === 'done' || rowStatus?.status === 'rejected';

export const likeIn = (rowStatus: RowStatus | undefined): string | undefined =>
  rowStatus && 'like' in rowStatus ? rowStatus.like : undefined;

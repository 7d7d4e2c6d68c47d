import { column, numberColumn, textColumn } from '../../text/column.ts';
import { digestColumn, digestTable } from '../../text/digest-table.ts';
import type { RowRequests } from '../rows/row-requests.ts';
import type { Table } from '../rows/row-table.ts';
import { heldIn, type Kept, type Made, partOf, type RowStatus } from './lines.ts';

type Status = RowStatus['status'];

/** What became of rows, by their names. */
export type RowStatuses = Table<string, RowStatus> & {
  keys(): Iterable<string>;
  /** Those alone that stand so: one look at a byte for each of the others. */
  standing(...as: readonly Status[]): Iterable<readonly [row: string, rowStatus: RowStatus]>;
  /** Those alone of which a journal says what they are like, or to which records they may still write: few. */
  held(): Iterable<readonly [row: string, rowStatus: RowStatus]>;
  /** By which run the row was spoken of last; 0 where no run has a number. */
  runOf(row: string): number;
  /** By which run the row left last, or was to leave; 0 where the journal does not say it. */
  sentBy(row: string): number;
  /** Where a row is held, for whoever notes many of them; -1 for one that was never there. */
  placeOf(row: string): number;
  nameAt(place: number): string;
  at(place: number): RowStatus | undefined;
};

export type OpenRowStatuses = RowStatuses & {
  set(row: string, rowStatus: RowStatus): void;
  delete(row: string): void;
  /** Of a row that is there. `sent`: as `sentBy` tells it. */
  setRun(row: string, run: number, sent: number): void;
};

const statuses: readonly Status[] = ['meant', 'sent', 'done', 'rejected', 'unknown', 'drafting'];
const statusBits = 7;
/** What was sent is what the file says now. */
const sameRequest = 8;

const blockSize = 256;

type DoneParts = Pick<Made, 'secret' | 'rest' | 'doubt' | 'drafted' | 'draftedAt' | 'step'>;

/** What few rows have. */
type Rare = Kept & DoneParts & { readonly batch?: string };

/**
 * About 50 bytes for a row (a note: 54), and 10 for one of the file that is sent now (`known`, which is whole): that one has its name
 * and its request there already.
 */
export function rowStatusTable(known?: RowRequests): OpenRowStatuses {
  const names = namesBehind(known);
  const cells = cellsOf(known);
  let size = 0;
  const live = (place: number): boolean => place >= 0 && cells.status(place) !== undefined;
  const at = (place: number): RowStatus | undefined => (place < 0 ? undefined : cells.read(place));
  /** Where a row was ever held: a run of ten rows is not looked for at every place of a large file. */
  const blocks = new Set<number>();
  function* places(as: readonly Status[] = statuses) {
    for (const block of [...blocks].sort((a, b) => a - b)) {
      for (let place = block * blockSize; place < (block + 1) * blockSize; place++) {
        const status = cells.status(place);
        if (status !== undefined && as.includes(status)) yield place;
      }
    }
  }
  function* pairs(at: Iterable<number>) {
    for (const place of at) {
      const rowStatus = cells.read(place);
      if (rowStatus) yield [names.nameAt(place), rowStatus] as const;
    }
  }
  return {
    get size() {
      return size;
    },
    has: (row) => live(names.find(row)),
    get: (row) => at(names.find(row)),
    *keys() {
      for (const place of places()) yield names.nameAt(place);
    },
    *values() {
      for (const place of places()) {
        const rowStatus = cells.read(place);
        if (rowStatus) yield rowStatus;
      }
    },
    standing: (...as) => pairs(places(as)),
    held: () => pairs(cells.held()),
    [Symbol.iterator]: () => pairs(places()),
    placeOf: names.find,
    nameAt: names.nameAt,
    at,
    runOf: (row) => cells.runs.get(names.find(row)) ?? 0,
    sentBy(row) {
      const place = names.find(row);
      return live(place) ? (cells.sent.get(place) ?? cells.runs.get(place) ?? 0) : 0;
    },
    set(row, rowStatus) {
      const place = names.add(row);
      if (!live(place)) size++;
      blocks.add(Math.floor(place / blockSize));
      cells.write(place, rowStatus);
    },
    delete(row) {
      const place = names.find(row);
      if (!live(place)) return;
      size--;
      cells.write(place, undefined);
    },
    setRun(row, run, sent) {
      const place = names.find(row);
      cells.runs.set(place, run);
      // Of most rows the run that sent them is the last that spoke of them.
      if (place >= 0) cells.sent.set(place, sent === run ? undefined : sent);
    },
  };
}

/** Those of the file come first. */
function namesBehind(known: RowRequests | undefined) {
  const own = digestTable();
  const before = known?.names.size() ?? 0;
  const find = (row: string): number => {
    const there = known?.names.find(row) ?? -1;
    if (there >= 0) return there;
    const here = own.find(row);
    return here < 0 ? here : here + before;
  };
  return {
    find,
    add(row: string): number {
      const there = known?.names.find(row) ?? -1;
      return there >= 0 ? there : own.add(row) + before;
    },
    nameAt: (place: number): string =>
      place < before ? (known?.names.nameAt(place) ?? '') : own.nameAt(place - before),
  };
}

function cellsOf(known: RowRequests | undefined) {
  const codeOf = column(8);
  /** The id of a row that is done, else its `before`. */
  const [lines, ids] = [numberColumn(), numberColumn()];
  const [runs, sent] = [runColumn(), numberColumn()];
  const requests = digestColumn();
  const errors = textColumn();
  /** Of a note: its ticket. */
  const tickets = numberColumn();
  const rare = new Map<number, Rare>();
  const status = (place: number): Status | undefined => statuses[(codeOf.get(place) & statusBits) - 1];
  const read = (place: number): RowStatus | undefined => {
    const stands = status(place);
    if (stands === undefined) return undefined;
    const is = codeOf.get(place) & sameRequest ? known?.requestAt(place) : requests.get(place);
    const about = { line: lines.get(place) ?? 0, ...(is !== undefined && { is }) };
    const id = ids.get(place) ?? null;
    const error = errors.get(place);
    const { keys, at, batch, unsure, there, left, made, ...few } = rare.get(place) ?? {};
    const held = heldIn({ keys, at, like: few.like, unsure, there, left, made });
    if (stands === 'drafting') return { status: stands, ...about, batch: batch ?? '', ...held };
    if (stands === 'meant') return { status: stands, ...about, before: id, ...held };
    if (stands === 'sent') return { status: stands, ...about, before: id, ...held };
    if (stands === 'rejected') return { status: stands, ...about, error: error ?? '' };
    if (stands === 'unknown') return { status: stands, ...about, error: error ?? '', before: id, ...held };
    const of = tickets.get(place);
    return {
      status: stands,
      ...about,
      id,
      ...few,
      ...held,
      ...(error !== undefined && { error }),
      ...(of !== undefined && { of }),
    };
  };
  const write = (place: number, rowStatus: RowStatus | undefined): void => {
    const isSame = rowStatus?.is !== undefined && known?.requestAt(place) === rowStatus.is;
    codeOf.set(place, rowStatus ? statuses.indexOf(rowStatus.status) + 1 + (isSame ? sameRequest : 0) : 0);
    requests.set(place, isSame ? undefined : rowStatus?.is);
    lines.set(place, rowStatus?.line);
    ids.set(place, rowStatus && (idIn(rowStatus) ?? undefined));
    tickets.set(place, rowStatus?.status === 'done' ? rowStatus.of : undefined);
    errors.set(place, rowStatus && 'error' in rowStatus ? rowStatus.error : undefined);
    const few = rowStatus && rareIn(rowStatus);
    if (few) rare.set(place, few);
    else if (rare.size > 0) rare.delete(place);
  };
  function* held() {
    for (const [place, { like, keys }] of rare) if (like !== undefined || keys) yield place;
  }
  return { status, read, write, runs, sent, held };
}

function idIn(rowStatus: RowStatus): number | null {
  if (rowStatus.status === 'done') return rowStatus.id;
  return 'before' in rowStatus ? rowStatus.before : null;
}

function rareIn(rowStatus: RowStatus): Rare | undefined {
  if (rowStatus.status === 'drafting') return { batch: rowStatus.batch, ...heldIn(rowStatus) };
  const parts = rowStatus.status === 'done' ? partsOf(rowStatus) : undefined;
  const held = heldIn(rowStatus);
  const isAny = held.keys || held.like || held.unsure || held.there || held.left !== undefined;
  return isAny ? { ...parts, ...held } : parts;
}

/** Undefined where it has none of them. */
export function partsOf({ secret, rest, doubt, drafted, draftedAt, step }: DoneParts): DoneParts | undefined {
  if (secret === undefined && !rest && !doubt && drafted === undefined && step === undefined) return undefined;
  return { ...partOf({ rest, doubt, drafted, draftedAt, step }), ...(secret !== undefined && { secret }) };
}

/** Most rows of a journal are of its first run. */
function runColumn() {
  const beyond = numberColumn();
  let first: number | undefined;
  return {
    get: (place: number): number | undefined => (place < 0 ? undefined : (beyond.get(place) ?? first)),
    set(place: number, run: number): void {
      first ??= run;
      if (place >= 0) beyond.set(place, run === first ? undefined : run);
    },
  };
}

import type { JournalFolder } from '../../batch/journal-folder.ts';
import { type Draft, hasBegun } from '../../sends/draft.ts';
import { column } from '../../text/column.ts';
import { parseLine } from '../journal/check.ts';
import { type About, type RowLine, type RunLine, rowsOf, saidIn } from '../journal/lines.ts';
import type { Found } from '../journal/on-disk.ts';
import { mark } from '../journal/text.ts';
import type { Work } from '../journal/works.ts';
import { noRequest, type Plan } from '../rows/plan.ts';
import { requestsOf, rowRequests, rowsByRequest } from '../rows/row-requests.ts';

/** Who has sent what a file asks for now, whatever later runs say of its rows, and call them. */
export type Senders = {
  /** This file has sent the very request of a row, or has made a draft of it that nobody rejected. */
  isOwn(ref: string): boolean;
  /** Any file has. */
  isSent(ref: string): boolean;
};

export const nobody: Senders = { isOwn: () => false, isSent: () => false };

/** A request that left for a row, or became a draft. */
type Leaving = {
  readonly request: string | undefined;
  readonly isOwn: boolean;
  readonly run: number;
  /** Of its draft. */
  readonly key: string | undefined;
};

type Asked = {
  readonly folder: JournalFolder;
  readonly journals: readonly Found[];
  readonly found: Found | undefined;
  readonly file: string | null;
  readonly plan: Pick<Plan, 'refs'>;
  readonly drafts: () => Promise<readonly Draft[]>;
};

const [byOthers, byOwn] = [1, 2];

/**
 * Reads the journals once more, for what left in them: what they say of a row in the end is of the last run that had it, under
 * the name that it has there.
 */
export async function sendersOf({ folder, journals, found, file, plan: { refs }, drafts }: Asked): Promise<Senders> {
  const files = namesOf(journals, found, file);
  const wanted = requestsOf(refs);
  const by = column(8);
  /** Rows that have another name there, by who sent them. */
  const others = { own: requestsByRow(), other: requestsByRow() };
  const note = (place: number, who: number) => by.set(place, by.get(place) | who);
  const take = (row: string, { request, isOwn }: Leaving) => {
    const now = refs.get(row);
    if (now !== undefined && (now === noRequest || now === (request ?? now)))
      note(refs.names.find(row), isOwn ? byOwn : byOthers);
    else if (request !== undefined && wanted.has(request)) (isOwn ? others.own : others.other).add(row, request);
  };
  const drafted: Drafting[] = [];
  for (const { path } of journals) {
    const reader = leavingReader(files, (row, leaving, isKept) => {
      if (leaving.key === undefined) take(row, leaving);
      else drafted.push({ row, leaving, isKept });
    });
    if (await folder.read(path, { take: reader.take, mark })) reader.end();
  }
  const kept = drafted.length > 0 ? new Map((await drafts()).map((draft) => [draft.key, draft])) : undefined;
  for (const { row, leaving, isKept } of drafted) {
    const draft = kept?.get(leaving.key ?? '');
    if (draft ? draft.state !== 'rejected' || hasBegun(draft) : isKept) take(row, leaving);
  }
  const spread = (requests: Iterable<string>, who: number) => {
    const left = rowsByRequest(refs, (place) => by.get(place) < who);
    for (const request of requests) {
      const ref = left.take(request);
      if (ref !== undefined) note(refs.names.find(ref), who);
    }
  };
  spread(others.own.all(), byOwn);
  spread(others.other.all(), byOthers);
  const of = (ref: string) => by.get(refs.names.find(ref));
  return { isOwn: (ref) => of(ref) >= byOwn, isSent: (ref) => of(ref) > 0 };
}

/** What was sent for rows, each request of a row once; 45 bytes for a row that has one. */
function requestsByRow() {
  const first = rowRequests();
  const more = new Map<string, string>();
  return {
    add(row: string, request: string): void {
      const known = first.get(row);
      if (known === undefined) first.set(row, request);
      else if (known !== request) more.set(`${row} ${request}`, request);
    },
    *all() {
      yield* first.values();
      yield* more.values();
    },
  };
}

type Drafting = { readonly row: string; readonly leaving: Leaving; readonly isKept: boolean };

/** Whether a journal has rows of other files, or took rows over from another one, as far as it says. */
export const hasOthers = ({ past: { works, former } }: Found, file: string | null): boolean =>
  former.size > 0 || works.some(({ files }) => !files.has(file));

/** What this file was called by the runs that it went on with, or goes on with now, or that went on with it. */
function namesOf(
  journals: readonly Found[],
  found: Found | undefined,
  file: string | null,
): ReadonlySet<string | null> {
  const isOf = (from: Found, { files, before, isOpen }: Work) =>
    files.has(file) || (from === found && isOpen && !before.has(file));
  return new Set([
    file,
    ...journals.flatMap((from) =>
      from.past.works.filter((work) => isOf(from, work)).flatMap(({ files }) => [...files]),
    ),
  ]);
}

/**
 * Tells of the lines of a journal what left in it, and did not come back. `left` is told once it is known, or at the end;
 * `isKept`: it became a draft, surely.
 */
function leavingReader(
  files: ReadonlySet<string | null>,
  left: (row: string, leaving: Leaving, isKept: boolean) => void,
) {
  /** What the journal said last of each row: a line that would say the same leaves it out. */
  const requests = rowRequests();
  const open = new Map<string, Leaving>();
  let [run, isFormer, isTold] = [0, false, true];
  let file: string | null = null;
  const begins = (next: RunLine) => {
    run++;
    file = next.file === undefined ? file : next.file;
    // Who sent the rows of a journal that was rewritten is not written down.
    isTold = next.sentFrom === undefined && (isFormer || next.file !== undefined);
  };
  const settle = (row: string, isKept: boolean) => {
    const leaving = open.get(row);
    open.delete(row);
    if (leaving) left(row, leaving, isKept);
  };
  const leaves = ({ row }: About, key?: string) => {
    const before = open.get(row);
    const isSame = before?.run === run;
    // Where no draft could be made after all, the row leaves like every other.
    if (!isTold || (isSame && before?.key === key)) return;
    // Nobody knows what became of what an earlier run had sent: it may be there.
    if (!isSame) settle(row, false);
    const request = isFormer ? row.replace(/~\d+$/u, '') : requests.get(row);
    open.set(row, { request, isOwn: files.has(file), run, key });
  };
  const takeRow = (line: RowLine) => {
    if ('run' in line) begins(line.run);
    for (const { row, is } of saidIn(line)) if (is !== undefined) requests.set(row, is);
    if ('sent' in line) leaves(line.sent);
    else if ('drafting' in line) leaves(line.drafting, `${line.drafting.batch}/${line.drafting.row}`);
    else if ('done' in line) settle(line.done.row, line.done.drafted !== undefined);
    const [back] = 'back' in line ? [line.back.row] : 'rejected' in line ? rowsOf(line) : [];
    // With --retry-unknown what an earlier run sent comes back as well, which may be there.
    if (back !== undefined && open.get(back)?.run === run) open.delete(back);
  };
  return {
    take(text: Buffer): boolean {
      const line = parseLine(text.toString('utf8'));
      if (!line) return false;
      if ('svc_bulk' in line) {
        file = line.file;
        isFormer = line.svc_bulk === 1;
      } else takeRow(line);
      return true;
    },
    end() {
      for (const row of [...open.keys()]) settle(row, false);
    },
  };
}

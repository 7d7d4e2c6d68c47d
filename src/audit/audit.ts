import { join } from 'node:path';
import type { AuditMode } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { diskFailure } from '../disk/disk-failure.ts';
import { openSharedLog, type SharedLog } from '../disk/shared-log.ts';
import { Failure } from '../errors.ts';
import { type About, aboutText, digestOfLine, type Line, lineText, numbersOf, type Outcome } from './entry.ts';
import { auditRoot, fileName, monthOf } from './place.ts';
import { type Entry, openEntries } from './read.ts';

/** The record of one account's writes. */
export type Audit = {
  /** Resolves once it is in the file that the request leaves; throws the Failure that keeps it from leaving. */
  begin(about: About, body: string): Promise<Begun>;
  /** Writes what became of entries that an earlier run has left open: of that row, and that operation. */
  settle(row: string, operation: string, ending: Ending): Promise<void>;
  /** Resolves once all of it is on disk. */
  sync(): Promise<void>;
};

/** A write that is on its way. */
export type Begun = { readonly seq: number; ended(ending: Ending): Promise<void> };

export type Ending = {
  readonly outcome: Exclude<Outcome, 'sent'>;
  readonly status: number | null;
  /** What the service has told of the record. */
  readonly record?: About['record'];
};

type Kept = { readonly ctx: Context; readonly log: SharedLog; readonly root: string; readonly mode: AuditMode };

export function openAudit(ctx: Context, name: string, mode: AuditMode): Audit {
  const root = join(auditRoot(ctx.files), name);
  const part = () => monthOf(ctx.clock.now().toISOString());
  const log = openSharedLog({ root, name: fileName, part, what: 'the record of writes', isGood, ctx });
  const kept: Kept = { ctx, log, root, mode };
  let open: Promise<readonly Entry[]> | undefined;
  return {
    begin: (about, body) => begin(kept, about, body),
    async settle(row, operation, ending) {
      open ??= openEntries(root);
      const entries = await open;
      const left = entries.filter((entry) => entry.row === row && entry.operation === operation);
      open = Promise.resolve(entries.filter((entry) => !left.includes(entry)));
      for (const entry of left)
        await end(kept, { seq: entry.seq, about: entry, text: aboutText(aboutOf(entry)) }, ending);
    },
    sync: () => log.sync(),
  };
}

const isGood = (line: string): boolean => numbersOf(line) !== undefined;

/** What both lines of an entry say, of one that was read. */
function aboutOf({
  seq: _s,
  time: _t,
  outcome: _o,
  status: _u,
  body: _b,
  prev: _p,
  ended_at: _e,
  ...about
}: Entry): About {
  return about;
}

async function begin(kept: Kept, about: About, body: string): Promise<Begun> {
  const shared = aboutText(about);
  const text = kept.mode === 'full' ? aboutText(about, body) : shared;
  let seq = 0;
  try {
    await kept.log.append((before, good) => {
      const last = lastOf(before, good);
      seq = last.newest + 1;
      const { record } = about;
      return lineAfter(kept, { ...last, newest: seq }, { text, seq, record, outcome: 'sent', status: null });
    });
  } catch (error) {
    throw notRecorded(error);
  }
  return { seq, ended: (ending) => end(kept, { seq, about, text: shared }, ending) };
}

type Open = { readonly seq: number; readonly about: About; readonly text: string };

function end(
  kept: Kept,
  { seq, about, text }: Open,
  { outcome, status, record = about.record }: Ending,
): Promise<void> {
  return kept.log.append((before, good) =>
    lineAfter(kept, lastOf(before, good), { text, seq, record, outcome, status }),
  );
}

type Said = Pick<Line, 'seq' | 'record' | 'outcome' | 'status'> & { readonly text: string };

function lineAfter({ ctx }: Kept, { newest, line, digest }: Last, { text, ...said }: Said): string {
  const time = ctx.clock.now().toISOString();
  return lineText(text, { ...said, newest, line: line + 1, time, prev: digest });
}

/** What a new line goes on from. */
type Last = Pick<Line, 'newest' | 'line'> & { readonly digest: string | null };

/** A line that somebody has changed stays, and stays to be found. */
function lastOf(before: string | undefined, good: string | undefined): Last {
  const numbers = good === undefined ? undefined : numbersOf(good);
  return { newest: 0, line: 0, ...numbers, digest: before === undefined ? null : digestOfLine(before) };
}

const notRecorded = (error: unknown): Failure => {
  const what = 'The write cannot be recorded, so it was not sent';
  const hint = 'Make room, or see to the folder. Without a record: svc config set audit off';
  const failure = diskFailure(error, what, hint);
  return failure instanceof Failure
    ? failure
    : new Failure('failed', `${what}: ${error instanceof Error ? error.message : String(error)}`, {
        hint,
        cause: error,
      });
};

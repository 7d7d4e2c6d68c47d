import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import type { AuditMode } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { diskWords } from '../disk/file/disk-failure.ts';
import { openSharedLog, type SharedLog, type SharedLogOptions } from '../disk/log/shared-log.ts';
import { orElsewhere } from '../disk/place/elsewhere.ts';
import { whatIsWrongWith } from '../disk/place/folder-check.ts';
import { codeOf, Failure, isInterruption, messageOf, orElse } from '../errors.ts';
import { hexDigestOf } from '../text/digest.ts';
import { type About, aboutText, type Line, lineText, numbersOf, type Outcome, type Who } from './entry.ts';
import { auditRoot, fileName, monthOf } from './place.ts';
import { type Entry, entriesIn } from './read.ts';

export type Audit = ReturnType<typeof openAudit>;

/** A row of a journal and what was sent for it. `id`: of its record, where that is known. */
export type Row = { readonly row: string; readonly operation: string; readonly id: number | null };

/** A write that is on its way. */
export type Begun = { readonly seq: number; ended(ending: Ending): Promise<void> };

export type Ending = {
  readonly outcome: Exclude<Outcome, 'sent'>;
  readonly status: number | null;
  /** What the service has told of the record. */
  readonly record?: About['record'];
};

type Kept = {
  readonly ctx: AuditPorts;
  readonly log: SharedLog;
  readonly mode: AuditMode;
  readonly rows: ReturnType<typeof unsettledRows>;
};

/** What it needs of the world. */
export type AuditPorts = SharedLogOptions['ctx'] & {
  readonly files: Pick<Context['files'], 'state'> & Partial<Pick<Context['files'], 'config'>>;
  readonly env?: Context['env'];
};

/** The record of one account's writes. */
export function openAudit(ctx: AuditPorts, name: string, mode: AuditMode) {
  const root = join(auditRoot(ctx.files), name);
  const part = () => monthOf(ctx.clock.now().toISOString());
  const isGood = (line: string) => numbersOf(line) !== undefined;
  const log = openSharedLog({ root, name: fileName, part, what: 'the record of writes', isGood, ctx });
  const rows = unsettledRows(root);
  const kept: Kept = { ctx, log, mode, rows };
  return {
    who: (origin: Context['origin']) => whoIs({ env: ctx.env ?? {}, origin }),
    /** Resolves once it is in the file that the request leaves; throws the Failure that keeps it from leaving. */
    begin: (about: About, body: string) => begin(kept, about, body),
    /** Of a row that was on its way, or whose outcome was not known: it is done, as has been seen now. */
    async settle({ row, operation, id }: Row): Promise<void> {
      for (const entry of await rows.take(row, operation)) {
        const { record } = entry.about;
        await end(kept, entry, { outcome: 'done', status: null, record: record && { ...record, id: record.id ?? id } });
      }
    },
    /** Resolves once all of it is on disk. */
    sync: () =>
      log.sync().catch(async (error) => {
        throw await notRecorded(error, ctx.files);
      }),
  };
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
    throw await notRecorded(error, kept.ctx.files);
  }
  kept.rows.begun(seq);
  const entry: Unsettled = { seq, about, text: shared };
  return {
    seq,
    async ended(ending) {
      if (ending.outcome === 'unknown') kept.rows.unknown(entry);
      await end(kept, entry, ending);
    },
  };
}

function end(
  kept: Kept,
  { seq, about, text }: Unsettled,
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
  return { newest: 0, line: 0, ...numbers, digest: before === undefined ? null : hexDigestOf(before) };
}

async function notRecorded(error: unknown, files: AuditPorts['files']): Promise<Failure> {
  if (error instanceof Failure && isInterruption(error)) return error;
  const reason = diskWords[codeOf(error) ?? ''] ?? messageOf(error).replace(/\.$/u, '');
  const hint =
    error instanceof Failure && error.hint ? error.hint : `Its folder is ${auditRoot(files)}. ${orElsewhere()}`;
  return new Failure('failed', `The write cannot be recorded, so it was not sent: ${reason}.`, {
    hint: `${hint}\n${await withoutRecord(files)}`,
    isUnrecorded: true,
    cause: error,
  });
}

/** A setting has to be saved: with a home that is read-only, somewhere else. */
async function withoutRecord({ config }: AuditPorts['files']): Promise<string> {
  const command = 'Without a record: svc config set audit off';
  if (config === undefined || (await whatIsWrongWith(config)) === undefined) return command;
  const place = `Settings cannot be saved in ${config} either, so first set SVC_CONFIG_DIR to a folder that can be written`;
  return `${place} (the logins of ${config} do not hold there).\n${command}`;
}

/** Who runs svc, and the program that does so for them. */
function whoIs({ env, origin }: Pick<Context, 'env' | 'origin'>): Who {
  // A container may run as somebody whom its system does not know.
  user ??= orElse(() => userInfo().username, env.USER ?? env.USERNAME ?? String(process.getuid?.() ?? ''));
  host ??= hostname();
  return { user, host, client: origin?.client ?? null };
}

let user: string | undefined;
let host: string | undefined;

/** An entry of which nobody knows what became of it, with what its lines say. */
type Unsettled = { readonly seq: number; readonly about: About; readonly text: string };

/** The entries of rows that may yet be settled: what earlier runs left, and what this one could not tell. */
function unsettledRows(root: string) {
  const own = new Set<number>();
  const told: Unsettled[] = [];
  let earlier: Promise<Map<string, Unsettled[]>> | undefined;
  const load = async () => {
    const rows = new Map<string, Unsettled[]>();
    for (const { seq, row, outcome, ...entry } of await entriesIn(root)) {
      if (outcome !== 'unknown' || row === undefined || own.has(seq)) continue;
      const about = { ...aboutOf(entry), row };
      const key = keyOf(row, about.operation);
      rows.set(key, [...(rows.get(key) ?? []), { seq, about, text: aboutText(about) }]);
    }
    return rows;
  };
  return {
    /** It was begun by this process. */
    begun: (seq: number) => void own.add(seq),
    unknown(entry: Unsettled): void {
      if (entry.about.row !== undefined) told.push(entry);
    },
    /** Takes out those of that row and operation. */
    async take(row: string, operation: string): Promise<readonly Unsettled[]> {
      earlier ??= load();
      const key = keyOf(row, operation);
      const rows = await earlier;
      const left = rows.get(key) ?? [];
      rows.delete(key);
      const ours = told.filter(({ about }) => keyOf(about.row, about.operation) === key);
      for (const one of ours) told.splice(told.indexOf(one), 1);
      return [...left, ...ours];
    },
  };
}

const keyOf = (row: string | undefined, operation: string | null): string => `${operation} ${row}`;

/** What both lines of an entry say. */
function aboutOf(entry: Omit<Entry, 'seq' | 'outcome' | 'row'>): Omit<About, 'row'> {
  const { time: _, status: __, body: ___, prev: ____, ended_at: _____, ...about } = entry;
  return about;
}

import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { type OutFile, openOut } from '../../disk/draft/out-file.ts';
import { waitingFor, withLock } from '../../disk/lock/lock.ts';
import { newDraft, removeDraft } from '../../disk/place/whole-folder.ts';
import { interruption } from '../../errors.ts';
import { number } from '../../text/number.ts';
import type { Copy } from '../store/open-copy.ts';
import type { KindName } from '../tables/kinds.ts';
import { type Table, tables } from '../tables/tables.ts';
import { copyState } from './as-of.ts';
import { type ExportFormat, openRows } from './export-file.ts';
import {
  commit,
  cursorPath,
  draftsIn,
  dropOldCursors,
  type ExportedFile,
  exportName,
  keepSeen,
  lastSeen,
  makeDir,
  orDiskFailure,
  readExports,
  requireSameAccount,
} from './export-folder.ts';
import { compareRows, exportedColumns } from './export-rows.ts';
import { readSeen, type Seen, seenWriter } from './export-seen.ts';

type ExportPorts = Pick<Context, 'clock' | 'signal' | 'progress' | 'notice'>;

export type Wishes = {
  readonly dir: string;
  readonly format: ExportFormat;
  readonly only: readonly KindName[];
  readonly sinceLast: boolean;
  readonly isSafe: boolean;
  readonly maxWaitMs: number | undefined;
};

type Job = Copy & {
  readonly ctx: ExportPorts;
  readonly wishes: Wishes;
  readonly draft: string;
  readonly now: string;
  readonly opened: OutFile[];
};

/**
 * The copy as files in a new folder of DIR: all of it there, or nothing; `folder` is undefined where nothing changed since
 * the last one. Two at once come one after the other.
 *
 * @throws Failure `usage` where DIR is not for this account, or what was exported last cannot be told
 */
export async function exportCopy(ctx: ExportPorts, copy: Copy, wishes: Wishes) {
  const { dir, maxWaitMs } = wishes;
  await makeDir(dir);
  const waiting = { ...waitingFor(ctx, `exports to ${dir}`), maxWaitMs };
  return withLock(join(dir, '.svc-export'), waiting, async ({ check }) => {
    const found = await readExports(dir);
    requireSameAccount(found, copy.account);
    const chosen = tables.filter(({ kind }) => wishes.only.includes(kind));
    const state = await copy.store.read((sql) => copyState(sql, copy.account, wishes.only));
    const sources: { readonly table: Table; readonly before: string | undefined }[] = [];
    for (const table of chosen) {
      sources.push({ table, before: wishes.sinceLast ? await lastSeen(found, table.name) : undefined });
    }
    const draft = await newDraft(draftsIn(dir));
    const job: Job = { ctx, ...copy, wishes, draft, now: ctx.clock.now().toISOString(), opened: [] };
    try {
      const files: ExportedFile[] = [];
      for (const { table, before } of sources) {
        const file = await exportTable(job, table, before);
        if (file) files.push(file);
      }
      if (files.length === 0) return { folder: undefined, files };
      const { service, id } = copy.account;
      const names = chosen.map(({ name }) => name);
      const others = tables.map(({ name }) => name).filter((name) => !names.includes(name));
      const manifest = {
        ...{ number: found.next, time: job.now, account: { service, id }, since_last: wishes.sinceLast },
        ...{ seen: [...names, ...(await keepSeen(found, draft, others))], files, copy: state },
      };
      check();
      await commit(dir, draft, manifest);
      await dropOldCursors(found);
      return { folder: join(dir, exportName(found.next)), files };
    } finally {
      // Of an export that is made nothing is left here.
      for (const file of job.opened) await file.drop();
      await removeDraft(draft, draftsIn(dir).inner).catch(() => {});
    }
  }).catch(orDiskFailure(dir));
}

/** Undefined where nothing of it changed. */
async function exportTable(job: Job, table: Table, before: string | undefined): Promise<ExportedFile | undefined> {
  const { ctx, store, account, draft, wishes, now } = job;
  const file = `${table.name}.${wishes.format}`;
  const open = async (path: string) => {
    const out = await openOut(path);
    job.opened.push(out);
    return out;
  };
  const seen = seenWriter(await open(cursorPath(draft, table.name)));
  const openFile = async () =>
    openRows(wishes.format, {
      columns: exportedColumns(table),
      out: await open(join(draft, file)),
      isSafe: wishes.isSafe,
    });
  let rows = before === undefined ? await openFile() : undefined;
  const counts = { rows: 0, gone: 0, read: 0 };
  const last = before === undefined ? nothing() : readSeen(before);
  for await (const row of compareRows({ store, account, table }, last, now)) {
    if (counts.read++ % 500 === 0) {
      if (ctx.signal.aborted) throw interruption(ctx.signal, `Interrupted; nothing was added to ${wishes.dir}.`);
      ctx.progress(`Exporting ${table.name}: ${number(counts.read - 1)} rows read`);
    }
    await seen.put(row.seen);
    if (!row.isChanged) continue;
    rows ??= await openFile();
    await rows.put(row.cells);
    counts.rows++;
    if (row.seen.isDeleted) counts.gone++;
  }
  await seen.end();
  if (!rows) return undefined;
  await rows.end();
  return { table: table.name, file, rows: counts.rows, gone: counts.gone };
}

async function* nothing(): AsyncGenerator<Seen> {}

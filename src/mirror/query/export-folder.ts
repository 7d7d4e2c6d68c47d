import { join } from 'node:path';
import { copySynced, isThere, readIfThere, replaceFile } from '../../disk/file/atomic-file.ts';
import { diskFailure } from '../../disk/file/disk-failure.ts';
import { isFolder, namesIn, removeFolder } from '../../disk/file/folder.ts';
import { makeFolders } from '../../disk/file/make-folders.ts';
import { nothingThere } from '../../disk/file/nothing-there.ts';
import { type Drafts, keepDraft } from '../../disk/place/whole-folder.ts';
import { Failure } from '../../errors.ts';
import { fieldsIn } from '../../text/record.ts';
import type { Account } from '../tables/store.ts';
import type { CopyState } from './as-of.ts';
import { exportWhole } from './export-seen.ts';

// DIR holds a folder for each export: its files, and what they hold of each record. The folder is made under another name, and
// gets its own once everything in it is on the disk: that one rename is the whole commit.

/** What an export says of itself, in `export.json`. */
export type Manifest = {
  readonly number: number;
  /** When it began, by this machine's clock. */
  readonly time: string;
  readonly account: { readonly service: string; readonly id: string };
  /** Of `--since-last`: only what changed since the export before. */
  readonly since_last: boolean;
  /** The tables of which it knows what was exported. */
  readonly seen: readonly string[];
  readonly files: readonly ExportedFile[];
  /** What the copy knew of these kinds when it began. */
  readonly copy: CopyState;
};

/** What later exports need of it. */
type Made = Omit<Manifest, 'copy'>;

export type ExportedFile = {
  readonly table: string;
  readonly file: string;
  readonly rows: number;
  /** How many of the rows are gone. */
  readonly gone: number;
};

type Exports = Awaited<ReturnType<typeof readExports>>;

const manifestName = 'export.json';
const named = /^export-(\d{4,9})$/u;
/** Beside the files, out of the way of whoever reads them all; a draft is known by it. */
const cursors = '.seen';

export const exportName = (number: number): string => `export-${String(number).padStart(4, '0')}`;

export const cursorPath = (folder: string, table: string): string => join(folder, cursors, table);

/** For errors of the disk, whatever was about to be done. */
export const orDiskFailure =
  (dir: string) =>
  (error: unknown): never => {
    throw diskFailure(error, `Nothing could be exported to ${dir}`, 'What is in it is as it was.');
  };

/** @throws Failure `usage` where DIR is no folder */
export async function makeDir(dir: string): Promise<void> {
  if ((await isThere(dir)) && !(await isFolder(dir))) throw new Failure('usage', `--to: ${dir} is not a folder.`);
  await makeFolders(dir).catch(orDiskFailure(dir));
}

/** What was exported into DIR before. */
export async function readExports(dir: string) {
  /** Of svc, the oldest first. */
  const made: Made[] = [];
  /** Folders that are named like an export, and have nothing in them that says so. */
  const strange: number[] = [];
  /** Exports of svc that somebody gave another name, and their numbers. */
  const renamed: { name: string; number: number }[] = [];
  for (const name of await namesIn(dir).catch(orDiskFailure(dir))) {
    // A draft, and the folder of the lock, begin with a dot.
    if (name.startsWith('.')) continue;
    const manifest = await readManifest(join(dir, name));
    const number = numberOf(name);
    if (manifest && manifest.number === number) made.push(manifest);
    else if (number !== undefined) strange.push(number);
    if (manifest && manifest.number !== number) renamed.push({ name, number: manifest.number });
  }
  made.sort((one, other) => one.number - other.number);
  // Above those that have another name too, so that the next export is newer than they are.
  const next = Math.max(0, ...strange, ...[...made, ...renamed].map(({ number }) => number)) + 1;
  return { dir, made, strange: strange.sort((one, other) => one - other), renamed, next };
}

/** Undefined for what is named in another way. */
function numberOf(name: string): number | undefined {
  const number = Number(named.exec(name)?.[1]);
  return number > 0 && exportName(number) === name ? number : undefined;
}

async function readManifest(folder: string): Promise<Made | undefined> {
  try {
    const fields = fieldsIn(JSON.parse((await readIfThere(join(folder, manifestName))) ?? ''));
    const { service, id } = fieldsIn(fields.account);
    const { number } = fields;
    // One that no export can have is none of svc's.
    if (typeof number !== 'number' || numberOf(exportName(number)) !== number) return undefined;
    if (!Array.isArray(fields.files) || !Array.isArray(fields.seen)) return undefined;
    const files = fields.files.map((each) => {
      const { table, file, rows, gone } = fieldsIn(each);
      return { table: String(table), file: String(file), rows: Number(rows), gone: Number(gone) };
    });
    return {
      number,
      time: String(fields.time),
      account: { service: String(service), id: String(id) },
      since_last: fields.since_last === true,
      seen: fields.seen.map(String),
      files,
    };
  } catch {
    return undefined;
  }
}

/**
 * The file that says what of a table was exported last; undefined where nothing was.
 *
 * @throws Failure `usage` where that cannot be told
 */
export async function lastSeen({ dir, made, strange, renamed }: Exports, table: string): Promise<string | undefined> {
  const last = made.at(-1);
  const newer = renamed.find(({ number }) => number > (last?.number ?? 0));
  if (newer) {
    throw new Failure(
      'usage',
      `${join(dir, newer.name)} was ${exportName(newer.number)}, the newest export, and has another name now.`,
      {
        hint: `Give it its name back. ${exportWhole}`,
      },
    );
  }
  const stranger = strange.find((number) => number > (last?.number ?? 0));
  if (stranger !== undefined) {
    throw new Failure('usage', `${join(dir, exportName(stranger))} is not an export of svc, or is damaged.`, {
      hint: `Without it svc cannot tell what was exported last. ${exportWhole}`,
    });
  }
  if (!last?.seen.includes(table)) return undefined;
  const path = cursorPath(join(dir, exportName(last.number)), table);
  if (await isThere(path)) return path;
  throw new Failure('usage', `What was exported of ${table} last cannot be told: an export was removed from ${dir}.`, {
    hint: exportWhole,
  });
}

/** What was exported of other tables before goes along, so that the newest export knows of all. Returns their names. */
export async function keepSeen({ dir, made }: Exports, draft: string, others: readonly string[]): Promise<string[]> {
  const last = made.at(-1);
  const kept = last?.seen.filter((table) => others.includes(table)) ?? [];
  for (const table of kept) {
    // Where it is not there it cannot be told, and the next --since-last says so.
    const path = cursorPath(join(dir, exportName(last?.number ?? 0)), table);
    await copySynced(path, cursorPath(draft, table)).catch(nothingThere);
  }
  return kept;
}

/** @throws Failure `usage` where DIR has exports of another account */
export function requireSameAccount({ dir, made }: Exports, { service, id }: Account): void {
  const other = made.find(({ account }) => account.service !== service || account.id !== id);
  if (!other) return;
  throw new Failure('usage', `${dir} has exports of another account (${exportName(other.number)}).`, {
    hint: 'Give --to a folder for each account.',
  });
}

export const draftsIn = (dir: string): Drafts => ({ dir, prefix: '.svc-export-', inner: cursors });

/** Makes an export of the draft: whole and on the disk when this resolves, or not at all. */
export async function commit(dir: string, draft: string, manifest: Manifest): Promise<void> {
  await replaceFile(join(draft, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
  await keepDraft(draft, cursors, join(dir, exportName(manifest.number)));
}

/** The newest export has them all. What is not removed now is the next time. */
export async function dropOldCursors({ dir, made }: Exports): Promise<void> {
  for (const { number } of made) {
    await removeFolder(join(dir, exportName(number), cursors)).catch(() => {});
  }
}

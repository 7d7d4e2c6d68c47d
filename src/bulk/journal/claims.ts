import { appendFile, open, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type JournalFolder, underWay, unreadable } from '../../batch/journal-folder.ts';
import { tryLock } from '../../disk/lock/lock.ts';
import { someOf } from '../../text/each.ts';
import { fieldsIn } from '../../text/record.ts';
import { isRepeatable, noRequest, type Plan } from '../rows/plan.ts';
import { type RowRequests, requestsOf, rowRequests } from '../rows/row-requests.ts';
import { formerPlace, type Identity, isOfOthers, type Keys, keysOf, mayBeOurs, scopeInName } from './on-disk.ts';

const rowsPath = (journal: string): string => journal.replace(/\.jsonl$/u, '.rows');
/** Which rows count no more. In a file of its own, for the journal may be written by its own run. */
export const notesOf = (journal: string): string => journal.replace(/\.jsonl$/u, '.over');

/** Says which rows a run has, beside its journal, so that no other run of any of them begins. Not synced: it is of use while both run. */
export async function claimRows(journal: string, identity: Identity, { refs }: Pick<Plan, 'refs'>): Promise<void> {
  const { scope, profile } = keysOf(identity);
  const first = JSON.stringify({ scope, profile, file: identity.file ?? null });
  await writeFile(rowsPath(journal), claims(first, refs), { mode: 0o600 });
}

const linesAtOnce = 4096;

function* claims(first: string, refs: RowRequests): Generator<string> {
  let [text, count] = [`${first}\n`, 0];
  for (const [ref, request] of refs) {
    text += `${ref} ${request}\n`;
    if (++count % linesAtOnce !== 0) continue;
    yield text;
    text = '';
  }
  yield text;
}

const begunLine = '{"begun":true}';

/** Says that a journal goes with them: where only these are left, it was deleted. */
export const noteBegun = (journal: string): Promise<void> => appendFile(rowsPath(journal), `${begunLine}\n`);

export const forgetRows = async (journal: string): Promise<void> => {
  await rm(rowsPath(journal), { force: true });
  await rm(notesOf(journal), { force: true });
};

/** Undefined where nobody has said it, or the file says nothing readable. Throws where the system does not give it. */
export async function claimedRows(journal: string) {
  const path = rowsPath(journal);
  const handle = await open(path, 'r').catch(unreadable(path));
  if (!handle) return undefined;
  const refs = rowRequests();
  let first: string | undefined;
  let isBegun = false;
  try {
    for await (const line of handle.readLines()) {
      const [ref = '', request = ''] = line.split(' ');
      if (first === undefined) first = line;
      else if (line === begunLine) isBegun = true;
      else if (ref !== '') refs.set(ref, request);
    }
    const { scope, profile, file } = fieldsIn(JSON.parse(first ?? ''));
    if (typeof scope !== 'string' || typeof profile !== 'string') return undefined;
    return { scope, profile, file: typeof file === 'string' ? file : null, refs, isBegun };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    return unreadable(path)(error);
  } finally {
    await handle.close().catch(() => {});
  }
}

/** The rows that a run has to do with: their names, with the digests of their requests. */
type Refs = { readonly refs: RowRequests };

export function haveCommonRow(own: Refs, { refs }: Refs): boolean {
  return someOf(refs, ([ref]) => own.refs.has(ref));
}

/** Whether both have to do with one row, or send the same. */
export function haveCommon(own: Refs, { refs }: Refs): boolean {
  if (haveCommonRow(own, { refs })) return true;
  const requests = requestsOf(own.refs);
  return someOf(refs.values(), (request) => request !== noRequest && requests.has(request));
}

/** Throws where a run of some of these rows was begun and its journal is gone: that does not mean that nothing was sent. */
export async function refuseDeleted(
  folder: JournalFolder,
  identity: Identity,
  plan: Pick<Plan, 'refs' | 'row'>,
): Promise<void> {
  if (isRepeatable(plan)) return;
  const keys = keysOf(identity);
  const names = new Set(await readdir(folder.path));
  for (const name of names) {
    const journal = name.replace(/\.rows$/u, '.jsonl');
    if (journal === name || names.has(journal) || isOfOthers(name, keys)) continue;
    const path = join(folder.path, journal);
    const claimed = await claimedRows(path);
    if (claimed?.isBegun && mayBeOurs(claimed, keys) && haveCommon(plan, claimed)) throw folder.deleted(path);
  }
}

/** The journals of runs that are under way. Throws where one of them has a row of this one. `isFree`: of a lock. */
export async function refuseCommon(
  folder: JournalFolder,
  identity: Identity,
  plan: Pick<Plan, 'refs'>,
  isFree: (lock: string) => Promise<boolean>,
): Promise<ReadonlySet<string>> {
  const keys = keysOf(identity);
  const file = identity.file ?? null;
  const places = new Set([...keys.formerly].map((account) => formerPlace(account, identity.command, file)));
  const own: Refs = { refs: plan.refs };
  const busy = new Set<string>();
  for (const name of await readdir(folder.path)) {
    if (!name.endsWith('.lock') || isOfOthers(name, keys)) continue;
    const [lock, base] = [join(folder.path, name), name.slice(0, -'.lock'.length)];
    const journal = join(folder.path, `${base}.jsonl`);
    const claimed = await claimedRows(journal);
    if (!(claimed ? mayBeOurs(claimed, keys) : isUnsaid(base, keys, places))) continue;
    if (await isFree(lock)) continue;
    if (!claimed || haveCommon(own, claimed))
      throw await underWay(lock, { doing: 'sending rows of this file', again: 'it goes on.' });
    busy.add(journal);
  }
  return busy;
}

/** A lock of this account and command that says no rows: version 0.1.0 names it after the file. */
function isUnsaid(base: string, keys: Keys, places: ReadonlySet<string>): boolean {
  const named = scopeInName(base);
  return named ? mayBeOurs(named, keys) : places.has(base);
}

/** Takes away what a process left that is gone. */
export async function freeLock(lock: string): Promise<boolean> {
  const held = await tryLock(lock);
  if (!held) return false;
  await held.release();
  await rmdir(lock).catch(() => {});
  return true;
}

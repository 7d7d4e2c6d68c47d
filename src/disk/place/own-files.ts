import { promises as fs } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { isOneFile, realPath } from '../file/same-file.ts';
import { isCopyOrBeside } from './copy-mark.ts';

type Machine = Pick<Context, 'env' | 'files'>;

export const ofCopy = 'the copy of the account';

/** By the first name below the folder. What else stands there is the user's: the folder may be one of theirs. */
const kept: Readonly<Record<keyof Context['files'], readonly (readonly [name: RegExp, what: string])[]>> = {
  config: [
    [/^\.?config\.json/iu, 'the configuration'],
    [/^\.?credentials\.json/iu, 'the saved logins'],
    [/^templates$/iu, 'a template'],
    [/^views$/iu, 'a view of the inbox'],
    [/^\.?policy\.yaml/iu, 'the rules for sends'],
    [/^locks$/iu, 'the state'],
  ],
  state: [
    [/^mirror(?:-[\da-f]{12})?\.db/iu, ofCopy],
    [/^(?:bulk|sync)$/iu, 'a journal'],
    [/^webhooks$/iu, 'the inbox'],
    [/^audit$/iu, 'the record of writes'],
    [/^drafts$/iu, 'drafts'],
    [/^unsent$/iu, 'what could not be sent'],
    [/^(?:accounts|changelog|each|limits|locks|sends)$/iu, 'the state'],
  ],
};

/** What of svc's own a path leads to, also through links; undefined where it leads elsewhere. */
export async function ownFileAt({ env, files }: Machine, path: string): Promise<string | undefined> {
  const target = await realPath(path);
  for (const which of ['config', 'state'] as const) {
    const named = folderIn(files, which);
    if (named === undefined) continue;
    const folder = await realPath(named);
    const [first = ''] = relative(folder, target).split(sep);
    const [, what] = kept[which].find(([name]) => name.test(first)) ?? [];
    if (what !== undefined) return what;
    const linked = await linkedIn(folder, which, target);
    if (linked !== undefined) return linked;
  }
  for (const [named, what] of elsewhere(env)) {
    const place = await realPath(named);
    if (target === place || target.startsWith(place + sep) || (await isOneFile(target, place))) return what;
  }
  if (await isCopyOrBeside(target)) return ofCopy;
  const copy = env.SVC_MIRROR_DB;
  if (!copy || /^postgres(?:ql)?:/iu.test(copy)) return undefined;
  const place = await realPath(copy);
  const isBeside = dirname(target) === dirname(place) && basename(target).startsWith(basename(place));
  return isBeside || (await isOneFile(target, place)) ? ofCopy : undefined;
}

/** What a second name (a hard link) of one of those files is; undefined where the file has one name, or another folder. */
async function linkedIn(folder: string, which: keyof Context['files'], path: string): Promise<string | undefined> {
  const found = await fs.stat(path).catch(() => undefined);
  if (!found?.isFile() || found.nlink < 2) return undefined;
  const names = await fs.readdir(folder, { recursive: true }).catch(() => []);
  for (const name of names) {
    const [, what] = kept[which].find(([own]) => own.test(name.split(sep)[0] ?? '')) ?? [];
    if (what !== undefined && (await isOneFile(join(folder, name), path))) return what;
  }
  return undefined;
}

/** Where the environment says that something is kept. */
function elsewhere({ SVC_DRAFTS_DB: drafts, SVC_POLICY: policy }: Machine['env']): [place: string, what: string][] {
  const places: [string, string][] = [];
  if (drafts && !/^postgres(?:ql)?:/iu.test(drafts)) places.push([join(drafts, 'drafts.jsonl'), 'drafts']);
  if (policy) places.push([policy, 'the rules for sends']);
  return places;
}

/** Who has no home has no such folder. */
function folderIn(files: Machine['files'], which: keyof Machine['files']): string | undefined {
  try {
    return files[which];
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/** What svc keeps for itself is no place for what a command writes: `what` is the flag that named it. */
export async function refuseOwnFile(machine: Machine, path: string, what: string): Promise<void> {
  const own = await ownFileAt(machine, path);
  if (own === undefined) return;
  throw new Failure('usage', `${what}: ${path} is where svc keeps ${own}.`, { hint: 'Name another place.' });
}

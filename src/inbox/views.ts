import { join } from 'node:path';
import type { Context } from '../context.ts';
import { isThere, readIfThere } from '../disk/file/atomic-file.ts';
import { isFolder, namesIn } from '../disk/file/folder.ts';
import { Failure } from '../errors.ts';
import { nearHint } from '../text/near.ts';
import { shellWord } from '../text/shell-word.ts';
import type { Choice } from './model.ts';

/** The views that svc brings, in the order in which they are offered. */
export const ownViews = {
  waiting: 'unresolved, and the customer wrote last; longest first',
  open: 'all that is unresolved',
  new: 'made since yesterday',
  snoozed: 'put away for a while',
  drafts: 'what waits for a person before it is sent, and what the service refused',
  unknown: 'what may or may not have been sent, until somebody has looked',
  feedback: 'posts of the feedback board, most votes first',
} as const;

export type OwnView = keyof typeof ownViews;

export const isOwnView = (name: string): name is OwnView => Object.hasOwn(ownViews, name);

type Files = Pick<Context, 'files'>;

const folderOf = ({ files }: Files): string => join(files.config, 'views');

/** A name is no way out of the folder, and no file that an editor hides. */
const isName = (name: string): boolean => /^[^/\\.][^/\\]*$/u.test(name);

/** A view: `path` and `text` of one that somebody wrote. */
export type View = { readonly name: string; readonly about: string; readonly path: string | null };

/** All views there are: those of svc, then those of the configuration folder by name. */
export async function allViews(ctx: Files): Promise<readonly View[]> {
  const names: string[] = [];
  for (const file of await namesIn(folderOf(ctx))) {
    const name = file.slice(0, -'.sql'.length);
    if (!file.endsWith('.sql') || !isName(file) || isOwnView(name)) continue;
    if (!(await isFolder(pathOf(ctx, name)))) names.push(name);
  }
  names.sort();
  return [
    ...Object.entries(ownViews).map(([name, about]) => ({ name, about, path: null })),
    ...names.map((name) => ({ name, about: 'your own', path: pathOf(ctx, name) })),
  ];
}

/** The same, to choose from. */
export const viewChoices = async (ctx: Files): Promise<readonly Choice[]> =>
  (await allViews(ctx)).map(({ name, about }) => ({ value: name, name, about }));

const pathOf = (ctx: Files, name: string): string => join(folderOf(ctx), `${name}.sql`);

/** The query of a view of one's own. @throws Failure `not-found` that names those there are */
export async function queryOf(ctx: Files, name: string): Promise<string> {
  const isFile = isName(name) && !isOwnView(name) && !(await isFolder(pathOf(ctx, name)));
  const text = isFile ? await readIfThere(pathOf(ctx, name)) : undefined;
  if (text !== undefined && text.trim() !== '') return text;
  if (text !== undefined)
    throw new Failure('usage', `The view ${name} is empty.`, { hint: `Write it: svc views edit ${shellWord(name)}` });
  const all = (await allViews(ctx)).map((view) => view.name);
  throw new Failure('not-found', `There is no view ${name}.`, {
    hint: [nearHint(name, all), `There are: ${all.join(', ')}.`].filter(Boolean).join(' '),
  });
}

/** Throws where there is no such view. */
export async function requireView(ctx: Files, name: string): Promise<void> {
  if (!isOwnView(name)) await queryOf(ctx, name);
}

/** Where a view of one's own stands, or will. */
export async function placeForView(ctx: Files, name: string) {
  if (isOwnView(name))
    throw new Failure('usage', `${name} is a view that svc brings, and cannot be changed.`, {
      hint: 'Give yours another name.',
    });
  if (!isName(name))
    throw new Failure('usage', `A view's name holds no / and no \\, and begins with no dot, not "${name}".`);
  const path = pathOf(ctx, name);
  if (await isFolder(path)) throw new Failure('usage', `${path} is a folder, not a view.`);
  return { path, isNew: !(await isThere(path)) };
}

import { join } from 'node:path';
import type { Context } from '../context.ts';
import { isThere, readIfThere } from '../disk/file/atomic-file.ts';
import { isFolder, namesIn } from '../disk/file/folder.ts';
import { readUserText } from '../disk/place/user-file.ts';
import { Failure } from '../errors.ts';
import { nearest, nearHint } from '../text/near.ts';
import { shellWord } from '../text/shell-word.ts';
import { parseTemplate, type Template, templateNames } from '../text/template.ts';

/** A template by its name in `templates/` of the config folder, or by its path. */
export async function readTemplate(ctx: Context, named: string): Promise<Template> {
  const path = await placeOf(ctx, named);
  const text = (await readUserText(ctx, path, '--template')).replace(/\r?\n$/u, '');
  if (text.trim() === '') throw new Failure('usage', `--template: ${path} is empty.`);
  const template = parseTemplate(text);
  if (template) return template;
  throw new Failure('usage', `--template: ${path} has {{ without a name and }}.`, {
    hint: 'A placeholder is written {{column}}.',
  });
}

/** The flags that give what a template lacks, as they can be typed: the value is left to fill in. */
export const setFlags = (names: readonly string[]): string =>
  names.map((name) => `--set ${shellWord(`${name}=VALUE`)}`).join(' ');

export const bracedNames = (names: readonly string[]): string => names.map((name) => `{{${name}}}`).join(', ');

export const loneSet = (): Failure => new Failure('usage', '--set needs --template.');

/** A `--set` whose name the template does not have is a slip: what it should give would be missing from the text. */
export function refuseUnusedSet({ placeholders }: Template, set: object): void {
  const unused = Object.keys(set).filter((name) => !placeholders.includes(name));
  if (unused.length === 0) return;
  const meant = [...new Set(unused.flatMap((name) => nearest(name, placeholders) ?? []))];
  const near = meant.length > 0 ? `Did you mean ${meant.join(', ')}? ` : '';
  const has = placeholders.length > 0 ? bracedNames(placeholders) : 'no placeholders';
  throw new Failure('usage', `--set: the template has no ${bracedNames(unused)}. Nothing was sent.`, {
    hint: `${near}It has ${has}.`,
  });
}

const folderOf = ({ files }: Pick<Context, 'files'>): string => join(files.config, 'templates');

/** A name is no way out of the folder. */
const isName = (named: string): boolean => !/[/\\]/u.test(named) && !/^\.*$/u.test(named);

/** Where a template of that name is kept; undefined where there is none. */
async function keptAt(ctx: Pick<Context, 'files'>, named: string): Promise<string | undefined> {
  if (!isName(named)) return undefined;
  for (const name of [`${named}.md`, named]) {
    const path = join(folderOf(ctx), name);
    if ((await isThere(path)) && !(await isFolder(path))) return path;
  }
  return undefined;
}

async function placeOf(ctx: Context, named: string): Promise<string> {
  // First by its name: what lies in the folder that svc is started in may be somebody else's.
  const path = await keptAt(ctx, named);
  if (path !== undefined) return path;
  if (await isThere(named)) return named;
  const near = await nearTemplate(ctx, named);
  throw new Failure('usage', `There is no template ${named}.`, {
    hint: `${near}Name a file, or write the template: svc templates edit ${shellWord(named.replace(/.*[/\\]/u, ''))}`,
  });
}

async function nearTemplate(ctx: Context, named: string): Promise<string> {
  const names = (await namedTemplates(ctx)).map(({ name }) => name);
  const hint = nearHint(named, names);
  return hint === undefined ? '' : `${hint} `;
}

type Named = { readonly name: string; readonly placeholders: readonly string[]; readonly path: string };

/** The templates of the configuration folder, by name. */
export async function namedTemplates(ctx: Context): Promise<readonly Named[]> {
  const named: Named[] = [];
  for (const name of templateNames(await namesIn(folderOf(ctx)))) {
    const kept = await keptTemplate(ctx, name);
    if (kept) named.push({ name, placeholders: parseTemplate(kept.text)?.placeholders ?? [], path: kept.path });
  }
  return named;
}

type Kept = { readonly path: string; readonly text: string };

async function keptTemplate(ctx: Context, name: string): Promise<Kept | undefined> {
  const path = await keptAt(ctx, name);
  const text = path === undefined ? undefined : await readIfThere(path);
  return path === undefined || text === undefined ? undefined : { path, text };
}

/** A named template; a usage Failure that names those there are. */
export async function templateNamed(ctx: Context, name: string): Promise<Kept> {
  const kept = await keptTemplate(ctx, name);
  if (kept) return kept;
  const all = await namedTemplates(ctx);
  throw new Failure('not-found', `There is no template ${name}.`, {
    hint:
      all.length > 0
        ? `${await nearTemplate(ctx, name)}There are: ${all.map((one) => one.name).join(', ')}.`
        : `To write it: svc templates edit ${shellWord(name)}`,
  });
}

/** Where the template stands, or will, and its present text. */
export async function placeForTemplate(
  ctx: Context,
  name: string,
): Promise<{ readonly path: string; readonly text?: string }> {
  if (!isName(name)) throw new Failure('usage', `A template's name holds no / and no \\, not "${name}".`);
  const path = await keptAt(ctx, name);
  if (path !== undefined) return { path, text: await readIfThere(path) };
  const made = join(folderOf(ctx), `${name}.md`);
  if (await isFolder(made)) throw new Failure('usage', `${made} is a folder, not a template.`);
  return { path: made };
}

import { join } from 'node:path';
import type { Context } from '../context.ts';
import { isThere } from '../disk/atomic-file.ts';
import { readUserText } from '../disk/user-file.ts';
import { Failure } from '../errors.ts';
import { parseTemplate, type Template } from '../text/template.ts';

/** A template by its path, or by its name in `templates/` of the config folder. */
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

async function placeOf({ files }: Context, named: string): Promise<string> {
  if (await isThere(named)) return named;
  const folder = join(files.config, 'templates');
  // A name is no way out of the folder.
  if (!/[/\\]/u.test(named)) {
    for (const name of [`${named}.md`, named]) if (await isThere(join(folder, name))) return join(folder, name);
  }
  throw new Failure('usage', `There is no template ${named}.`, {
    hint: `Name a file, or put it into ${folder} as ${named.replace(/.*[/\\]/u, '')}.md`,
  });
}

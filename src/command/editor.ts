import type { Settings } from '../config/settings.ts';
import type { Context, KeptFile } from '../context.ts';
import { Failure } from '../errors.ts';

type Editing = {
  readonly extension: string;
  /** It becomes a file, and no message. */
  readonly isFile?: boolean;
  /** See `Ask.edit`. */
  readonly otherwise?: string | undefined;
  readonly textIn?: (saved: string) => string;
};

/**
 * What is saved in the editor. Nobody writes it twice: where the command fails, or the editor does, it is kept in a file,
 * and where svc is killed before the command is over, it is in the editor's own.
 * `textIn`: what of it is the text, where lines for the reader stand beside it.
 */
export async function edited(
  ctx: Pick<Context, 'ask' | 'writes'>,
  opened: string,
  { textIn = (saved) => saved, otherwise, ...file }: Editing,
): Promise<string> {
  const { writes } = ctx;
  const keep = (saved: string) => {
    if (writes && saved !== opened) writes.text = textIn(saved);
  };
  const kept =
    writes &&
    ((file: KeptFile) => {
      writes.file = file;
    });
  const options = { ...file, ...(otherwise !== undefined && { otherwise }), ...(kept && { kept }) };
  const saved = await ctx.ask.edit(opened, { ...options, failed: keep });
  keep(saved);
  return textIn(saved);
}

type Asking = Pick<Context, 'env' | 'ask'>;

/** An editor that the user names and asks for may be a script, which needs no terminal: as with git. */
export const canOpenEditor = ({ env, ask }: Asking, { noInput }: Settings): boolean =>
  !noInput && (ask.canAsk || Boolean(env.VISUAL?.trim() || env.EDITOR?.trim()));

type FileText = {
  /** Of --text. */
  readonly given: string | undefined;
  /** What the editor opens with. */
  readonly opened: () => string | Promise<string>;
  readonly extension: string;
  readonly noun: 'text' | 'query';
};

/** The whole text of a file that a command writes, with the end of its last line: of --text, or as it is saved in the editor. */
export async function fileText(
  ctx: Pick<Context, 'env' | 'ask' | 'writes'>,
  settings: Settings,
  { given, opened, extension, noun }: FileText,
): Promise<string> {
  const hint = `Give the ${noun} with --text ${noun.toUpperCase()}.`;
  if (given === undefined && !canOpenEditor(ctx, settings))
    throw new Failure('usage', 'The editor needs a terminal.', { hint });
  const text = given ?? (await edited(ctx, await opened(), { extension, isFile: true }));
  if (text.trim() === '') throw new Failure('usage', `The ${noun} is empty. Nothing was written.`);
  return text.endsWith('\n') ? text : `${text}\n`;
}

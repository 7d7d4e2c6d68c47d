import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { readUserText } from '../disk/place/user-file.ts';
import { Failure } from '../errors.ts';
import { capital } from '../text/capital.ts';
import type { Params } from './command.ts';
import { canOpenEditor, edited } from './editor.ts';
import { param } from './param.ts';
import { blankPage, withoutSeed } from './seed.ts';

/** The flags through which a longer text comes, beside the one that holds it (`--body`, `--description`, `--content`). */
export const textFlags = {
  bodyFile: param.file('Read the text from a file; - is standard input'),
  editor: param.toggle('Write the text in your editor'),
} satisfies Params;

/** The same where the record has a text, which is overwritten. */
export const replacingFlags = (field: string): typeof textFlags => ({
  bodyFile: param.file(`Replace the ${field} by the text of a file; - is standard input`),
  editor: param.toggle(`Replace the ${field} by what you write in your editor`),
});

type GivenText = {
  /** The flag's key, which is also its name: `body`. */
  readonly field: string;
  readonly text: string | undefined;
  readonly bodyFile: string | undefined;
  /** The flag that named the file, where it has another name. */
  readonly fileFlag?: string;
  /** A template that is filled in: on a terminal a person sees it before it is sent, with --editor also changes it. */
  readonly template?: string;
  readonly editor: boolean;
  /** Open the editor where nothing was given: on a terminal, and only for new texts. */
  readonly opensEditor: boolean;
  readonly required: boolean;
  /** `kept`: a blank text from its own flag is sent as it is, since it empties the field. */
  readonly blank: 'refused' | 'kept';
  /** What the editor opens with, asked for only when it opens; it is left out of what was written. */
  readonly seed?: () => Promise<string>;
  /** Who will read the text and about what, for the question whether to send it; empty where that cannot be read. */
  readonly head?: () => Promise<string>;
  /** Whether a person sees it before it reaches anybody in any case: then and not here it is asked for. */
  readonly isSeenLater?: () => Promise<boolean>;
  /** What is so where no text comes of it, instead of `nothing was sent`. */
  readonly otherwise?: string;
  /** What the text is of, where there is no seed to tell: `ticket "Export fails"`. */
  readonly of?: string;
};

/** The text, from exactly one of its three ways; undefined where none was given and none is required. */
export async function bodyText(ctx: Context, settings: Settings, given: GivenText): Promise<string | undefined> {
  const flag = `--${given.field}`;
  const { fileFlag = '--body-file' } = given;
  const ways = [
    given.text !== undefined && flag,
    given.template !== undefined && '--template',
    given.bodyFile !== undefined && fileFlag,
    // The editor opens what a template made.
    given.editor && given.template === undefined && '--editor',
  ];
  const named = ways.filter((way) => way !== false);
  if (named.length > 1) throw new Failure('usage', `Give only one of ${named.join(' and ')}.`);
  if (given.text !== undefined) return given.blank === 'kept' ? given.text : notBlank(given.text, flag, given);
  if (given.bodyFile !== undefined) {
    if (given.bodyFile === '-' && ctx.stdin.isTTY) ctx.notice('Type the text. Ctrl-D on an empty line ends it.');
    const text = await readUserText(ctx, given.bodyFile, fileFlag);
    return notBlank(text.replace(/\r?\n$/u, ''), given.bodyFile === '-' ? 'Standard input' : given.bodyFile, given);
  }
  const canEdit = ctx.ask.canAsk && !settings.noInput;
  if (given.editor && !canOpenEditor(ctx, settings)) {
    throw new Failure('usage', '--editor needs a terminal, or an editor in VISUAL or EDITOR.', {
      hint: `Give ${flag} TEXT or ${fileFlag} FILE.`,
    });
  }
  if (given.template !== undefined && !given.editor) {
    if (canEdit && !settings.yes) await agreedTo(ctx, given.template, given);
    return given.template;
  }
  if (given.editor || (given.opensEditor && canEdit)) {
    const page = given.template === undefined ? blankPage(given.field, given.of) : '';
    const seed = given.seed ? await given.seed() : page;
    const textIn = (saved: string) => (seed === '' ? saved : withoutSeed(saved, seed)).trimEnd();
    const opened = `${given.template ?? ''}${seed}`;
    const text = await edited(ctx, opened, { extension: '.md', textIn, otherwise: given.otherwise });
    if (isBlank(text)) {
      throw new Failure('usage', isEmpty('The text', given), {
        hint: `Write it in the editor and save it, or give ${flag} TEXT or ${fileFlag} FILE.`,
      });
    }
    // An editor that was left without saving looks the same.
    if (text === given.template?.trimEnd() && !settings.yes) {
      if (!canEdit)
        throw new Failure('usage', 'The editor left the template as it was. Nothing was sent.', {
          hint: 'To send it as it is, leave out --editor.',
        });
      await agreedTo(ctx, text, given);
    }
    return text;
  }
  if (!given.required) return undefined;
  throw new Failure('usage', `${flag} is required.`, { hint: `Give ${flag} TEXT or ${fileFlag} FILE.` });
}

async function agreedTo({ ask }: Context, text: string, { head, isSeenLater }: GivenText): Promise<void> {
  if (await isSeenLater?.()) return;
  const above = (await head?.()) ?? '';
  const shown = above === '' ? text : `${above}\n\n${text}`;
  if (await ask.confirm('Send this text?', { shown })) return;
  throw new Failure('failed', 'Declined. Nothing was sent.', { hint: 'To change it first: add --editor' });
}

/** Space, and characters that nobody sees. */
export const isBlank = (text: string): boolean => /^[\p{Z}\p{Cc}\p{Cf}]*$/u.test(text);

function notBlank(text: string, where: string, given: Pick<GivenText, 'otherwise'>): string {
  if (!isBlank(text)) return text;
  throw new Failure('usage', isEmpty(where, given));
}

const isEmpty = (what: string, { otherwise = 'nothing was sent' }: Pick<GivenText, 'otherwise'>): string =>
  `${what} is empty. ${capital(otherwise)}.`;

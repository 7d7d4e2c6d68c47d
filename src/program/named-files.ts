import type { Command, Param } from '../command/command.ts';
import { isHelpFlag } from '../command/flag-words.ts';
import { flagName } from '../command/param.ts';
import type { Context } from '../context.ts';
import { isThere } from '../disk/file/atomic-file.ts';
import { Failure } from '../errors.ts';
import type { Slot } from './invocation.ts';

/** What is wrong with the files that are named, before anything is sent and before what stands there is looked at. */
export async function refuseFiles(ctx: Context, slots: readonly Slot[], { flags }: Command): Promise<void> {
  for (const { of, param, texts, label } of slots) {
    const mayBeFlags = of === 'flags' && param.completes === 'files';
    for (const path of texts) {
      if (mayBeFlags && path.startsWith('-')) await refuseFlagAsFile(path, label, flags);
      if (param.isWritten) await (await import('../disk/place/own-files.ts')).refuseOwnFile(ctx, path, label);
    }
  }
  await refuseWhatIsRead(ctx, slots);
}

/** Unless there is such a file, its name was left out. Commander says so of the flags that every command takes. */
async function refuseFlagAsFile(text: string, label: string, flags: Command['flags']): Promise<void> {
  const flag = text.replace(/=.*/su, '');
  const isFlag =
    isHelpFlag(flag) || Object.entries<Param<unknown>>(flags).some(([key, own]) => `--${flagName(key, own)}` === flag);
  if (!isFlag || (await isThere(text))) return;
  throw new Failure('usage', `${label} needs a value.`, {
    hint: `${flag} stands there, which is a flag. A file of that name is ./${flag}`,
  });
}

/** Neither may what is written be a file that the same command reads: its template, its text, its rows. */
async function refuseWhatIsRead(ctx: Context, slots: readonly Slot[]): Promise<void> {
  const files = slots.flatMap(({ param, texts, label }) =>
    param.completes === 'files' ? texts.map((path) => ({ path, label, isWritten: param.isWritten === true })) : [],
  );
  const written = files.filter(({ isWritten }) => isWritten);
  if (written.length === 0) return;
  const { isRead } = await import('../disk/draft/draft-file.ts');
  for (const read of files) {
    if (read.isWritten || (read.path !== '-' && !(await isThere(read.path)))) continue;
    for (const { path, label } of written) {
      if (!(await isRead(ctx, path, read.path))) continue;
      throw new Failure('usage', `${label} would overwrite the file that is read.`, { hint: 'Name another file.' });
    }
  }
}

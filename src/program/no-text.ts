import { headOf } from '../disk/file/file-head.ts';
import { Failure } from '../errors.ts';
import { shellWord } from '../text/shell-word.ts';

/** Refuses `-`, and `@FILE` where there is such a file. `reader`: the flag that reads the text from there. */
export async function refuseNoText(text: string, label: string, reader: string | undefined): Promise<void> {
  const path = text.replace(/^@/u, '');
  if (path !== '-' && !(await isFile(path))) return;
  const what = path === '-' ? 'standard input' : 'the file';
  throw new Failure('usage', `${label} is the text itself, and "${text}" does not read ${what}.`, {
    hint: reader ? `To read ${what}: ${reader} ${shellWord(path)}` : `Write the text behind ${label}.`,
  });
}

/** `reader`: the flag that takes such a text from a file, where every byte can be checked. */
export function refuseMisread(label: string, reader: string | undefined): never {
  throw new Failure('usage', `${label} holds the sign \uFFFD: svc could not read the bytes that stood there.`, {
    hint: [
      'The terminal or the script that started svc does not write UTF-8. Nothing was sent.',
      ...(reader ? [`Where the text really has that sign, write it to a file: ${reader} FILE`] : []),
    ].join('\n'),
  });
}

/** A name that cannot be looked at, such as one that is too long, is no file's. */
async function isFile(path: string): Promise<boolean> {
  const { kind } = await headOf(path, 0).catch(() => ({ kind: 'none' }));
  return kind === 'file' || kind === 'other';
}

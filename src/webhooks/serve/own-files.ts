import { join, relative, resolve, sep } from 'node:path';
import type { Context } from '../../context.ts';
import { isOneFile, realPath } from '../../disk/file/same-file.ts';
import { ownFileAt } from '../../disk/place/own-files.ts';
import { Failure } from '../../errors.ts';
import { inboxFile } from '../store/folder/file.ts';
import type { Place } from '../store/place.ts';
import type { Configured } from './config.ts';

/** What svc keeps in the folder of its inbox. Other files may stand beside it. */
const own = /^(?:\.?inbox\.jsonl.*|lock|orders|probe|searches\.(?:json|lock))$/u;

/** A sink that writes into svc's own files would destroy what was accepted, or be read as configuration. */
export async function refuseOwnFiles(
  ctx: Pick<Context, 'env' | 'files'>,
  { config, file, folder }: Configured,
  place: Place,
): Promise<void> {
  for (const { name, file: sink } of config.sinks) {
    if (!sink) continue;
    await refuseOwnFile(ctx, { file, folder, place }, { name, path: sink.path });
  }
}

/** Also before each write: a link may lead there since. */
export async function refuseOwnFile(
  ctx: Pick<Context, 'env' | 'files'>,
  { file, folder, place }: Pick<Configured, 'file' | 'folder'> & { readonly place: Place },
  sink: { readonly name: string; readonly path: string },
): Promise<void> {
  const path = await realPath(resolve(folder, sink.path));
  const hint = 'Name another file in its path.';
  const what = (await isOneFile(path, file)) ? 'the configuration' : await ownIn(path, place);
  if (what !== undefined)
    throw new Failure('usage', `The file of sink ${sink.name} is ${what} itself: ${sink.path}`, { hint });
  const own = await ownFileAt(ctx, path);
  if (own !== undefined)
    throw new Failure('usage', `In the file of sink ${sink.name} svc keeps ${own}: ${sink.path}`, { hint });
}

async function ownIn(path: string, place: Place): Promise<string | undefined> {
  if (!('folder' in place)) return undefined;
  const inbox = await realPath(place.folder);
  const [first = ''] = relative(inbox, path).split(sep);
  const isOwn = path === inbox || own.test(first) || (await isOneFile(path, join(inbox, inboxFile)));
  return isOwn ? 'the inbox' : undefined;
}

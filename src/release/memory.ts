import { join } from 'node:path';
import { readIfThere, replaceFile } from '../disk/atomic-file.ts';
import type { Service } from '../http/call.ts';
import { hexDigestOf } from '../text/digest.ts';
import { showsContent } from '../text/reading.ts';
import type { Entry } from './plan.ts';

/**
 * A service may show a text in a way that we cannot foresee. Then what it made of it is remembered, both as hashes, by
 * entry, and counts as shown next time. It only spares needless updates: without it, as on a fresh CI machine, the
 * comparison of readings decides alone.
 */
export async function rememberUnforeseen(service: Service, entry: Entry, content: string): Promise<void> {
  if (showsContent(entry.content_html, content)) return;
  // What was done is done, also where it cannot be remembered.
  await replaceFile(fileOf(service, entry), hashes(entry, content)).catch(() => {});
}

/** Whether the entry shows the content, to a reader or as it was answered when we sent that very text. */
export async function isShown(service: Service, entry: Entry, content: string): Promise<boolean> {
  if (showsContent(entry.content_html, content)) return true;
  const remembered = await readIfThere(fileOf(service, entry)).catch(() => undefined);
  return remembered === hashes(entry, content);
}

const fileOf = ({ ctx, session }: Service, entry: Entry): string =>
  join(ctx.files.state, 'changelog', `${hexDigestOf(`${session.baseUrl} ${entry.id}`).slice(0, 24)}.json`);

const hashes = (entry: Entry, content: string): string =>
  JSON.stringify({ sent: hexDigestOf(content), shown: hexDigestOf(entry.content_html) });

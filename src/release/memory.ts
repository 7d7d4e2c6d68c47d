import { join } from 'node:path';
import { listChangelog } from '../api/changelog.ts';
import { readIfThere, replaceFile } from '../disk/file/atomic-file.ts';
import type { Service } from '../http/call/call.ts';
import { hexDigestOf } from '../text/digest.ts';
import { showsContent } from '../text/reading.ts';
import { textIn } from '../text/record.ts';
import { type Entry, fullName, type Named } from './plan.ts';
import { versionKey } from './version.ts';

/**
 * A service may show a text in a way that we cannot foresee. Then what it made of it is remembered, both as hashes, by
 * entry, and counts as shown next time. It only spares needless updates: without it, as on a fresh CI machine, the
 * comparison of readings decides alone.
 */
export async function rememberUnforeseen(service: Service, entry: Entry, content: string): Promise<void> {
  const html = textIn(entry.content_html);
  if (html === undefined || showsContent(html, content)) return;
  // What was done is done, also where it cannot be remembered.
  await replaceFile(fileOf(service, entry), hashes(html, content)).catch(() => {});
}

/** Whether the entry shows the content, to a reader or as it was answered when we sent that very text. */
export async function isShown(service: Service, entry: Entry, content: string): Promise<boolean> {
  const html = textIn(entry.content_html);
  if (html === undefined) return false;
  if (showsContent(html, content)) return true;
  const remembered = await readIfThere(fileOf(service, entry)).catch(() => undefined);
  return remembered === hashes(html, content);
}

/**
 * Which entry is the one of a version: a list may come from a store that does not have it yet, and the entry itself can
 * be read by its id. Without it, as on a fresh CI machine, the list decides alone.
 */
export async function rememberEntry(service: Service, wanted: Named, id: number): Promise<void> {
  const text = JSON.stringify({ entry: id });
  for (const name of namesOf(wanted)) {
    const file = await entryFile(service, name);
    if ((await readIfThere(file).catch(() => undefined)) !== text) await replaceFile(file, text).catch(() => {});
  }
}

export async function rememberedEntry(service: Service, wanted: Named): Promise<number | undefined> {
  for (const name of namesOf(wanted)) {
    const text = (await readIfThere(await entryFile(service, name)).catch(() => '')) ?? '';
    const [, id] = /^\{"entry":(\d+)\}$/u.exec(text) ?? [];
    if (id !== undefined) return Number(id);
  }
  return undefined;
}

/** A run that does not name the package may have made the entry, or may come next. */
const namesOf = (wanted: Named): readonly string[] => [...new Set([fullName(wanted), wanted.version])];

/** A key belongs to one account, and so does a profile. */
async function entryFile({ ctx, session }: Service, version: string): Promise<string> {
  const { from, profile, baseUrl } = session;
  const whose = from === 'profile' ? `profile ${profile}` : `token ${(await session.bearer(listChangelog)).token}`;
  const name = hexDigestOf(`svc release\n${baseUrl}\n${whose}\n${versionKey(version)}`);
  return join(ctx.files.state, 'changelog', `${name.slice(0, 24)}.json`);
}

const fileOf = ({ ctx, session }: Service, entry: Entry): string =>
  join(ctx.files.state, 'changelog', `${hexDigestOf(`${session.baseUrl} ${entry.id}`).slice(0, 24)}.json`);

const hashes = (html: string, content: string): string =>
  JSON.stringify({ sent: hexDigestOf(content), shown: hexDigestOf(html) });

import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isCode } from '../../disk/atomic-file.ts';
import { linesOf } from '../../disk/log-file.ts';
import { decodeLine, type InboxLine } from './line.ts';

export const inboxFile = 'inbox.jsonl';

/** Reads an inbox that may be in use by another process: an unfinished last line is simply not there yet. */
export async function* readInbox(folder: string): AsyncGenerator<InboxLine> {
  const file = await open(join(folder, inboxFile), 'r').catch((error) => {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (!file) return;
  try {
    for await (const { text } of linesOf(file)) {
      const line = decodeLine(text.toString('utf8'));
      if (line) yield line;
    }
  } finally {
    await file.close();
  }
}

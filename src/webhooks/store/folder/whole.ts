import type { FileHandle } from 'node:fs/promises';
import { lineAt } from '../../../disk/log/log-file.ts';
import { type InboxLine, lineIn, type Outcome } from '../line.ts';
import { linesBackwards } from './backwards.ts';
import { inInbox } from './file.ts';
import { closeIndex, type Index, placesOf } from './index-file.ts';
import { openKnown } from './known.ts';
import type { Received } from './look-up.ts';

/**
 * The deliveries of these ids, by the index: for somebody who has not opened the inbox. None where there is no index, or it
 * leads elsewhere; then the whole file says it.
 */
export async function findWhole(folder: string, ids: readonly string[]): Promise<readonly Received[]> {
  const all: Received[] = [];
  await inInbox(folder, async (file) => {
    const found = await openKnown(folder, file, 'r').catch(() => undefined);
    if (!found) return;
    try {
      const later = await linesBehind(file, found.known.end, ids);
      for (const id of ids) {
        const one = receivedFrom([...(await linesOfId(file, found.index, id)), ...later], id);
        if (one) all.push(one);
      }
    } finally {
      await closeIndex(found.index);
    }
  });
  return all;
}

async function linesOfId(file: FileHandle, index: Index, id: string): Promise<InboxLine[]> {
  const arrivals = (await placesOf(index, 'arrival', id)) ?? [];
  const outcomes = arrivals.length > 0 ? ((await placesOf(index, 'outcome', id)) ?? []) : [];
  const lines: InboxLine[] = [];
  for (const start of [...arrivals, ...outcomes].sort((a, b) => a - b)) {
    const line = lineIn((await lineAt(file, start))?.text);
    if (line) lines.push(line);
  }
  return lines;
}

/** What came since the index ends. */
async function linesBehind(file: FileHandle, from: number, ids: readonly string[]): Promise<InboxLine[]> {
  const found: InboxLine[] = [];
  const texts = ids.map((id) => Buffer.from(JSON.stringify(id)));
  for await (const lines of linesBackwards(file, from)) {
    for (const { bytes } of lines) {
      if (!texts.some((text) => bytes.includes(text))) continue;
      const line = lineIn(bytes);
      if (line) found.push(line);
    }
  }
  return found.reverse();
}

function receivedFrom(lines: readonly InboxLine[], id: string): Received | undefined {
  let found: { readonly arrival: Received['arrival']; readonly outcomes: Outcome[] } | undefined;
  for (const line of lines) {
    if (line.kind === 'arrival' && line.arrival.id === id) found = { arrival: line.arrival, outcomes: [] };
    if (line.kind === 'outcome' && line.id === id) found?.outcomes.push(line.outcome);
  }
  return found;
}

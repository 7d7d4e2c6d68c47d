import type { FileHandle } from 'node:fs/promises';
import { linesOf, readAt } from '../../../disk/log/log-file.ts';
import { type Arrival, deadIn, type InboxLine, isOwed, lineIn, type Outcome, settles } from '../line.ts';
import { linesBackwards } from './backwards.ts';
import { countLine, inInbox, noneCounted, type OnDamage, openInboxFile, tellDamage } from './file.ts';
import { closeIndex } from './index-file.ts';
import { type Known, openKnown } from './known.ts';

export type View<T> = (arrival: Arrival) => T | undefined;
export type Seen<T> = { readonly value: T; readonly outcomes: readonly Outcome[] };

export type Asked = {
  readonly onDamage?: OnDamage;
  /** So many are enough, the newest. */
  readonly most?: number;
  /** Only lines with one of these texts in them, which are none that JSON writes in two ways. */
  readonly texts?: readonly string[];
  readonly isWanted?: (outcomes: readonly Outcome[]) => boolean;
  /** Only what somebody still waits for; others may be among them. */
  readonly isOpen?: boolean;
};

/** `isAll`: there are no others. */
export type Found<T> = { readonly seen: readonly Seen<T>[]; readonly isAll: boolean };

/** Some of what is in an inbox. */
export type Part = { readonly folder: string; readonly has: (arrival: Arrival) => boolean };

/**
 * What these inboxes or parts of them ever received and still keep, oldest first, each id once, from the newest back as far
 * as is asked. Of each delivery only what `view` makes of it stays in memory: an inbox may be larger. Those without a view
 * are left out.
 */
export async function receivedIn<T>(
  parts: readonly (string | Part)[],
  view: View<T>,
  asked: Asked = {},
): Promise<Found<T>> {
  const all = new Map<string, One<T>>();
  let isAll = true;
  for (const part of parts) {
    const folder = typeof part === 'string' ? part : part.folder;
    const seen: View<T> =
      typeof part === 'string' ? view : (arrival) => (part.has(arrival) ? view(arrival) : undefined);
    const open = asked.isOpen ? await openOnes(folder, seen, asked.onDamage) : undefined;
    const some = open ? { ones: open, isAll: true } : await receivedBy(folder, seen, asked);
    for (const one of some.ones) all.set(one.id, one);
    isAll &&= some.isAll;
  }
  const { most = Number.POSITIVE_INFINITY } = asked;
  const byTime = [...all.values()].sort((a, b) => Number(a.at > b.at) - Number(a.at < b.at));
  const ordered = byTime.map(seenOf);
  return { seen: isAll ? ordered : ordered.slice(-most), isAll };
}

type One<T> = Seen<T> & { readonly id: string; readonly at: string };

const seenOf = <T>({ value, outcomes }: One<T>): Seen<T> => ({ value, outcomes });

/**
 * Reads from the end back: what became of a delivery stands behind it, so it is known by then, and nothing else stays in
 * memory. What no index knows is read as a whole, so that every line that cannot be read is told.
 */
async function receivedBy<T>(folder: string, view: View<T>, { onDamage, most, texts, isWanted }: Asked) {
  const ones = new Map<string, One<T>>();
  const oldestFirst = () => [...ones.values()].reverse();
  const found = await inInbox(folder, async (file) => {
    const known = await knownIn(folder, file);
    const limit = await limitIn(file, known);
    const isAsked = texts && askedFor(texts);
    const damage = countingBack(known);
    let seen = 0;
    const outcomes = new Map<string, Outcome[]>();
    for await (const lines of linesBackwards(file)) {
      for (const { bytes, start } of lines) {
        const isKnown = known !== undefined && start < known.end;
        if (isKnown && most !== undefined && ones.size >= most) {
          damage.tell(folder, onDamage);
          return { ones: oldestFirst(), isAll: false };
        }
        if (isAsked && !isAsked(bytes)) continue;
        const line = lineIn(bytes);
        if (!isKnown) damage.see(line !== undefined);
        if (!line || line.kind === 'limit') continue;
        if (line.kind === 'outcome') {
          outcomes.set(line.id, [line.outcome, ...(outcomes.get(line.id) ?? [])]);
          continue;
        }
        const became = outcomes.get(line.arrival.id) ?? [];
        outcomes.delete(line.arrival.id);
        // The file may hold more than the limit until it is rewritten.
        if (++seen > limit && !isKept(line.arrival, became)) continue;
        if (isWanted && !isWanted(became)) continue;
        const value = view(line.arrival);
        const { id, at } = line.arrival;
        if (value !== undefined && !ones.has(id)) ones.set(id, { id, at, value, outcomes: became });
      }
    }
    if (!isAsked) damage.tell(folder, onDamage);
    return { ones: oldestFirst(), isAll: true };
  });
  return found ?? { ones: [], isAll: true };
}

/** `serve` itself knows what it must keep. */
function isKept(arrival: Arrival, outcomes: readonly Outcome[]): boolean {
  const isWanted = isOwed(arrival) || (arrival.sinks ?? []).length > 0;
  return isWanted && !outcomes.some((outcome) => settles(outcome) && outcome.state === undefined);
}

function askedFor(texts: readonly string[]): (bytes: Buffer) => boolean {
  const wanted = texts.map((text) => Buffer.from(text));
  return (bytes) => wanted.some((text) => bytes.includes(text));
}

async function knownIn(folder: string, file: FileHandle): Promise<Known | undefined> {
  const found = await openKnown(folder, file, 'r').catch(() => undefined);
  if (found) await closeIndex(found.index);
  return found?.known;
}

const limitBegins = Buffer.from('{"limit":');

/** The last that was written. */
async function limitIn(file: FileHandle, known: Known | undefined): Promise<number> {
  let limit = known?.limit ?? Number.POSITIVE_INFINITY;
  for await (const lines of linesOf(file, known?.end)) {
    for (const { text } of lines) {
      if (!text.subarray(0, limitBegins.length).equals(limitBegins)) continue;
      const line = lineIn(text);
      if (line?.kind === 'limit') limit = line.limit;
    }
  }
  return limit;
}

/** Counts lines from the last one back, behind what is known. */
function countingBack(known: Known | undefined) {
  const before = known?.counted ?? noneCounted();
  let [lines, count, last] = [0, 0, 0];
  return {
    see(isGood: boolean) {
      lines++;
      if (isGood) return;
      count++;
      last = lines;
    },
    tell(folder: string, onDamage?: OnDamage) {
      const first = before.first || (count > 0 ? before.lines + lines - last + 1 : 0);
      tellDamage(folder, { lines: before.lines + lines, count: before.count + count, first }, onDamage);
    },
  };
}

/**
 * Only what somebody still waits for and dead letters, oldest first, and some of what came last: far less than all. Undefined
 * where no index says which they are.
 */
async function openOnes<T>(folder: string, view: View<T>, onDamage?: OnDamage): Promise<readonly One<T>[] | undefined> {
  const file = await openInboxFile(folder);
  if (!file) return [];
  try {
    const known = await knownIn(folder, file);
    if (!known) return undefined;
    const kept = new Map<string, One<T> & { readonly outcomes: Outcome[] }>();
    const take = (line: InboxLine | undefined) => {
      if (line?.kind === 'outcome') kept.get(line.id)?.outcomes.push(line.outcome);
      if (line?.kind !== 'arrival') return;
      const { id, at } = line.arrival;
      const value = view(line.arrival);
      if (value !== undefined) kept.set(id, { id, at, value, outcomes: [] });
    };
    for (const span of known.open) take(lineIn(await readAt(file, span)));
    const counted = { ...known.counted };
    for await (const lines of linesOf(file, known.end)) {
      for (const { text } of lines) {
        const line = lineIn(text);
        countLine(counted, line !== undefined);
        take(line);
      }
    }
    tellDamage(folder, counted, onDamage);
    return [...kept.values()];
  } finally {
    await file.close();
  }
}

/** The dead letters, oldest first. */
export async function deadLettersIn<T>(
  folder: string,
  view: View<T>,
  onDamage?: OnDamage,
): Promise<readonly Seen<T>[]> {
  const some = await openOnes(folder, view, onDamage);
  if (some) return some.filter(({ outcomes }) => isDead(outcomes)).map(seenOf);
  return (await receivedIn([folder], view, { onDamage, isWanted: isDead })).seen;
}

const isDead = (outcomes: readonly Outcome[]): boolean => deadIn(outcomes).length > 0;

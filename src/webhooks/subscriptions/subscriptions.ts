import { join } from 'node:path';
import type { WebhookEvent } from '../../api/webhooks.ts';
import { readIfThere, replaceFile } from '../../disk/file/atomic-file.ts';
import { removeFile } from '../../disk/file/folder.ts';
import { Failure } from '../../errors.ts';
import { isSameUrl } from '../../http/look/agree.ts';

/** The service's side, as little of it as is needed here. */
export type Subscribing = {
  list(): Promise<readonly { readonly id: number; readonly event_type: string; readonly target_url: string }[]>;
  create(event: WebhookEvent, url: string): Promise<{ readonly id: number; readonly signing_secret: string }>;
  delete(id: number): Promise<void>;
};

/** What a listener made, or was about to make, at one service. Without an id the answer never came. */
type Session = {
  readonly base_url: string;
  readonly target_url: string;
  /** Ids that existed before: they are somebody else's, also where they have our URL. */
  readonly before: readonly number[];
  readonly made: readonly { readonly event: WebhookEvent; readonly id?: number }[];
};

export type Made = { readonly event: WebhookEvent; readonly id: number; readonly secret: string };

const journalFile = 'subscriptions.json';

type Wanted = { readonly baseUrl: string; readonly url: string; readonly events: readonly WebhookEvent[] };

/**
 * Subscribes the URL to the events. Each intent is on disk before the service hears of it, so that whatever the
 * instant at which svc is killed, or this fails, `reap` knows what to remove. The URL leads to this listener alone, so
 * a subscription to it whose answer was lost, and its secret with it, is ours to replace.
 */
export async function subscribe(
  folder: string,
  { baseUrl, url, events }: Wanted,
  service: Subscribing,
): Promise<Made[]> {
  const before = (await service.list()).map(({ id }) => id);
  const earlier = await readJournal(folder);
  const done: Session['made'][number][] = [];
  const write = (...more: Session['made']) =>
    writeJournal(folder, [...earlier, { base_url: baseUrl, target_url: url, before, made: [...done, ...more] }]);
  const made: Made[] = [];
  for (const event of events) {
    await write({ event });
    const { id, signing_secret: secret } = await service.create(event, url).catch(async (error: unknown) => {
      if (!(error instanceof Failure) || error.kind !== 'unknown') throw error;
      const lost = (await service.list()).filter((one) => isFresh({ target_url: url, before }, event, one));
      // Nothing is there, so it may still be on its way.
      if (lost.length === 0) throw error;
      for (const one of lost) await service.delete(one.id);
      // Another copy may arrive late.
      done.push({ event });
      return service.create(event, url);
    });
    done.push({ event, id });
    await write();
    made.push({ event, id, secret });
  }
  return made;
}

/**
 * Removes from this service what the journals of these folders name, and nothing else: their ids; and of a lost answer
 * the one that has its URL and event, was not there before, and that no living listener calls its own. Returns the ids
 * removed; what could not be removed stays in the journal.
 */
export async function reap(
  folders: readonly string[],
  living: readonly string[],
  baseUrl: string,
  service: Subscribing,
): Promise<number[]> {
  const removed: number[] = [];
  for (const folder of folders) {
    const sessions = await readJournal(folder);
    const ours = sessions.filter((session) => session.base_url === baseUrl);
    if (ours.length === 0) continue;
    const known = await service.list();
    const taken = (await Promise.all(living.map(idsIn))).flat();
    const found = { known, taken };
    const ids = ours.flatMap((session) => session.made.flatMap((entry) => meantBy(session, entry, found)));
    const meant = [...new Set(ids.map(({ id }) => id))];
    const left = await removeAll(meant, service);
    removed.push(...meant.filter((id) => !left.includes(id)));
    const kept = ours.flatMap((session) => {
      const made = session.made.filter((entry) => meantBy(session, entry, found).some(({ id }) => left.includes(id)));
      return made.length > 0 ? [{ ...session, made }] : [];
    });
    await writeJournal(folder, [...sessions.filter((session) => session.base_url !== baseUrl), ...kept]);
  }
  return removed;
}

/** Whether there is something to reap, without asking the service. */
export async function hasLeftovers(folders: readonly string[], baseUrl: string): Promise<boolean> {
  const journals = await Promise.all(folders.map(readJournal));
  return journals.flat().some((session) => session.base_url === baseUrl);
}

type Known = Awaited<ReturnType<Subscribing['list']>>[number];

/** Has the URL and the event, and was not there before. */
const isFresh = ({ target_url, before }: Pick<Session, 'target_url' | 'before'>, event: WebhookEvent, one: Known) =>
  one.event_type === event && isSameUrl(one.target_url, target_url) && !before.includes(one.id);

/** What an entry of the journal means: the one that it names, or all that a lost answer may have left. */
const meantBy = (session: Session, { event, id }: Session['made'][number], { known, taken }: Found): readonly Known[] =>
  known.filter((one) => {
    if (id === undefined) return isFresh(session, event, one) && !taken.includes(one.id);
    return one.id === id && one.event_type === event && one.target_url === session.target_url;
  });

/** What is there, and what living listeners call their own. */
type Found = { readonly known: readonly Known[]; readonly taken: readonly number[] };

async function removeAll(ids: readonly number[], service: Subscribing): Promise<number[]> {
  const left: number[] = [];
  for (const id of ids) {
    try {
      await service.delete(id);
    } catch (error) {
      // Gone already: somebody deleted it by hand, or the customer disconnected the app.
      if (!(error instanceof Failure && error.kind === 'not-found')) left.push(id);
    }
  }
  return left;
}

const idsIn = async (folder: string): Promise<number[]> =>
  (await readJournal(folder)).flatMap(({ made }) => made.flatMap(({ id }) => id ?? []));

async function readJournal(folder: string): Promise<readonly Session[]> {
  const text = await readIfThere(join(folder, journalFile));
  if (text === undefined) return [];
  try {
    const { sessions = [] }: { readonly sessions?: readonly Session[] } = JSON.parse(text);
    return sessions;
  } catch {
    throw new Failure('failed', `${join(folder, journalFile)} is damaged: it is no JSON.`, {
      hint: 'Look at what is left at the service, then delete the file: svc webhooks list',
    });
  }
}

async function writeJournal(folder: string, sessions: readonly Session[]): Promise<void> {
  const path = join(folder, journalFile);
  const kept = sessions.filter(({ made }) => made.length > 0);
  if (kept.length === 0) await removeFile(path);
  else await replaceFile(path, `${JSON.stringify({ sessions: kept }, undefined, 2)}\n`);
}

import { join } from 'node:path';
import { readIfThere, replaceFile } from '../../../disk/file/atomic-file.ts';
import { namesIn, removeFile } from '../../../disk/file/folder.ts';
import { randomName } from '../../../disk/file/random-name.ts';
import type { Held } from '../../../disk/lock/lock.ts';
import { Failure } from '../../../errors.ts';
import { fieldsIn, isText } from '../../../text/record.ts';
import { type Arrival, decodeLine, encodeLine, type Outcome } from '../line.ts';
import type { Inbox } from './inbox.ts';
import { takeInbox } from './lock.ts';

/**
 * Work for whoever has the inbox, from another process: a file each in the inbox's folder, gone once it is done. To do
 * it twice is to do it once, for the one who does it may die before the file is gone.
 */
export type InboxRequest =
  | { readonly kind: 'move'; readonly ids: readonly DeadId[]; readonly state: 'again' | 'dropped' }
  | { readonly kind: 'settle'; readonly replayed: readonly Replayed[] }
  | { readonly kind: 'add'; readonly arrivals: readonly Arrival[] };

/** Sent by hand to where it waited for, and taken there. */
export type Replayed = { readonly id: string; readonly outcome: Outcome };

/** For each id or arrival of the request, whether this request put it there: another one may have come first. */
export type Carried = readonly boolean[];

/** A dead letter: a delivery and the sink that did not take it. */
export type DeadId = { readonly id: string; readonly sink: string };

/** How often whoever has the inbox looks for requests. */
const lookMs = 250;
const patienceMs = 30_000;

/** Its name is that of older versions. */
const folderOf = (inbox: string): string => join(inbox, 'orders');

type Needs = {
  readonly folder: string;
  /** Where nobody has the inbox. */
  readonly alone: (request: InboxRequest, held: Held) => Promise<Carried>;
  readonly sleep: (ms: number) => Promise<void>;
};

/** Has a request carried out by whoever has the inbox, else here. An older svc that has it does not say what it did: undefined. */
export async function carryOut(request: InboxRequest, { folder, alone, sleep }: Needs): Promise<Carried | undefined> {
  const name = `${process.pid}-${Date.now()}-${randomName()}.json`;
  const path = join(folderOf(folder), name);
  await replaceFile(path, encodeRequest(request));
  for (let waited = 0; waited < patienceMs; waited += lookMs / 5) {
    const held = await takeInbox(folder);
    if (held) {
      try {
        return (await readIfThere(path)) === undefined ? await answerTo(path) : await alone(request, held);
      } finally {
        await removeFile(path);
        await held.release();
      }
    }
    await sleep(lookMs / 5);
    if ((await readIfThere(path)) === undefined) return answerTo(path);
  }
  await removeFile(path);
  throw new Failure('failed', `The svc that uses the inbox in ${folder} does not answer.`, {
    hint: 'It may stand still, or be an older version. Let it go on or end it, and try again.',
  });
}

const answerPath = (request: string): string => request.replace(/\.json$/u, '.done');

async function answerTo(request: string): Promise<Carried | undefined> {
  const answer = await readIfThere(answerPath(request));
  await removeFile(answerPath(request));
  const said: unknown = answer === undefined ? undefined : JSON.parse(answer);
  return Array.isArray(said) ? said.map((one) => one === true) : undefined;
}

/** What a request means in the file, where nobody forwards from it. */
export function inFile(inbox: Inbox, request: InboxRequest, now: Date): Promise<Carried> {
  if (request.kind === 'move') return move(inbox, request, now);
  return request.kind === 'settle' ? settleWaiting(inbox, request) : addAll(inbox, request);
}

/** What a move means in the file. */
async function move(
  { queues, settle }: Inbox,
  { ids, state }: Extract<InboxRequest, { kind: 'move' }>,
  now: Date,
): Promise<Carried> {
  const at = now.toISOString();
  return Promise.all(
    ids.map(async ({ id, sink }) => {
      if (!queues.isDead(sink, id)) return false;
      await settle(id, { to: sink, at, ms: 0, tries: 0, state });
      return true;
    }),
  );
}

/** What a replay means in the file: it ends only what nobody ended meanwhile. */
export async function settleWaiting(
  { queues, settle, waiting }: Pick<Inbox, 'queues' | 'settle' | 'waiting'>,
  { replayed }: Pick<Extract<InboxRequest, { kind: 'settle' }>, 'replayed'>,
): Promise<Carried> {
  const owed = new Set(waiting());
  return Promise.all(
    replayed.map(async ({ id, outcome }) => {
      const { to, state } = outcome;
      const isOpen = state === undefined ? owed.has(id) : queues.waits(to, id) || queues.isDead(to, id);
      if (isOpen) await settle(id, outcome);
      return isOpen;
    }),
  );
}

/** What an addition means in the file. */
const addAll = ({ add }: Inbox, { arrivals }: Extract<InboxRequest, { kind: 'add' }>): Promise<Carried> =>
  Promise.all(arrivals.map(async (arrival) => (await add(arrival)) === 'stored'));

/** Looks for requests for as long as the inbox is held. */
export function watchRequests(inbox: string, carry: (request: InboxRequest) => Promise<Carried>) {
  const folder = folderOf(inbox);
  let looking: Promise<void> | undefined;
  /** Carried out, but the answer could not be written. */
  const untold = new Map<string, Carried>();
  const look = async () => {
    for (const name of await namesIn(folder)) {
      const path = join(folder, name);
      if (isForgotten(name)) await removeFile(path);
      if (!/^\d.*\.json$/u.test(name)) continue;
      const request = decodeRequest(await readIfThere(path));
      const carried = untold.get(name) ?? (request && (await carry(request)));
      if (carried) {
        untold.set(name, carried);
        await replaceFile(answerPath(path), JSON.stringify(carried));
        untold.delete(name);
      }
      await removeFile(path);
    }
  };
  const timer = setInterval(() => {
    // One that fails is tried again at the next look.
    looking ??= look()
      .catch(() => {})
      .finally(() => {
        looking = undefined;
      });
  }, lookMs);
  timer.unref();
  return {
    async end(): Promise<void> {
      clearInterval(timer);
      await looking;
    },
  };
}

/** An answer to one who does not wait for it any more. */
function isForgotten(name: string): boolean {
  const [, at] = /^\d+-(\d+)-.*\.done$/u.exec(name) ?? [];
  return at !== undefined && Date.now() - Number(at) > 10 * patienceMs;
}

function encodeRequest(request: InboxRequest): string {
  if (request.kind !== 'add') return JSON.stringify(request);
  return JSON.stringify({
    kind: 'add',
    lines: request.arrivals.map((arrival) => encodeLine({ kind: 'arrival', arrival })),
  });
}

function decodeRequest(text: string | undefined): InboxRequest | undefined {
  try {
    const { kind, ids, state, lines, replayed } = fieldsIn(JSON.parse(text ?? 'null'));
    if (kind === 'settle' && Array.isArray(replayed)) {
      const decoded = replayed.map((one) => decodeLine(JSON.stringify(one)));
      return { kind, replayed: decoded.flatMap((line) => (line?.kind === 'outcome' ? [line] : [])) };
    }
    if (kind === 'add' && Array.isArray(lines)) {
      const decoded = lines.filter(isText).map(decodeLine);
      return { kind, arrivals: decoded.flatMap((line) => (line?.kind === 'arrival' ? [line.arrival] : [])) };
    }
    if (kind !== 'move' || !Array.isArray(ids) || (state !== 'again' && state !== 'dropped')) return undefined;
    const known = ids.map(fieldsIn).flatMap(({ id, sink }) => (isText(id) && isText(sink) ? [{ id, sink }] : []));
    return { kind, ids: known, state };
  } catch {
    return undefined;
  }
}

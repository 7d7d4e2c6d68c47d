import { join } from 'node:path';
import { namesIn } from '../../../disk/file/folder.ts';
import type { Held } from '../../../disk/lock/lock.ts';
import type { Login } from '../../../http/call/login-account.ts';
import type { Arrival, InboxLine } from '../line.ts';
import { type OnDamage, readInbox, refuseForeign } from './file.ts';
import { type Inbox, type InboxOptions, openInbox } from './inbox.ts';
import { removeInbox } from './known.ts';
import { holderOf, takeInbox } from './lock.ts';
import { ownerOf, setOwner, sharesOf, toldIn } from './owner.ts';

/**
 * Where a listener keeps what it must not lose: a folder of its own below the profile's, numbered from 1. A second
 * listener beside it gets the next number, so two never write one file. Whoever starts takes over the slots of its account that
 * nobody has any more: their deliveries move into its inbox, and their subscriptions are its to remove. A profile may be
 * logged in to another account later, whose app must not get them.
 */
export type Slot = {
  readonly folder: string;
  readonly inbox: Inbox;
  /** Folders of listeners that are gone, its own among them. */
  readonly inherited: readonly string[];
  /** The lock of the slot: to be asked before anything that belongs to whoever has it. */
  readonly held: Held;
  leave(): Promise<void>;
};

const startAgain =
  'What was accepted is in the inbox, if that is still there. Whoever has it now passes it on, else the next svc webhooks listen does.';

/** Below the state folder; the profile's name may hold anything. */
export const slotsFolder = (state: string, profile: string): string =>
  join(state, 'webhooks', `profile-${encodeURIComponent(profile)}`);

/** Every slot of the profile, free or not, lowest number first. */
export async function slots(root: string): Promise<string[]> {
  const names = (await namesIn(root)).filter((name) => /^\d+$/u.test(name));
  return names.sort((a, b) => Number(a) - Number(b)).map((name) => join(root, name));
}

type SlotOptions = Login & Pick<InboxOptions, 'limit' | 'onDamage'>;

export async function claimSlot(root: string, { limit, onDamage, ...login }: SlotOptions): Promise<Slot> {
  const { account } = login;
  if (account !== undefined) await sortOut(root);
  const taken = await freeSlots(root, login);
  const { folder, held } = taken[0];
  const release = async () => {
    for (const { held } of taken) await held.release();
  };
  try {
    if (account !== undefined) await setOwner(folder, account);
    const inbox = await openInbox(folder, { limit, held, onDamage });
    for (const slot of taken.slice(1)) await takeOver(slot, () => inbox, onDamage);
    return {
      folder,
      inbox,
      inherited: taken.map((slot) => slot.folder),
      held,
      leave: async () => {
        await inbox.close();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** The process that has the slot, if one does. */
export async function slotHolder(folder: string): Promise<number | undefined> {
  const isFree = await whileFree(folder, async () => {});
  return isFree ? undefined : ((await holderOf(folder)) ?? 0);
}

/** Does the work if nobody has the slot; says whether it was done. */
export async function whileFree(folder: string, work: (held: Held) => Promise<void>): Promise<boolean> {
  const held = await take(folder);
  if (!held) return false;
  await work(held).finally(() => held.release());
  return true;
}

type Taken = { readonly folder: string; readonly held: Held };

/** Every free slot of the login, or a new one. */
async function freeSlots(root: string, login: Login): Promise<readonly [Taken, ...Taken[]]> {
  const free: Taken[] = [];
  const takeOwn = async (folder: string) => {
    if (![undefined, login.account].includes(await ownerOf(folder))) return;
    const held = await take(folder);
    if (!held) return;
    // It may have become another's meanwhile, or whoever was to sort it out ended before that.
    const all = await sharesOf(await slots(root), login);
    if (all.some((share) => share.folder === folder && share.isOwn)) free.push({ folder, held });
    else await held.release();
  };
  for (const folder of await slots(root)) await takeOwn(folder);
  for (let number = 1; ; number++) {
    const [first, ...others] = free;
    if (first) return [first, ...others];
    await takeOwn(join(root, String(number)));
  }
}

/** What an older svc left says itself whose it is, or what was not told: deliveries of several accounts get a slot each. */
async function sortOut(root: string): Promise<void> {
  for (const folder of await slots(root)) {
    if ((await ownerOf(folder)) !== undefined) continue;
    await whileFree(folder, async (held) => {
      const { accounts, of } = await toldIn(folder);
      const [account, another] = accounts;
      if (another !== undefined) await split(root, { folder, held }, of);
      else if (account !== undefined) await setOwner(folder, account);
    });
  }
}

async function split(root: string, taken: Taken, accountOf: (arrival: Arrival) => number | undefined): Promise<void> {
  const own = new Map<number, Slot>();
  const where = new Map<string, Inbox>();
  const inboxOf = async (line: InboxLine) => {
    if (line.kind !== 'arrival') return line.kind === 'outcome' ? where.get(line.id) : undefined;
    const account = accountOf(line.arrival);
    if (account === undefined) return undefined;
    const slot = own.get(account) ?? (await claimSlot(root, { limit: Number.MAX_SAFE_INTEGER, account }));
    own.set(account, slot);
    where.set(line.arrival.id, slot.inbox);
    return slot.inbox;
  };
  try {
    await takeOver(taken, inboxOf);
  } finally {
    for (const slot of own.values()) await slot.leave();
  }
}

const take = (folder: string): Promise<Held | undefined> => takeInbox(folder, startAgain);

/** Its rejection is heard of later, by whoever waits for all of them. */
function awaited<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

async function takeOver(
  { folder, held }: Taken,
  inboxOf: (line: InboxLine) => Inbox | undefined | Promise<Inbox | undefined>,
  onDamage?: OnDamage,
): Promise<void> {
  await refuseForeign(folder);
  const adding = new Map<string, Promise<unknown>>();
  const settling: Promise<unknown>[] = [];
  const written = () => Promise.all([...adding.values(), ...settling]);
  for await (const line of readInbox(folder, onDamage)) {
    const inbox = await inboxOf(line);
    if (!inbox) continue;
    if (line.kind === 'arrival' && !inbox.has(line.arrival.id))
      adding.set(line.arrival.id, awaited(inbox.add(line.arrival)));
    if (line.kind === 'outcome') {
      // Behind its delivery, also where the inbox looks on the disk first whether it has that one.
      const added = adding.get(line.id) ?? Promise.resolve();
      settling.push(awaited(added.then(() => inbox.settle(line.id, line.outcome))));
    }
    if (adding.size + settling.length < 500) continue;
    await written();
    adding.clear();
    settling.length = 0;
  }
  await written();
  // Only now that everything is durable in its new place, and where nobody else took the slot meanwhile.
  held.check();
  await removeInbox(folder);
}

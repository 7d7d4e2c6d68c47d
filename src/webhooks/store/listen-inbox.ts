import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { loginAccount } from '../../http/login-account.ts';
import { counted, number } from '../../text/number.ts';
import { slots, slotsFolder, slotsOf } from './folder/slot.ts';
import { receivedIn } from './folder/view.ts';
import { forwardOf } from './forwarding.ts';
import { fileStarts, type StartStore } from './starts.ts';

/** The inbox of `listen`, as far as it is of the account of the login. */
export type ListenInbox = {
  readonly root: string;
  readonly account: number | undefined;
  readonly folders: readonly string[];
  /** What the profile received for others, before it was logged in to this account. */
  readonly others: readonly { readonly folder: string; readonly account: number }[];
  readonly starts: StartStore;
};

export async function listenInbox(ctx: Context, settings: Settings): Promise<ListenInbox> {
  const root = slotsFolder(ctx.files.state, settings.profile);
  // Where nothing is kept, nobody needs to be told apart.
  const account = (await slots(root)).length > 0 ? await loginAccount(ctx, settings) : undefined;
  const { mine, others } = await slotsOf(root, account);
  return {
    root,
    account,
    folders: mine,
    others,
    starts: startsFor(ctx, root, others.length > 0 ? account : undefined),
  };
}

/** Of several accounts each has its own. */
const startsFor = (ctx: Pick<Context, 'clock'>, root: string, account: number | undefined): StartStore =>
  fileStarts(root, ctx.clock, account === undefined ? undefined : String(account));

type Others = Pick<ListenInbox, 'account' | 'others'>;

/** Those that an app is still to get. */
export async function waitingIn(folders: readonly string[]): Promise<number> {
  const { seen } = await receivedIn(folders, ({ to, owed, sinks }) => ({ to, owed, sinks }), { isOpen: true });
  return seen.filter(({ value, outcomes }) => forwardOf(value, outcomes)?.state === 'waiting').length;
}

/** A sentence for each other account of which events are kept, with the way to them. */
export async function othersNotes({ account, others }: Others): Promise<string[]> {
  const notes: string[] = [];
  for (const other of new Set(others.map((one) => one.account))) {
    const folders = others.flatMap((one) => (one.account === other ? [one.folder] : []));
    const { seen } = await receivedIn(folders, () => true);
    if (seen.length === 0) continue;
    const waiting = await waitingIn(folders);
    const [are, them] = seen.length === 1 ? ['is', 'it'] : ['are', 'them'];
    const still = waiting > 0 ? ` (${number(waiting)} not forwarded yet)` : '';
    const why = account === undefined ? 'svc does not know whose this login is' : `this login is of account ${account}`;
    notes.push(
      `${counted(seen.length, 'event')} of account ${other}${still} ${are} left alone: ${why}. ` +
        `To get at ${them}, log this profile in to account ${other} again.`,
    );
  }
  return notes;
}

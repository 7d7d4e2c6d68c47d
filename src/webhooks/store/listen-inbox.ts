import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { type Login, loginAccount, loginOf } from '../../http/call/login-account.ts';
import { counted, number } from '../../text/number.ts';
import { ownerOf, type Share, sharesOf } from './folder/owner.ts';
import { slots, slotsFolder } from './folder/slot.ts';
import { type Part, receivedIn } from './folder/view.ts';
import { forwardOf } from './forwarding.ts';
import { fileStarts, type StartStore } from './starts.ts';

/** The inbox of `listen`, as far as it is of the account of the login. */
export type ListenInbox = {
  readonly root: string;
  readonly login: Login;
  readonly parts: readonly Part[];
  /** What the profile received for others, before it was logged in to this account. */
  readonly others: readonly Other[];
};

type Other = Part & { readonly whose: Share['other'] };

export async function listenInbox(ctx: Context, settings: Settings): Promise<ListenInbox> {
  const root = slotsFolder(ctx.files.state, settings.profile);
  // Where nothing is kept, nobody needs to be told apart.
  const login = (await slots(root)).length > 0 ? await loginOf(ctx, settings) : {};
  return inboxOf(root, login);
}

export async function inboxOf(root: string, login: Login): Promise<ListenInbox> {
  const shares = await sharesOf(await slots(root), login);
  return {
    root,
    login,
    parts: shares
      .filter(({ isForeign }) => !isForeign)
      .map(({ folder, other }) => ({ folder, has: (arrival) => other(arrival) === undefined })),
    others: shares
      .filter(({ isOwn }) => !isOwn)
      .map(({ folder, other }) => ({ folder, whose: other, has: (arrival) => other(arrival) !== undefined })),
  };
}

export const listenStarts = async (ctx: Context, settings: Settings): Promise<StartStore> =>
  startsFor(slotsFolder(ctx.files.state, settings.profile), ctx.clock, await loginAccount(ctx, settings));

/** Each account has its own. Those without one are from before that: of the account that received here first. */
export async function startsFor(
  root: string,
  clock: Context['clock'],
  account: number | undefined,
): Promise<StartStore> {
  if (account === undefined) return fileStarts(root, clock);
  const owners = await Promise.all((await slots(root)).map(ownerOf));
  const first = owners.find((owner) => owner !== undefined) ?? account;
  return fileStarts(root, clock, String(account), first === account);
}

/** How many are kept of each, and how many of them an app is still to get: in one look, for it takes its time. */
export async function keptIn(parts: readonly Other[]) {
  const all = new Map<number | undefined, { readonly kept: number; readonly waiting: number }>();
  for (const part of parts) {
    const { seen } = await receivedIn([part], (arrival) => {
      const { to, owed, sinks } = arrival;
      return { owing: { to, owed, sinks }, whose: part.whose(arrival) };
    });
    for (const { value, outcomes } of seen) {
      const { kept, waiting } = all.get(value.whose) ?? { kept: 0, waiting: 0 };
      const isWaiting = forwardOf(value.owing, outcomes)?.state === 'waiting';
      all.set(value.whose, { kept: kept + 1, waiting: waiting + (isWaiting ? 1 : 0) });
    }
  }
  return all;
}

/** A sentence for each other account of which events are kept, with the way to them. */
export async function othersNotes({ login: { account, unsure }, others }: Pick<ListenInbox, 'login' | 'others'>) {
  return [...(await keptIn(others))].map(([other, { kept, waiting }]) => {
    const [are, them] = kept === 1 ? ['is', 'it'] : ['are', 'them'];
    const still = waiting > 0 ? ` (${number(waiting)} not forwarded yet)` : '';
    const left = `${counted(kept, 'event')} of account ${other}${still} ${are} left alone: `;
    if (unsure) return `${left}${cannotAsk(unsure)}`;
    const why = account === undefined ? 'svc does not know whose this login is' : `this login is of account ${account}`;
    return `${left}${why}. To get at ${them}, log this profile in to account ${other} again, or use a key of it.`;
  });
}

const cannotAsk = ({ message }: Failure): string => `svc cannot ask now whose this login is. ${message}`;

/** Of what may be the login's own nobody can say now that it is not there. */
export const unsureOf = (unsure: Failure): Failure =>
  new Failure('network', `The inbox holds events of an account, and ${cannotAsk(unsure)}`, {
    hint: 'Run the same again when the service answers. svc then remembers whose a key is.',
    cause: unsure,
  });

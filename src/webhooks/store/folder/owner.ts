import { join } from 'node:path';
import { readIfThere, replaceFile } from '../../../disk/file/atomic-file.ts';
import type { Login } from '../../../http/call/login-account.ts';
import { jsonIn } from '../../../text/json.ts';
import { accountOf, envelopeIn } from '../../event/envelope.ts';
import type { Arrival } from '../line.ts';
import { readInbox } from './file.ts';

const fileName = 'account.json';

/** The account that a slot's deliveries are of; undefined where no listener's login has told it. */
export async function ownerOf(folder: string): Promise<number | undefined> {
  return accountOf({ data: jsonIn((await readIfThere(join(folder, fileName))) ?? '') });
}

export const setOwner = (folder: string, account: number): Promise<void> =>
  replaceFile(join(folder, fileName), `${JSON.stringify({ account_id: account })}\n`);

/** Four of the six events tell it. */
const accountIn = ({ body }: Pick<Arrival, 'body'>): number | undefined => accountOf(envelopeIn(body) ?? {});

type Told = Pick<Arrival, 'id' | 'body'>;

type Owning = Awaited<ReturnType<typeof toldIn>>;

/**
 * Whose events a slot holds, by what they tell: every account in it, the first one first. One that does not tell its
 * account is of that of the one before it.
 */
export async function toldIn(folder: string) {
  const accounts = new Set<number>();
  const silent = new Map<string, number | undefined>();
  let last: number | undefined;
  for await (const line of readInbox(folder)) {
    if (line.kind !== 'arrival') continue;
    const told = accountIn(line.arrival);
    last = told ?? last;
    if (told === undefined) silent.set(line.arrival.id, last);
    else accounts.add(told);
  }
  const [first] = accounts;
  return {
    accounts: [...accounts],
    /** Undefined where no event in the slot tells an account. */
    of: (arrival: Told) => (silent.has(arrival.id) ? (silent.get(arrival.id) ?? first) : (accountIn(arrival) ?? last)),
  };
}

/** A slot as a login sees it. */
export type Share = {
  readonly folder: string;
  /** A listener of another account has claimed it. */
  readonly isForeign: boolean;
  /** Nothing in it is of anybody else, and a listener of the login may have it. */
  readonly isOwn: boolean;
  /** Whose an event is that is not the login's; undefined for its own. */
  readonly other: (arrival: Told) => number | undefined;
};

/**
 * What no listener's login has claimed goes by what the events tell, and is left as it is: whoever reads takes nothing away. Where
 * nothing can tell the account of the login, what may be another's is not its own, unless all that is there is of one.
 */
export async function sharesOf(folders: readonly string[], { account, unsure }: Login): Promise<readonly Share[]> {
  const isAnybody = account === undefined && !unsure;
  const slots: { folder: string; owner: number | undefined; owning: Owning }[] = [];
  for (const folder of folders) {
    const owner = await ownerOf(folder);
    const nobodys: Owning = { accounts: [], of: () => undefined };
    const owned = owner === undefined ? undefined : { accounts: [owner], of: () => owner };
    slots.push({ folder, owner, owning: owned ?? (isAnybody ? nobodys : await toldIn(folder)) });
  }
  const isOfOne = unsure !== undefined && new Set(slots.flatMap(({ owning }) => owning.accounts)).size <= 1;
  return slots.map(({ folder, owner, owning: { accounts, of } }) => {
    const isForeign = owner !== undefined && owner !== account;
    if (owner === undefined && isOfOne) return { folder, isForeign, isOwn: true, other: () => undefined };
    const other = (arrival: Told) => {
      const whose = of(arrival);
      return whose === account ? undefined : whose;
    };
    return { folder, isForeign, isOwn: accounts.every((each) => each === account), other };
  });
}

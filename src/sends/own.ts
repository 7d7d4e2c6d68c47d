import { getAccount } from '../api/account.ts';
import { Failure } from '../errors.ts';
import type { Service } from '../http/call/call.ts';
import { accountOf } from '../http/send/reaching.ts';
import { insteadOf } from '../promise/instead-of.ts';
import { once } from '../promise/once.ts';
import type { Draft } from './draft.ts';
import type { DraftStore } from './store.ts';

type Owner = { readonly baseUrl: string; readonly account: number | undefined };

/** The drafts of one login. One place may hold those of several accounts, and a record's id means another one in each. */
export type OwnDrafts = DraftStore & {
  /** How many such are of other accounts. */
  others(isWanted: (draft: Draft) => boolean): Promise<number>;
  /** Throws where nobody can say whose drafts those of this login are. */
  requireOwner(): Promise<void>;
};

/**
 * Lists those of this login's account alone, and touches no other. Without a login, or where it cannot be asked whose it
 * is, what it would see is decided by the address.
 */
export function ownDrafts(store: DraftStore, service: () => Promise<Service>): OwnDrafts {
  const owner = once(() => ownerOf(service));
  const known = new Set<number>();
  const isOwn = async (draft: Draft): Promise<boolean> => {
    const is = known.has(draft.id) || isOf(draft, await owner());
    if (is) known.add(draft.id);
    return is;
  };
  const get = async (id: number) => {
    const draft = await store.get(id);
    if (draft && !(await isOwn(draft))) throw otherFailure(draft, await owner());
    return draft;
  };
  const list = async () => {
    const all = await store.list();
    const own = await Promise.all(all.map(isOwn));
    return all.filter((_, at) => own[at]);
  };
  return {
    ...store,
    get,
    list,
    others: async (isWanted) => (await store.list()).filter(isWanted).length - (await list()).filter(isWanted).length,
    async requireOwner() {
      const opened = await service();
      if ((await accountOf(opened)) !== undefined) return;
      // Asked once more for the words of the refusal.
      await opened.read(opened, getAccount, {});
      throw new Failure('failed', 'The service does not say which account this login is for.');
    },
    async change(id, change) {
      if (!known.has(id)) await get(id);
      return store.change(id, change);
    },
  };
}

async function ownerOf(service: () => Promise<Service>): Promise<Owner | undefined> {
  const opened = await service().catch(insteadOf('any', undefined));
  const account = opened && (await accountOf(opened).catch(insteadOf('any', undefined)));
  return opened && { baseUrl: opened.session.baseUrl, account };
}

const isOf = ({ base_url: url, account }: Draft, owner: Owner | undefined): boolean =>
  owner === undefined ||
  (url === owner.baseUrl && (account === null || owner.account === undefined || account === owner.account));

function otherFailure({ id, base_url: url, account }: Draft, owner: Owner | undefined): Failure {
  const isElsewhere = url !== owner?.baseUrl;
  const whose = isElsewhere ? url : `account ${account}`;
  const own = isElsewhere ? owner?.baseUrl : `account ${owner.account}`;
  return new Failure('usage', `Draft ${id} is for ${whose}, and this login is for ${own}. Nothing was sent.`, {
    hint: `Choose the login of that ${isElsewhere ? 'service' : 'account'} with --profile.`,
  });
}

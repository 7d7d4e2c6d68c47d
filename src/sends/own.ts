import { getAccount } from '../api/account.ts';
import { Failure, isInterruption } from '../errors.ts';
import type { Service } from '../http/call/call.ts';
import { accountOf, loginOf } from '../http/send/reaching.ts';
import { insteadOf } from '../promise/instead-of.ts';
import { counted } from '../text/number.ts';
import type { Draft } from './draft.ts';
import type { DraftStore } from './store.ts';

/** Who looks at drafts. `login`: a digest of the credential. `failure`: why the service did not say the account. */
type Owner = {
  readonly baseUrl: string;
  readonly account: number | undefined;
  readonly failure: Failure | undefined;
  readonly login: string | undefined;
};

/** The account where it is known without asking the service. */
type Known = () => Promise<number | undefined>;

/** The drafts of one login. One place may hold those of several accounts, and a record's id means another one in each. */
export type OwnDrafts = DraftStore & {
  /** What to say of such that it does not list: how many there are, and how to see them. */
  leftOut(isWanted: (draft: Draft) => boolean): Promise<readonly string[]>;
  /** Throws where nobody can say whose drafts those of this login are. */
  requireOwner(): Promise<void>;
};

/**
 * Lists those that are surely of this login's account, and touches no other. Without a login all are listed; none is sent.
 */
export function ownDrafts(store: DraftStore, service: () => Promise<Service>, account?: Known): OwnDrafts {
  const known = new Set<number>();
  let present: Promise<Owner> | undefined;
  const owner = async (): Promise<Owner | undefined> => {
    // A login that cannot be opened is somebody's: only without one are all drafts everybody's.
    const opened = await service().catch(insteadOf(['auth'], undefined));
    if (opened) present ??= ownerOf(opened, account);
    return present;
  };
  const listed = async () => {
    const [all, present] = [await store.list(), await owner()];
    return all.map((draft) => ({ draft, whose: whoseIs(draft, present) }));
  };
  const get = async (id: number) => {
    const draft = await store.get(id);
    if (!draft || known.has(id)) return draft;
    refuseOther(draft, await owner());
    known.add(id);
    return draft;
  };
  const list = async () => {
    const all = await listed();
    const own = all.flatMap(({ draft, whose }) => (whose === 'own' ? draft : []));
    const failure = (await owner())?.failure;
    // An empty list would say that there are none.
    if (failure && own.length === 0 && all.some(({ whose }) => whose === 'unsure')) throw failure;
    for (const { id } of own) known.add(id);
    return own;
  };
  const why = async () => (await owner())?.failure?.message ?? unsureHint;
  return {
    ...store,
    get,
    list,
    async leftOut(isWanted) {
      const wanted = (await listed()).filter(({ draft }) => isWanted(draft));
      const count = (which: Whose) => wanted.filter(({ whose }) => whose === which).length;
      const [others, unsure] = [count('other'), count('unsure')];
      return [
        ...(others > 0 ? [`${counted(others, 'draft')} of other accounts: choose their login with --profile.`] : []),
        ...(unsure > 0 ? [`${counted(unsure, 'draft')} may be of another account. ${await why()}`] : []),
      ];
    },
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

/** Throws where a draft is not surely of this login's account. */
export const requireOwn = async (draft: Draft, service: Service): Promise<void> =>
  refuseOther(draft, await ownerOf(service));

async function ownerOf(service: Service, known?: Known): Promise<Owner> {
  const { baseUrl } = service.session;
  const login = await loginOf(service);
  try {
    return { baseUrl, account: (await known?.()) ?? (await accountOf(service)), failure: undefined, login };
  } catch (error) {
    if (!(error instanceof Failure) || isInterruption(error) || error.kind === 'auth') throw error;
    return { baseUrl, account: undefined, failure: error, login };
  }
}

type Whose = 'own' | 'other' | 'unsure';

/** Of two accounts of which one is not known only the very same credential tells that they are one. */
function whoseIs({ base_url: url, account, login }: Draft, owner: Owner | undefined): Whose {
  if (!owner) return 'own';
  if (url !== owner.baseUrl) return 'other';
  if (account !== null && owner.account !== undefined) return account === owner.account ? 'own' : 'other';
  return login && login === owner.login ? 'own' : 'unsure';
}

const unsureHint =
  'svc needs the login that made it, or that both say their account, for which a token needs the scope identity.';

function refuseOther(draft: Draft, owner: Owner | undefined): void {
  const { id, base_url: url, account } = draft;
  const whose = whoseIs(draft, owner);
  if (!owner || whose === 'own') return;
  if (whose === 'unsure' && account !== null && owner.failure) throw owner.failure;
  if (whose === 'unsure')
    throw new Failure('usage', `Draft ${id} may be of another account than this login. Nothing was sent.`, {
      hint: unsureHint,
    });
  const isElsewhere = url !== owner.baseUrl;
  const theirs = isElsewhere ? url : `account ${account}`;
  const ours = isElsewhere ? owner.baseUrl : `account ${owner.account}`;
  throw new Failure('usage', `Draft ${id} is for ${theirs}, and this login is for ${ours}. Nothing was sent.`, {
    hint: `Choose the login of that ${isElsewhere ? 'service' : 'account'} with --profile.`,
  });
}

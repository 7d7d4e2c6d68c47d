import { join } from 'node:path';
import { credentialsAtHand, notLoggedIn } from '../../auth/at-hand.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { isThere } from '../../disk/file/atomic-file.ts';
import { namesIn } from '../../disk/file/folder.ts';
import { resolvedFile, warnOfOthers } from '../../disk/place/private-data.ts';
import { Failure } from '../../errors.ts';
import type { Service } from '../../http/call/call.ts';
import { type Account, type Store, shortNameOf } from '../tables/store.ts';
import {
  accountByAsking,
  accountOfProfile,
  accountsIn,
  holds,
  isOfAnother,
  knownAccount,
  rememberAccount,
  requireHeld,
  requirePulled,
  whichAccount,
} from './account.ts';
import { copyName, isCopyName } from './copy-name.ts';
import { closingOnFailure, holdsNothing, isOwnPlace, noCopy, openStore, placeOfCopy } from './place.ts';

/** The database, and whose records of it are meant. */
export type Copy = { readonly store: Store; readonly account: Account };

type CopyWanted = { readonly db?: string; readonly service?: Service };

/** For a pull: makes the database where there is none. In the state folder each account has a file of its own. */
export async function openCopyToPull(ctx: Context, settings: Settings, asked: CopyWanted): Promise<Copy> {
  const copy = await openOrMake(ctx, settings, asked);
  if (copy.store.engine === 'sqlite') await warnOfOthers(copy.store.place, ctx.notice);
  return copy;
}

async function openOrMake(ctx: Context, settings: Settings, { db, service }: CopyWanted): Promise<Copy> {
  const present = await openCopyIfKnown(ctx, settings, db);
  if (present) return remembered(ctx, settings, present);
  const account = (await accountOfProfile(ctx, settings)) ?? (await accountByAsking(ctx, settings, service));
  const { maxWaitMs } = settings;
  if (!isOwnPlace(ctx, db)) {
    const place = await placeOfCopy(ctx, db);
    const store = await openStore(ctx, { place, isOwn: false, make: true, maxWaitMs });
    return remembered(ctx, settings, { store, account });
  }
  const [first, own] = [join(ctx.files.state, copyName), fileOf(ctx, account)];
  if (await isThere(own)) return remembered(ctx, settings, { store: await openOwn(ctx, settings, own), account });
  try {
    return await remembered(ctx, settings, { store: await openOwn(ctx, settings, first), account });
  } catch (error) {
    if (!isOfAnother(error)) throw error;
    return remembered(ctx, settings, { store: await openOwn(ctx, settings, own), account });
  }
}

/**
 * The copy that is there. A login that no pull was made with yet costs a request, the account's.
 *
 * @throws Failure where there is none of this account; `usage` where the file is another account's.
 */
export async function openCopy(ctx: Context, settings: Settings, { db }: CopyWanted): Promise<Copy> {
  const place = await placeOfCopy(ctx, db);
  const isOwn = isOwnPlace(ctx, db);
  const known = await openCopyIfKnown(ctx, settings, db);
  if (known) return pulled(known);
  if (isOwn && (await ownFiles(ctx)).length === 0) throw noCopy(place);
  if (!isOwn) {
    const store = await openThere(ctx, settings, { place, isOwn });
    return closingOnFailure(store, async () => {
      const account = (await knownAccount(ctx, settings, store)) ?? (await accountByAsking(ctx, settings));
      await requireHeld(store, account);
      await requirePulled(store, account);
      await rememberAccount(ctx, settings, store, account);
      return { store, account };
    });
  }
  const account = await accountByAsking(ctx, settings);
  for (const file of await ownFiles(ctx, account)) {
    const store = await openOwn(ctx, settings, file);
    if (await closingOnFailure(store, () => holds(store, account)))
      return pulled(await remembered(ctx, settings, { store, account }));
    await store.close();
  }
  throw noCopy(place);
}

/**
 * As `openCopyIfKnown`; where there is none, that is an error. `needsLogin`: the lack of a login is the first thing to tell.
 *
 * @throws Failure `auth` without a login, for then nothing could be pulled; `usage` where the file is another account's
 */
export async function openCopyPulled(
  ctx: Context,
  settings: Settings,
  { db, needsLogin = true }: { readonly db?: string; readonly needsLogin?: boolean } = {},
): Promise<Copy> {
  const copy = await openCopyIfKnown(ctx, settings, db);
  if (copy) return pulled(copy);
  if (needsLogin && (await credentialsAtHand(ctx, settings)).length === 0) throw await notLoggedIn(ctx, settings);
  const place = await placeOfCopy(ctx, db);
  const own = await accountOfProfile(ctx, settings);
  if (own && !isOwnPlace(ctx, db) && !(await holdsNothing(place))) {
    const store = await openThere(ctx, settings, { place, isOwn: false });
    await requireHeld(store, own).finally(() => store.close());
  }
  throw noCopy(place);
}

/**
 * The one copy that is there, for whoever is not logged in: whose it is, it says itself. A damaged one cannot, but counts.
 *
 * @throws Failure `usage` where there are several, with their names
 */
export async function openOnlyCopy(ctx: Context, settings: Settings, db: string | undefined): Promise<Copy> {
  const [isOwn, place] = [isOwnPlace(ctx, db), await placeOfCopy(ctx, db)];
  const open = (file: string) => openThere(ctx, settings, { place: file, isOwn });
  const found: { readonly file: string; readonly account: Account | Failure }[] = [];
  for (const file of isOwn ? await ownFiles(ctx) : [place]) {
    try {
      const store = await open(file);
      const accounts = await accountsIn(store).finally(() => store.close());
      found.push(...accounts.map((account) => ({ file, account })));
    } catch (error) {
      if (!(error instanceof Failure) || error.copy?.is !== 'damaged') throw error;
      found.push({ file, account: error });
    }
  }
  const [one, ...others] = found;
  if (!one) throw noCopy(place);
  if (others.length === 0) {
    if (one.account instanceof Failure) throw one.account;
    return { store: await open(one.file), account: one.account };
  }
  const named = found.map(({ file, account }) =>
    account instanceof Failure ? `${file} is damaged` : `${file} is of ${account.name ?? `account ${account.id}`}`,
  );
  throw new Failure(
    'usage',
    `There is more than one copy, and no login that says which is meant: ${named.join(', ')}.`,
    {
      hint: isOwn ? 'Name one of the files with --db.' : 'Log in to the account whose copy is meant.',
    },
  );
}

/** The copy that is there, without a request; undefined where this login has none. */
export async function openCopyIfKnown(ctx: Context, settings: Settings, db?: string): Promise<Copy | undefined> {
  const isOwn = isOwnPlace(ctx, db);
  const places = isOwn ? await ownFiles(ctx, await accountOfProfile(ctx, settings)) : [await placeOfCopy(ctx, db)];
  if (isOwn && settings.baseUrl === undefined && places.length > 1) throw whichAccount();
  for (const place of places) {
    if (await holdsNothing(place)) continue;
    const store = await openThere(ctx, settings, { place, isOwn });
    const account = await closingOnFailure(store, async () => {
      const known = await knownAccount(ctx, settings, store);
      return known && (await holds(store, known)) ? known : undefined;
    });
    if (account) return { store, account };
    await store.close();
  }
  return undefined;
}

const openThere = (
  ctx: Context,
  { maxWaitMs }: Settings,
  { place, isOwn }: { readonly place: string; readonly isOwn: boolean },
): Promise<Store> => openStore(ctx, { place, isOwn, make: false, maxWaitMs });

const openOwn = (ctx: Context, { maxWaitMs }: Settings, place: string): Promise<Store> =>
  openStore(ctx, { place, isOwn: true, make: true, maxWaitMs });

const remembered = (ctx: Context, settings: Settings, copy: Copy): Promise<Copy> =>
  closingOnFailure(copy.store, () => rememberAccount(ctx, settings, copy.store, copy.account).then(() => copy));

const pulled = (copy: Copy): Promise<Copy> =>
  closingOnFailure(copy.store, () => requirePulled(copy.store, copy.account).then(() => copy));

const fileOf = ({ files }: Pick<Context, 'files'>, account: Account): string =>
  join(files.state, `mirror-${shortNameOf(account)}.db`);

/** Whether a damaged copy, which cannot say whose it is, can only be that of this login. */
export async function isSurelyOwn(ctx: Context, settings: Settings, file: string): Promise<boolean> {
  if (!isOwnPlace(ctx, undefined)) return true;
  const [account, files] = [await accountOfProfile(ctx, settings), await ownFiles(ctx)];
  if (files.length === 1 && files[0] === join(ctx.files.state, copyName)) return true;
  return account !== undefined && file === (await resolvedFile(fileOf(ctx, account)));
}

/** The copies in the state folder; of a known account only those that can hold it. */
async function ownFiles(ctx: Context, account?: Account): Promise<string[]> {
  const names = await namesIn(ctx.files.state);
  const all = names.filter(isCopyName);
  const files = all.map((name) => join(ctx.files.state, name)).sort((a, b) => a.length - b.length);
  if (!account) return files;
  const own = fileOf(ctx, account);
  return files.includes(own) ? [own] : files.slice(0, 1);
}

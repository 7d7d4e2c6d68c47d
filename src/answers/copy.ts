import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { ageOf } from '../mirror/query/age.ts';
import { copyState, gapsIn } from '../mirror/query/as-of.ts';
import { openCopyPulled } from '../mirror/store/open-copy.ts';
import { type KindName, kindNames } from '../mirror/tables/kinds.ts';
import type { Account, Sql } from '../mirror/tables/store.ts';

/** `kinds`: those that the answer is made of. */
type Asked = { readonly db?: string | undefined; readonly kinds?: readonly KindName[] };

/** What the copy says at one moment, and for people how old and how whole it is. */
export type Told<T> = { readonly value: T; readonly notes: readonly string[] };

/**
 * Asks the copy that is there. Nothing is sent.
 *
 * @throws Failure `failed` where this login has no copy, with the command that makes one
 */
export async function askCopy<T>(
  ctx: Context,
  settings: Settings,
  { db, kinds = kindNames }: Asked,
  work: (sql: Sql, account: Account) => Promise<T>,
): Promise<Told<T>> {
  const { store, account } = await openCopyPulled(ctx, settings, { db });
  const told = store.read(async (sql) => {
    const notes = await notesOn(sql, account, kinds, ctx.clock.now());
    const [, ...gaps] = notes;
    // What the copy does not have may be in what was not read.
    const value = await work(sql, account).catch((error: unknown) => {
      if (error instanceof Failure && error.kind === 'not-found') for (const gap of gaps) ctx.notice(gap);
      throw error;
    });
    return { notes, value };
  });
  return told.finally(() => store.close());
}

/** For people: how old the copy is, and of what it is not whole. */
export async function notesOn(sql: Sql, account: Account, kinds: readonly KindName[], now: Date): Promise<string[]> {
  const { as_of: asOf, ...rest } = await copyState(sql, account, kinds);
  return [
    `From the local copy${asOf === null ? '' : `, ${ageOf(asOf, now)} old`}. To bring it up to date: svc mirror pull`,
    ...gapsIn(rest),
  ];
}

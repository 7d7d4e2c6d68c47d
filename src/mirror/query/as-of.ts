import { asOfState, isKindWhole, readState } from '../store/state.ts';
import type { KindName } from '../tables/kinds.ts';
import type { Account, Sql } from '../tables/store.ts';

export type CopyState = Awaited<ReturnType<typeof copyState>>;

/** What an answer may lack, in sentences. */
export const gapsIn = ({ not_whole: partial, refused }: Omit<CopyState, 'as_of'>): string[] => [
  ...(partial.length > 0
    ? [`The copy is not whole, so records may be missing: ${partial.join(', ')}. To read the rest: svc mirror pull`]
    : []),
  ...(refused.length > 0
    ? [`The service refuses this login, so what is new of them is missing: ${refused.join(', ')}.`]
    : []),
];

/** What an answer out of the copy can know. It goes along with what is handed on, for nobody who reads that sees svc's notes. */
export async function copyState(sql: Sql, account: Account, kinds: readonly KindName[]) {
  /** The kinds of which records may be missing. */
  const not_whole: KindName[] = [];
  /** The kinds that the service refuses this login. */
  const refused: KindName[] = [];
  const times: string[] = [];
  for (const kind of kinds) {
    const state = await readState(sql, account, kind);
    if (state.isRefused) refused.push(kind);
    else if (!isKindWhole(state)) not_whole.push(kind);
    const asOf = asOfState(state);
    if (asOf !== null) times.push(asOf);
  }
  /** ISO 8601: all that happened until then is in it; null where no reading was finished. */
  const [as_of = null] = times.sort((a, b) => Date.parse(a) - Date.parse(b));
  return { as_of, not_whole, refused };
}

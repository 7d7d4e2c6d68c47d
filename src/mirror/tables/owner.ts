import type { Account } from './store.ts';

/** The rows of one account; every statement on records begins with these parameters. */
export const owned = 'service = $1 AND account_id = $2';

export const ownerOf = ({ service, id }: Account): readonly [string, string] => [service, id];

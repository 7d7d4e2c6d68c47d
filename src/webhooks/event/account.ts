/**
 * What one of several accounts has in a shared inbox begins with the account's name: its deliveries, what they tell of, and
 * the queues of the sinks. So nothing of two accounts ever meets. An account's name holds no `/`, nor does a sink's.
 */
export const ownedBy = (account: string | undefined, name: string): string =>
  account === undefined ? name : `${account}/${name}`;

/** The id of an event in an inbox that may be of several accounts: one without an account that looks as theirs is told from them. */
export const idInInbox = (account: string | undefined, id: string): string =>
  account === undefined && /^[\w-]+\//u.test(id) ? `./${id}` : ownedBy(account, id);

/** The sink of a queue, and whose queue it is. */
export function queueParts(queue: string): { readonly account: string | undefined; readonly sink: string } {
  const at = queue.indexOf('/');
  return at < 0 ? { account: undefined, sink: queue } : { account: queue.slice(0, at), sink: queue.slice(at + 1) };
}

type Owned = { readonly id: string; readonly account?: string; readonly happening?: string | null };

/** The id as the account's own service gave it. */
const idWithin = ({ id, account }: { readonly id: string; readonly account?: string }): string =>
  account === undefined ? id : id.slice(account.length + 1);

/**
 * Those that somebody means who typed an id or its beginning, with the account or without it: where it is a whole id, that
 * one alone.
 */
export function meantBy<T extends Owned>(typed: string, all: readonly T[]): readonly T[] {
  const whole = all.filter(({ id }) => id === typed);
  if (whole.length > 0) return whole;
  const own = all.filter((one) => isWholly(typed, one));
  return own.length > 0 ? own : all.filter((one) => mayMean(typed, one));
}

/** Whether its id begins so, with the account or without it. */
export const mayMean = (typed: string, one: Owned): boolean =>
  one.id.startsWith(typed) || idWithin(one).startsWith(typed);

/** Whether it is the whole of an id, with the account or without it. */
export const isWholly = (typed: string, one: Owned): boolean => one.id === typed || idWithin(one) === typed;

/** It becomes part of ids, metrics and subjects. */
export const accountName = /^[A-Za-z0-9][\w-]{0,62}$/u;

/** A delivery as the account's, in an inbox of several. */
export function ofAccount<T extends Owned>(account: string | undefined, arrival: T): T {
  if (account === undefined) return arrival;
  const { id, happening } = arrival;
  const told = typeof happening === 'string' ? ownedBy(account, happening) : happening;
  return { ...arrival, account, id: ownedBy(account, id), ...(told !== undefined && { happening: told }) };
}

/** The same the other way round: as its own service knows it. */
export function withoutAccount<T extends Owned>(arrival: T): T {
  const { account, happening } = arrival;
  if (account === undefined) return arrival;
  const told = typeof happening === 'string' ? happening.slice(account.length + 1) : happening;
  return { ...arrival, account: undefined, id: idWithin(arrival), ...(told !== undefined && { happening: told }) };
}

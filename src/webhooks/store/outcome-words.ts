import { ownOf } from '../../text/record.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { Outcome } from './line.ts';

/** How a request was lost, for people; any other reason is a sentence already. */
const losses: Readonly<Record<string, string>> = {
  refused: 'connection refused',
  dns: 'no such host name',
  timeout: 'no answer in time',
  tls: 'no secure connection',
  reset: 'the connection broke',
  proxy: 'refused by the proxy',
};

export const lossInWords = (error: string): string => ownOf(losses, error) ?? sanitize(error);

/** What people did with it, or a filter: nothing was sent then. */
const unsent: Partial<Record<NonNullable<Outcome['state']>, string>> = {
  again: 'to be sent again',
  dropped: 'given up',
  skipped: 'not wanted by its filter',
};

/** A sink that is no URL takes what it is given without a status. */
export const taken = 'delivered';

/** What became of passing a delivery on: the answer, or why there is none, and how long it took. */
export function outcomeInWords({ status, error, ms, tries, state, skipped }: Outcome): string {
  const word = unsent[skipped ? 'skipped' : (state ?? 'delivered')];
  if (word !== undefined) return word;
  const answer = status ?? (error === undefined ? taken : lossInWords(error));
  return `${answer} in ${ms} ms${tries > 1 ? `, try ${tries}` : ''}`;
}

/** What becomes of a delivery that cannot be read any more. */
export const damagedOutcome = {
  state: 'dead',
  error: 'its line in the inbox is damaged, and what it held is lost',
  ms: 0,
} as const;

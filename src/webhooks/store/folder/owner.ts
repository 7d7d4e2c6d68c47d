import { join } from 'node:path';
import { readIfThere, replaceFile } from '../../../disk/atomic-file.ts';
import { jsonIn } from '../../../text/json.ts';
import { accountOf, envelopeIn } from '../../event/envelope.ts';
import type { Arrival } from '../line.ts';
import { readInbox } from './file.ts';

const fileName = 'account.json';

/** The account that a slot's deliveries are of; undefined where no login has told it. */
export async function ownerOf(folder: string): Promise<number | undefined> {
  return accountOf({ data: jsonIn((await readIfThere(join(folder, fileName))) ?? '') });
}

export const setOwner = (folder: string, account: number): Promise<void> =>
  replaceFile(join(folder, fileName), `${JSON.stringify({ account_id: account })}\n`);

/** Four of the six events tell it. */
export const accountIn = ({ body }: Pick<Arrival, 'body'>): number | undefined => accountOf(envelopeIn(body) ?? {});

/** Every account that an event in the slot tells, the first one first. */
export async function accountsIn(folder: string): Promise<readonly number[]> {
  const all = new Set<number>();
  for await (const line of readInbox(folder)) {
    const account = line.kind === 'arrival' ? accountIn(line.arrival) : undefined;
    if (account !== undefined) all.add(account);
  }
  return [...all];
}

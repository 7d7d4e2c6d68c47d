import { openJq } from '../../output/jq-thread.ts';
import { oneByOne } from '../../promise/one-by-one.ts';
import { envelopeIn } from '../event/envelope.ts';
import type { Arrival } from '../store/line.ts';

/** `undecided`: it took too long, or jq broke; that says nothing about the event, and may end otherwise next time. */
type Verdict = 'wanted' | 'unwanted' | { readonly undecided: string };

/** Whether an event is wanted, by its envelope. Never rejects. */
export type Filter = (event: Pick<Arrival, 'id' | 'body' | 'account'>) => Promise<Verdict>;

/** When a filter must have decided: with the grace that it has once it is told to end, a second. */
const inASecond = (_id: string): AbortSignal => AbortSignal.timeout(700);

/**
 * jq over the envelope. The single output `true` is a yes; an error counts as a no and is told.
 * Each filter has a thread of its own, so that a slow one holds up nobody else's.
 */
export function createFilter(program: string, tell: (text: string) => void, limit = inASecond): Filter {
  const ask = openJq();
  const inTurn = oneByOne();
  const judge: Filter = async ({ id, body, account }) => {
    const json = jsonOf(body, account);
    const answer = await ask({ json, program: ` ${program}` }, () => limit(id));
    if (answer === undefined) return { undecided: 'the filter took more than a second' };
    if ('text' in answer) return answer.text.trim() === 'true' ? 'wanted' : 'unwanted';
    if (answer.isBroken) return { undecided: `the filter broke: ${firstLine(answer.said)}` };
    tell(`The filter failed for ${id}, which counts as false: ${firstLine(answer.said)}`);
    return 'unwanted';
  };
  // One at a time: what is ended for one that hangs must not be another's.
  return (event) => inTurn(() => judge(event));
}

/** The envelope, with the account that it came in for, whatever it says itself; of what is no envelope the account alone. */
function jsonOf(body: Uint8Array, account: string | undefined): string {
  if (account === undefined) return Buffer.from(body).toString('utf8');
  return JSON.stringify({ ...envelopeIn(body), account });
}

const firstLine = (text: string): string => text.split('\n')[0] ?? '';

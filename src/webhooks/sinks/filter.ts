import { openJq } from '../../output/jq-thread.ts';

/** Whether an event's envelope passes. Never rejects. */
export type Filter = (id: string, body: Uint8Array) => Promise<boolean>;

/** With the grace that a filter has once it is told to end, a second. */
const patienceMs = 700;

/**
 * jq over the envelope. The single output `true` passes; an error, or more than a second, counts as false and is told.
 * Each filter has a thread of its own, so that a slow one holds up nobody else's.
 */
export function createFilter(program: string, tell: (text: string) => void): Filter {
  const ask = openJq();
  let last: Promise<unknown> = Promise.resolve();
  const judge = async (id: string, body: Uint8Array): Promise<boolean> => {
    const json = Buffer.from(body).toString('utf8');
    const answer = await ask({ json, program: ` ${program}` }, AbortSignal.timeout(patienceMs));
    if (answer === undefined) tell(`The filter took more than a second for ${id}, which counts as false: ${program}`);
    else if ('said' in answer) tell(`The filter failed for ${id}, which counts as false: ${firstLine(answer.said)}`);
    else return answer.text.trim() === 'true';
    return false;
  };
  return (id, body) => {
    // One at a time: what is ended for one that hangs must not be another's.
    const judged = last.then(() => judge(id, body));
    last = judged;
    return judged;
  };
}

const firstLine = (text: string): string => text.split('\n')[0] ?? '';

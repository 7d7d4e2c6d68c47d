import { Worker } from 'node:worker_threads';
import { startThread } from '../disk/place/working-folder.ts';
import { resolvable } from '../promise/resolvable.ts';

/** What jq printed, or what it said instead; `isBroken` where that is no word about the filter, for jq itself broke. */
type Answer = { readonly text: string } | { readonly said: string; readonly isBroken?: true };

type Question = { readonly json: string; readonly program: string };
type Thread = {
  readonly worker: Worker;
  readonly waiting: Map<number, (answer: Answer) => void>;
  /** It has loaded jq. */
  readonly ready: Promise<void>;
};

/** A function is asked once jq is loaded, which takes seconds on a machine that has much to do. */
export type End = AbortSignal | undefined | (() => AbortSignal);

/** Asks jq; undefined where `end` came first, whatever the filter was doing. */
export type Ask = (question: Question, end: End) => Promise<Answer | undefined>;

let questions = 0;

/**
 * What is nearly done when svc is told to end is still printed: a listener's last lines come after the signal. Counted in work of
 * this process, for on a busy machine a filter that needs a moment may get none of it for a second.
 */
const graceOfWorkMs = 300;
const graceMs = 1_500;
const lookMs = 50;

/** A thread of its own, started when it is first asked: a filter that runs for ever holds up no other thread's. */
export function openJq(): Ask {
  const here: ThreadSlot = { thread: undefined };
  return (question, end) => askIn(here, question, end);
}

/** The one that commands share. */
export const askJq: Ask = openJq();

type ThreadSlot = { thread: Thread | undefined };

async function askIn(here: ThreadSlot, question: Question, given: End): Promise<Answer | undefined> {
  here.thread ??= start(here);
  const { worker, waiting, ready } = here.thread;
  const id = ++questions;
  const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
  worker.ref();
  worker.postMessage({ id, ...question });
  if (typeof given === 'function') await Promise.race([ready, answered]);
  const end = endOf(typeof given === 'function' ? given() : given);
  const answer = await Promise.race([answered, end.comes]);
  end.forget();
  waiting.delete(id);
  if (answer === undefined) {
    if (here.thread?.worker === worker) here.thread = undefined;
    await worker.terminate();
  } else if (waiting.size === 0 && here.thread?.worker === worker) worker.unref();
  return answer;
}

/** The end of the grace after `signal`. */
function endOf(signal: AbortSignal | undefined): { comes: Promise<undefined>; forget: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let begin = (): void => {};
  const comes = new Promise<undefined>((resolve) => {
    begin = () => {
      const before = { at: performance.now(), work: process.cpuUsage() };
      timer = setInterval(() => {
        const { user, system } = process.cpuUsage(before.work);
        const isOver = (user + system) / 1000 >= graceOfWorkMs || performance.now() - before.at >= graceMs;
        if (isOver) resolve(undefined);
      }, lookMs);
    };
  });
  if (signal?.aborted) begin();
  else signal?.addEventListener('abort', begin, { once: true });
  const forget = (): void => {
    signal?.removeEventListener('abort', begin);
    clearInterval(timer);
  };
  return { comes, forget };
}

function start(here: ThreadSlot): Thread {
  const waiting: Thread['waiting'] = new Map();
  // The build puts the worker beside the chunk that this comes to be in, under the same name.
  const worker = startThread(() => new Worker(new URL('./jq-worker.cjs', import.meta.url), { execArgv: [] }));
  const { promise: ready, resolve: loaded } = resolvable();
  const started: Thread = { worker, waiting, ready };
  // Out of memory, or a worker that cannot be loaded: the filter has failed, and svc goes on.
  const give = (said: string): void => {
    if (here.thread === started) here.thread = undefined;
    for (const resolve of waiting.values()) resolve({ said, isBroken: true });
  };
  worker.on('message', (said: 'ready' | (Answer & { id: number })) => {
    if (said === 'ready') return loaded();
    const { id, ...answer } = said;
    waiting.get(id)?.(answer);
  });
  worker.on('error', (error) => give(error.message));
  worker.on('exit', () => give('jq ended early'));
  return started;
}

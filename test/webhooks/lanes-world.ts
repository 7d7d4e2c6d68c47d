// A sink of many records at once, in a time of its own.
import type { Clock } from '../../src/context.ts';
import { startLanes } from '../../src/webhooks/deliver/lanes.ts';
import type { Sink } from '../../src/webhooks/deliver/sink.ts';
import type { DeliveryWorker } from '../../src/webhooks/deliver/worker-state.ts';
import { laneIn } from '../../src/webhooks/event/record-key.ts';
import type { InboxStore, Settled } from '../../src/webhooks/store/inbox-store.ts';
import { arrival } from './stores.ts';

/** Time passes only where everybody waits. */
function virtualClock() {
  let now = 0;
  const sleepers = new Set<{ readonly at: number; readonly end: () => void }>();
  const clock: Clock = {
    now: () => new Date(Date.parse('2026-01-02T03:04:05Z') + now),
    ticks: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const end = () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', end);
          resolve();
        };
        const sleeper = { at: now + ms, end };
        if (signal?.aborted) return resolve();
        sleepers.add(sleeper);
        signal?.addEventListener('abort', end, { once: true });
      }),
  };
  /** To the next moment at which somebody wakes. */
  const step = () => {
    let next: { readonly at: number; readonly end: () => void } | undefined;
    for (const sleeper of sleepers) if (!next || sleeper.at < next.at) next = sleeper;
    if (!next) return;
    now = Math.max(now, next.at);
    next.end();
  };
  return { clock, step };
}

export const message = (id: string, conversation: number) =>
  arrival(id, ['app'], {
    event: 'conversation.message_received',
    body: Buffer.from(
      JSON.stringify({
        id,
        event: 'conversation.message_received',
        data: { conversation_id: conversation, message_id: Number(id.slice(4)) },
      }),
    ),
  });

/** How a store is given time for its work: one that is another process would be kept from it by a loop that never rests. */
const turns = {
  folder: { each: () => new Promise((resolve) => setImmediate(resolve)), untilStep: 8 },
  shared: { each: () => new Promise((resolve) => setTimeout(resolve, 1)), untilStep: 1 },
};
export const retry = { attempts: 1_000, maxAgeMs: Number.POSITIVE_INFINITY, pauseMs: 500, longestPauseMs: 4_000 };

export type World = ReturnType<typeof worldOf>;

/** An app that answers as the plan says, and sees to it that no record is there twice at once. */
export function worldOf(plan: readonly ('taken' | 'refused' | 'hangs')[], pace: keyof typeof turns = 'folder') {
  const time = virtualClock();
  const got: { readonly id: string; readonly lane: string }[] = [];
  const here = new Map<string, string>();
  const broken: string[] = [];
  let [calls, most] = [0, 0];
  const sink: Sink = {
    name: 'app',
    most: 1,
    async send(events, cut) {
      const [event] = events;
      const [id = '', lane = ''] = [event?.id, event && laneIn(event.body)];
      const how = plan.length > 0 ? plan[calls++ % plan.length] : 'taken';
      if (here.has(lane)) broken.push(`${id} beside ${here.get(lane)}`);
      here.set(lane, id);
      most = Math.max(most, here.size);
      await time.clock.sleep(how === 'hangs' ? 3_000 : 30, cut);
      here.delete(lane);
      if (cut.aborted) return { how: 'cut' };
      if (how !== 'taken') return { how: 'refused', error: 'no' };
      got.push({ id, lane });
      return { how: 'taken' };
    },
  };
  const settled: Settled[] = [];
  const problems: unknown[] = [];
  const start = (store: InboxStore, concurrency = 4): DeliveryWorker =>
    startLanes(
      {
        sink,
        store,
        retry,
        clock: time.clock,
        onSettled: (_, one) => settled.push(one),
        onProblem: (_, error) => problems.push(error),
      },
      concurrency,
    );
  const until = async (ready: () => boolean) => {
    const began = performance.now();
    const { each, untilStep } = turns[pace];
    for (let turn = 1; !ready(); turn++) {
      if (performance.now() - began > 90_000)
        throw new Error(`It never happened: ${JSON.stringify({ got, broken, problems: problems.map(String) })}`);
      await each();
      // What a disk or a database does takes turns of its own.
      if (turn % untilStep === 0) time.step();
    }
  };
  return { ...time, got, broken, settled, start, until, most: () => most };
}

/** The order of what the app got first, by lane. */
export function firstsByLane({ got }: Pick<World, 'got'>): Map<string, string[]> {
  const lanes = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const { id, lane } of got) {
    if (seen.has(id)) continue;
    seen.add(id);
    lanes.set(lane, [...(lanes.get(lane) ?? []), id]);
  }
  return lanes;
}

export const inOrder = (ids: readonly string[]): boolean =>
  ids.every((id, at) => at === 0 || Number(id.slice(4)) > Number(ids[at - 1]?.slice(4)));

export async function end(world: World, worker: DeliveryWorker): Promise<void> {
  let isOver = false;
  void worker.stop(0).then(() => {
    isOver = true;
  });
  await world.until(() => isOver);
}

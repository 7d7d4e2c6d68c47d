import type { Arrival, Outcome } from '../line.ts';

export type Queues = ReturnType<typeof createQueues>;

/** `tries`: those before. `since`: when it began to wait. */
type Queued = { readonly id: string; readonly tries: number; readonly since: string };

type Queue = { readonly waiting: Map<string, Queued>; readonly dead: Set<string> };

/** What waits for each sink, and what each sink did not take: ids alone, oldest first. */
export function createQueues() {
  const queues = new Map<string, Queue>();
  /** For how many sinks each id is kept. */
  const kept = new Map<string, number>();
  const queueOf = (sink: string): Queue => {
    const queue = queues.get(sink) ?? { waiting: new Map(), dead: new Set() };
    queues.set(sink, queue);
    return queue;
  };
  const release = (id: string) => {
    const left = (kept.get(id) ?? 0) - 1;
    if (left > 0) kept.set(id, left);
    else kept.delete(id);
  };
  return {
    add({ id, at, sinks = [] }: Pick<Arrival, 'id' | 'at' | 'sinks'>): void {
      for (const sink of sinks) queueOf(sink).waiting.set(id, { id, tries: 0, since: at });
      if (sinks.length > 0) kept.set(id, sinks.length);
    },
    settle(id: string, { to, at, tries, replay, state = 'delivered' }: Outcome): void {
      const queue = queues.get(to);
      if (!queue || replay) return;
      const { waiting, dead } = queue;
      const queued = waiting.get(id);
      if (state === 'again') {
        if (dead.delete(id)) waiting.set(id, { id, tries: 0, since: at });
      } else if (state === 'failed') {
        if (queued) waiting.set(id, { ...queued, tries });
      } else if (state === 'dead') {
        if (waiting.delete(id)) dead.add(id);
      } else if (waiting.delete(id) || dead.delete(id)) release(id);
    },
    /** One that had something to do before. */
    know: (sink: string): void => void queueOf(sink),
    first(sink: string, most: number, except?: ReadonlySet<string>): readonly Queued[] {
      const some: Queued[] = [];
      for (const queued of queues.get(sink)?.waiting.values() ?? []) {
        if (some.length >= most) break;
        if (!except?.has(queued.id)) some.push(queued);
      }
      return some;
    },
    isDead: (sink: string, id: string): boolean => queues.get(sink)?.dead.has(id) ?? false,
    waits: (sink: string, id: string): boolean => queues.get(sink)?.waiting.has(id) ?? false,
    counts: (): ReadonlyMap<string, { readonly waiting: number; readonly dead: number }> =>
      new Map([...queues].map(([sink, { waiting, dead }]) => [sink, { waiting: waiting.size, dead: dead.size }])),
    /** Whether it still waits for a sink, or is dead. */
    holds: (id: string): boolean => kept.has(id),
  };
}

import type { Exchange } from '../../src/context.ts';
import { pulledWorld } from '../mirror/engines.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { type Ran, type RunOptions, svc } from '../svc.ts';

/** A pull beside the inbox sleeps between its rounds until it is woken: no test waits for it, or sees one that it did not ask for. */
export const patient = (clock: SandboxWorld['clock']): SandboxWorld['clock'] => ({
  ...clock,
  sleep: (ms: number, signal?: AbortSignal) => (ms >= 10_000 ? untilAborted(signal) : clock.sleep(ms, signal)),
});

const untilAborted = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });

/** A world with a copy of the account, whose clock stands still beside what svc itself waits for. */
export async function desk(): Promise<SandboxWorld> {
  const world = await pulledWorld();
  return { ...world, clock: patient(world.clock) };
}

export type Linear = RunOptions & { readonly argv?: readonly string[] };

/** `svc inbox --linear`, whose questions are answered by these lines, and then by the end of the input. */
export const linear = (
  world: SandboxWorld,
  lines: readonly string[],
  { argv = [], ...options }: Linear = {},
): Promise<Ran> => svc(world, ['inbox', '--linear', ...argv], { columns: 80, answers: lines, ...options });

/** A service that behaves in its own way where `odd` answers. */
export const through = (
  world: SandboxWorld,
  odd: (request: Parameters<Exchange>[0], go: () => ReturnType<Exchange>) => ReturnType<Exchange>,
): SandboxWorld => ({
  ...world,
  exchange: (request) => odd(request, () => world.exchange(request)),
});

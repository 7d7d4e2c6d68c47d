import type { Context } from '../context.ts';
import { counted } from '../text/number.ts';

export type Lanes = ReturnType<typeof openLanes>;

type Options = {
  readonly ctx: Pick<Context, 'signal' | 'notice'>;
  readonly concurrency: number;
  readonly isOver: () => boolean;
};

/** So many pieces of work at once; two that share a key are never under way together, and keep their order. */
export function openLanes({ ctx, concurrency, isOver }: Options) {
  const underWay = new Set<Promise<void>>();
  const busy = new Map<string, number>();
  let waiting: (() => void)[] = [];
  /** A first Ctrl-C is heard at once, though what is in flight may take a while. */
  const acknowledge = () => {
    if (underWay.size === 0) return;
    ctx.notice(
      `Stopping once ${counted(underWay.size, 'request')} in flight ${underWay.size === 1 ? 'is' : 'are'} answered. Ctrl-C again stops at once.`,
    );
  };
  ctx.signal.addEventListener('abort', acknowledge, { once: true });
  return {
    async settled(): Promise<void> {
      await Promise.all(underWay);
      ctx.signal.removeEventListener('abort', acknowledge);
    },
    /** Waits for its turn, and not for its end; false once the run is over. `work` must not throw. */
    async start(keys: readonly string[], work: () => Promise<void>): Promise<boolean> {
      while (!isOver() && (underWay.size >= concurrency || keys.some((key) => busy.has(key)))) {
        await new Promise<void>((turn) => waiting.push(turn));
      }
      if (isOver()) return false;
      for (const key of keys) count(busy, key, 1);
      const promise = work().finally(() => {
        for (const key of keys) count(busy, key, -1);
        underWay.delete(promise);
        const turns = waiting;
        waiting = [];
        for (const turn of turns) turn();
      });
      underWay.add(promise);
      return true;
    },
  };
}

function count(map: Map<string, number>, key: string, by: number): void {
  const value = (map.get(key) ?? 0) + by;
  if (value === 0) map.delete(key);
  else map.set(key, value);
}

import type { Context } from '../context.ts';
import { countdown } from '../http/exchange/gate.ts';

export type LateCopies = ReturnType<typeof lateCopies>;

type Copy = { readonly until: number; readonly content: string | undefined; readonly isKept: boolean };

/**
 * Requests that were given up on and may still arrive. Where twice is once, a late copy is harmless until something else
 * is written to the same record: then it would put the old values back. So whoever writes something else waits until
 * no copy can be on its way any more: for as long as svc looks for a write whose answer was lost (--settle).
 */
export function lateCopies(ctx: Pick<Context, 'clock' | 'progress' | 'notice' | 'signal'>, settleMs: number) {
  const copies = new Map<string, Copy>();
  const copyFor = (key: string): Copy | undefined => {
    const copy = copies.get(key);
    if (!copy || copy.until > ctx.clock.ticks()) return copy;
    copies.delete(key);
    return undefined;
  };
  const leftMs = (keys: readonly string[], content: string): number => {
    const others = keys.flatMap((key) => copyFor(key) ?? []).filter((copy) => copy.content !== content);
    return Math.max(0, ...others.map(({ until }) => until - ctx.clock.ticks()));
  };
  return {
    /**
     * A request for these records may still arrive. `content` names what it writes; undefined: that is not known.
     * `isKept`: another journal tells of it already.
     */
    note(keys: readonly string[], content: string | undefined, isKept = false): void {
      const until = ctx.clock.ticks() + settleMs;
      for (const key of keys) {
        const before = copyFor(key);
        copies.set(key, {
          until,
          content: before && before.content !== content ? undefined : content,
          isKept: isKept && before?.isKept !== false,
        });
      }
    },
    /** Whether a copy for one of these records may still arrive. */
    mayArrive: (keys: readonly string[]) => copies.size > 0 && keys.some((key) => copyFor(key) !== undefined),
    /** Whether one may that no other journal tells of. */
    isOurs: (keys: readonly string[]) => copies.size > 0 && keys.some((key) => copyFor(key)?.isKept === false),
    /** Waits until no copy of something else can arrive. `interrupted`: the run was told to end meanwhile. */
    async pass(keys: readonly string[], content: string): Promise<'at once' | 'waited' | 'interrupted'> {
      if (copies.size === 0) return 'at once';
      let end: 'at once' | 'waited' = 'at once';
      for (let ms = leftMs(keys, content); ms > 0; ms = leftMs(keys, content)) {
        if (ctx.signal.aborted) return 'interrupted';
        end = 'waited';
        await countdown(ctx, ms, 'An earlier request for the same record may still arrive');
      }
      return ctx.signal.aborted ? 'interrupted' : end;
    },
  };
}

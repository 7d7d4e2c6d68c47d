import type { Operation } from '../api/operation.ts';
import type { Open, Service } from './asking.ts';

/** The ids that this run has made, of messages those of the thread: no look takes them for what another write has made. */
export function ownIds(
  { learnt }: Pick<Service, 'learnt'>,
  { id }: Pick<Operation, 'id'>,
  params?: unknown,
): Set<number> {
  const key = params === undefined ? id : `${id} ${JSON.stringify(params)}`;
  const ids = learnt.made.get(key) ?? new Set<number>();
  learnt.made.set(key, ids);
  return ids;
}

/** Notes that the write is on its way, for equal ones that are looked for meanwhile. */
export function openWrite({ ctx, learnt }: Pick<Service, 'ctx' | 'learnt'>, key: string) {
  const open = learnt.open.get(key) ?? new Set<Open>();
  learnt.open.set(key, open);
  const me: Open = { isLookedFor: false };
  open.add(me);
  let leftAt: number | undefined;
  const leaves = () => {
    leftAt ??= ctx.clock.ticks();
    me.isLookedFor = false;
  };
  /** When it left first, by the service's clock. */
  const sentAt = (): number | undefined => {
    const { aheadOfTicks } = learnt;
    return leftAt === undefined || aheadOfTicks === undefined ? undefined : leftAt + aheadOfTicks;
  };
  const ended = () => {
    open.delete(me);
    if (open.size === 0 && learnt.open.get(key) === open) learnt.open.delete(key);
  };
  return { open, me, leaves, sentAt, ended };
}

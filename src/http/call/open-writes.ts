import type { Operation } from '../../api/operation.ts';
import { numbersWithin } from '../../text/digest-numbers.ts';
import { type NumberTable, numberTable } from '../../text/number-table.ts';
import type { Open, Service } from '../exchange/asking.ts';
import { type Moment, momentBy, timeAt } from '../exchange/service-clock.ts';

type Op = Pick<Operation, 'id'>;

/** Beside an id of `ownIds`: an earlier run has made it. Beside those of this run stands 0. */
export const ofEarlierRun = 1;

/** The ids that this run has made, and those that earlier runs have. */
export function ownIds({ learnt }: Pick<Service, 'learnt'>, { id }: Op): NumberTable {
  const ids = learnt.made.get(id) ?? numberTable();
  learnt.made.set(id, ids);
  return ids;
}

/** Of messages those of the thread: no look takes them for what another write has made. */
export const ownIdsFor = (
  service: Pick<Service, 'learnt'>,
  operation: Op,
  params: unknown,
): Pick<NumberTable, 'get' | 'set'> =>
  params === undefined
    ? ownIds(service, operation)
    : numbersWithin(service.learnt.within, `made ${operation.id} ${JSON.stringify(params)}`);

/** Notes that the write is on its way, for equal ones that are looked for meanwhile. */
export function openWrite({ ctx, learnt }: Pick<Service, 'ctx' | 'learnt'>, key: string) {
  const open = learnt.open.get(key) ?? new Set<Open>();
  learnt.open.set(key, open);
  const me: Open = { isLookedFor: false };
  open.add(me);
  let leftAt: Moment | undefined;
  const leaves = (doubt: string | undefined) => {
    me.isLookedFor = false;
    // Of attempts that surely did nothing the time does not count.
    if (doubt === undefined) leftAt = momentBy(ctx.clock);
  };
  /** When it left, by the service's clock; of attempts that may have done it, the first. */
  const sentAt = (): number | undefined => {
    const { serviceClock } = learnt;
    return leftAt && serviceClock && timeAt(serviceClock, leftAt);
  };
  const ended = () => {
    open.delete(me);
    if (open.size === 0 && learnt.open.get(key) === open) learnt.open.delete(key);
  };
  return { open, me, leaves, sentAt, ended };
}

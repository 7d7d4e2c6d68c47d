import type { Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';
import { capital } from '../../text/capital.ts';
import { counted } from '../../text/number.ts';
import { isShown, targetOf } from '../deliver/routes.ts';
import { envelopeIn } from '../event/envelope.ts';
import { type Missed, rebuildMissed } from '../receive/missed.ts';
import type { Receipt } from '../receive/options.ts';
import { type Carried, type Replayed, settleWaiting } from '../store/folder/requests.ts';
import type { Slot } from '../store/folder/slot.ts';
import type { Arrival, Outcome } from '../store/line.ts';
import type { ListenContext, Passes } from './context.ts';
import type { Forwarder } from './forwarder.ts';

/** What stands behind the receiver. */
export type Beyond = { readonly inbox: Slot['inbox']; readonly forwarder: Forwarder };

/** Shows what came, and passes it on; what the filter does not want is only kept. */
export function came(context: ListenContext, receipt: Receipt, { inbox, forwarder }: Beyond): void {
  const { ctx, options, running, reporter, filter } = context;
  const take = ({ passes }: { readonly passes: boolean }) => {
    guarded(ctx, () => reporter.received(receipt, passes && isShown(options.routes, eventOf(receipt))));
    if (!('arrival' in receipt)) return;
    const { id, event, to } = receipt.arrival;
    if (to === undefined) return;
    if (passes) forwarder.enqueue(id, event, to);
    else void inbox.settle(id, skipped(to, ctx.clock)).catch(() => {});
  };
  if (!filter || receipt.kind === 'rejected' || receipt.kind === 'unreadable') {
    take({ passes: true });
    return;
  }
  const { id } = receipt.envelope;
  const body = 'arrival' in receipt ? receipt.arrival.body : Buffer.from(JSON.stringify(receipt.envelope));
  // One after the other, so that what is forwarded keeps its order.
  running.judging = (running.judging ?? Promise.resolve()).then(async () => take({ passes: await filter(id, body) }));
}

/** As if it had been delivered. */
export async function takeRebuilt(
  context: ListenContext,
  beyond: Beyond,
  arrivals: readonly Arrival[],
): Promise<Carried> {
  const taken: boolean[] = [];
  for (const arrival of arrivals) {
    const own = { ...arrival, to: targetOf(context.options.routes, arrival.event), owed: undefined };
    const added = await beyond.inbox.add(own);
    taken.push(added === 'stored');
    if (added === 'repeat') continue;
    const envelope = envelopeIn(own.body);
    if (envelope) came(context, { kind: 'accepted', arrival: own, envelope }, beyond);
  }
  return taken;
}

/** What was sent by hand to where it waited for is not forwarded there once more. */
export async function passReplayed({ inbox, forwarder }: Beyond, replayed: Replayed): Promise<boolean> {
  if (!forwarder.passed(replayed.id, replayed.outcome)) return false;
  const [isSettled] = await settleWaiting(inbox, { replayed: [replayed] });
  return isSettled === true;
}

/** Beside what comes live. */
export function catchUp(ctx: Context, missed: Missed, take: (arrivals: readonly Arrival[]) => Promise<Carried>) {
  const ending = new AbortController();
  const signal = AbortSignal.any([ctx.signal, ending.signal]);
  const working = rebuildMissed(ctx, missed, {
    take: async (arrivals) => (await take(arrivals)).filter(Boolean).length,
    signal,
  });
  return {
    end() {
      ending.abort();
      return working;
    },
  };
}

/** Where this is lost, it is judged once more at the next start. */
const skipped = (to: string, clock: Context['clock']): Outcome => ({
  to,
  at: clock.now().toISOString(),
  ms: 0,
  tries: 0,
  skipped: true,
});

/** Somebody sits here and sees what is told, so what cannot be decided counts as false. */
export async function filterOf(ctx: Context, program: string | undefined): Promise<Passes | undefined> {
  if (program === undefined) return undefined;
  const { createFilter } = await import('../deliver/filter.ts');
  const filter = createFilter(program, ctx.notice);
  return async (id, body) => {
    const verdict = await filter({ id, body });
    if (typeof verdict === 'string') return verdict === 'wanted';
    const said = capital(verdict.undecided);
    ctx.notice(`${said} for ${id}, which counts as false: ${program}`);
    return false;
  };
}

/** What an earlier run accepted and did not get to pass on, before anything new. */
export async function resume(context: ListenContext, { inbox, forwarder }: Beyond): Promise<void> {
  const { ctx, options, filter } = context;
  const waiting = inbox.waiting();
  let taken = 0;
  let unwanted = 0;
  for (const id of waiting) {
    const { arrival } = (await inbox.read(id)) ?? {};
    const { event = null } = arrival ?? {};
    const to = targetOf(options.routes, event);
    if (to === undefined) continue;
    if (filter && arrival?.unreadable === undefined && !(await filter(id, arrival?.body ?? Buffer.alloc(0)))) {
      await inbox.settle(id, skipped(to, ctx.clock));
      unwanted++;
      continue;
    }
    forwarder.enqueue(id, event, to);
    taken++;
  }
  const left = waiting.length - taken - unwanted;
  if (taken > 0) ctx.notice(`Forwarding ${counted(taken, 'event')} of an earlier run first.`);
  if (left > 0)
    ctx.notice(
      `${counted(left, 'event')} of an earlier run still ${left === 1 ? 'waits' : 'wait'} to be forwarded: give --forward-to.`,
    );
}

const eventOf = (receipt: Receipt): string | null => {
  if ('envelope' in receipt) return receipt.envelope.event;
  // What a rejected request claims to be may be wrong, so no filter hides it.
  return receipt.kind === 'unreadable' ? receipt.arrival.event : null;
};

/** The event is stored and answered. Where it cannot be shown, svc goes on, and the app gets it all the same. */
export function guarded(ctx: Context, show: () => void): void {
  try {
    show();
  } catch (error) {
    ctx.notice(`An event cannot be shown: ${messageOf(error)}`);
  }
}

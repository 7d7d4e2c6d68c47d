import { webhookEvents } from '../api/webhooks.ts';
import type { Context } from '../context.ts';
import { Failure, messageOf } from '../errors.ts';
import { counted } from '../text/number.ts';
import type { Arrival, Outcome } from './inbox/line.ts';
import { watchOrders } from './inbox/orders.ts';
import { type Seat, seats, seatsFolder, takeSeat } from './inbox/seat.ts';
import { envelopeIn } from './receiving/delivery.ts';
import { type Receipt, type Receiver, startReceiver } from './receiving/receiver.ts';
import type { Reporter } from './report.ts';
import type { Filter } from './sinks/filter.ts';
import { createForwarder, type Forwarder } from './sinks/forward.ts';
import { isShown, type Routes, targetOf } from './sinks/routes.ts';
import { forgetSecret, keepSecret } from './subscriptions/secrets.ts';
import { hasLeftovers, reap, type Subscribing, subscribe } from './subscriptions/subscriptions.ts';
import { openTunnel, type Tunnel, type TunnelRecipe } from './subscriptions/tunnel.ts';

export type ListenOptions = {
  readonly profile: string;
  readonly port: number;
  readonly path?: string;
  readonly routes: Routes;
  readonly retryMs?: number;
  readonly timeoutMs: number;
  readonly inboxLimit: number;
  /** jq over the envelope: only events that give true are shown and forwarded. */
  readonly filter?: string;
  /** Beside those of our own subscriptions. */
  readonly secrets: readonly string[];
  readonly reach?: { readonly publicUrl: string } | { readonly tunnel: TunnelRecipe };
  /** Undefined where no service is known; then there can be nothing to subscribe or to clean up. */
  readonly baseUrl?: string;
  /** The account's subscriptions; rejects where there is no login for them. */
  readonly service: () => Promise<Subscribing>;
  /** False with a credential of the environment: then nothing is stored. */
  readonly storesSecrets: boolean;
  /** Rebuilds what never arrived. */
  readonly catchUp?: () => Promise<readonly Arrival[]>;
  readonly inspectPort?: number;
  /** Somebody sits here. */
  readonly opensBrowser?: boolean;
};

/** Everything that runs, as far as it came up. */
export type Running = {
  seat?: Seat;
  forwarder?: Forwarder;
  receiver?: Receiver;
  inspector?: { close(): Promise<void> };
  tunnel?: Tunnel;
  orders?: { end(): Promise<void> };
  catchingUp?: Promise<void>;
  /** What the filter still looks at. */
  judging?: Promise<void>;
};

/** What every step of coming up needs. */
type Coming = {
  readonly ctx: Context;
  readonly options: ListenOptions;
  readonly running: Running;
  readonly reporter: Reporter;
  /** Ours first known once we have subscribed. */
  readonly secrets: string[];
  /** The path of the URL that the service knows us by, once there is one. */
  pathOfUrl: string;
  readonly filter: Filter | undefined;
};

/**
 * Brings up, in this order, what a delivery goes through: inbox, forwarding, receiver, inspector, and only then the
 * tunnel and the subscriptions, so that nothing arrives before all is ready. `running` holds what is up so far.
 */
export async function bringUp(
  ctx: Context,
  options: ListenOptions,
  running: Running,
  reporter: Reporter,
): Promise<void> {
  const { routes, reach, baseUrl } = options;
  const pathOfUrl = reach && 'publicUrl' in reach ? new URL(reach.publicUrl).pathname : '/';
  const filter = await filterOf(ctx, options.filter);
  const coming: Coming = { ctx, options, running, reporter, secrets: [...options.secrets], pathOfUrl, filter };
  const seat = await sitDown(coming);
  await removeLeftovers(ctx, options, seat);
  const forwarder = forwarding(coming, seat);
  await resume(coming, seat, forwarder);
  const receiver = await receive(coming, seat, forwarder);
  const take = (arrivals: readonly Arrival[]) => takeRebuilt(coming, { seat, forwarder }, arrivals);
  running.orders = watchOrders(seat.folder, async (order) => {
    if (order.kind === 'add') await take(order.arrivals);
  });
  if (options.catchUp) running.catchingUp = catchUp(ctx, options.catchUp, take);
  if (options.inspectPort !== undefined) await inspect(coming, options.inspectPort, { seat, forwarder, receiver });
  if (!reach || baseUrl === undefined) return;

  const url = 'publicUrl' in reach ? reach.publicUrl : await dig(coming, reach.tunnel, receiver.port);
  coming.pathOfUrl = new URL(url).pathname;
  const events = routes.events ?? webhookEvents;
  for (const { id, secret } of await subscribe(seat.folder, { baseUrl, url, events }, await options.service())) {
    coming.secrets.push(secret);
    if (options.storesSecrets) await keepSecret(ctx.tokens, options.profile, id, secret);
  }
  ctx.notice(`Subscribed ${url} to ${events.join(', ')}`);
}

/** The inbox, and what an earlier listener left in it. */
async function sitDown({ ctx, options, running }: Coming): Promise<Seat> {
  const root = seatsFolder(ctx.files.state, options.profile);
  running.seat = await takeSeat(root, { limit: options.inboxLimit }).catch((error) => {
    throw new Failure('failed', `The inbox in ${root} cannot be used: ${messageOf(error)}`, {
      hint: 'Choose another folder with SVC_STATE_DIR.',
      cause: error,
    });
  });
  return running.seat;
}

function forwarding({ ctx, options, running, reporter }: Coming, { inbox }: Seat): Forwarder {
  running.forwarder = createForwarder({
    exchange: ctx.exchange,
    clock: ctx.clock,
    inbox,
    timeoutMs: options.timeoutMs,
    retryMs: options.retryMs,
    report: (...forwarded) => guarded(ctx, () => reporter.forwarded(...forwarded)),
  });
  return running.forwarder;
}

async function receive(coming: Coming, { inbox }: Seat, forwarder: Forwarder): Promise<Receiver> {
  const { ctx, options, running, secrets } = coming;
  const { routes } = options;
  const receiver = await startReceiver({
    port: options.port,
    path: () => options.path ?? coming.pathOfUrl,
    secrets: () => secrets,
    inbox,
    clock: ctx.clock,
    newId: () => `unreadable_${Buffer.from(ctx.random(6)).toString('hex')}`,
    forwardTo: (event) => targetOf(routes, event),
    onReceipt: (receipt) => came(coming, receipt, { inbox, forwarder }),
    onTrouble: (error) => {
      ctx.notice(`The inbox cannot be written (${messageOf(error)}): deliveries are held, to be sent again.`);
    },
  });
  running.receiver = receiver;
  ctx.notice(`Listening on ${receiver.url}${routes.forwardTo ? `, forwarding to ${routes.forwardTo}` : ''}`);
  return receiver;
}

type Beyond = { readonly inbox: Seat['inbox']; readonly forwarder: Forwarder };

/** Shows what came, and passes it on; what the filter does not want is only kept. */
function came(coming: Coming, receipt: Receipt, { inbox, forwarder }: Beyond): void {
  const { ctx, options, running, reporter, filter } = coming;
  const take = (passes: boolean) => {
    guarded(ctx, () => reporter.received(receipt, passes && isShown(options.routes, eventOf(receipt))));
    if (!('arrival' in receipt)) return;
    const { id, event, to } = receipt.arrival;
    if (to === undefined) return;
    if (passes) forwarder.enqueue(id, event, to);
    else void inbox.settle(id, skipped(to, ctx.clock)).catch(() => {});
  };
  if (!filter || receipt.kind === 'rejected' || receipt.kind === 'unreadable') {
    take(true);
    return;
  }
  const { id } = receipt.envelope;
  const body = 'arrival' in receipt ? receipt.arrival.body : Buffer.from(JSON.stringify(receipt.envelope));
  // One after the other, so that what is forwarded keeps its order.
  running.judging = (running.judging ?? Promise.resolve()).then(async () => take(await filter(id, body)));
}

/** As if it had been delivered. */
async function takeRebuilt(
  coming: Coming,
  { seat, forwarder }: Pick<Up, 'seat' | 'forwarder'>,
  arrivals: readonly Arrival[],
) {
  const { inbox } = seat;
  let taken = 0;
  for (const arrival of arrivals) {
    if (inbox.has(arrival.id)) continue;
    const { to: _, ...rest } = arrival;
    const to = targetOf(coming.options.routes, arrival.event);
    const own: Arrival = { ...rest, ...(to !== undefined && { to }) };
    await inbox.add(own);
    taken++;
    const envelope = envelopeIn(own.body);
    if (envelope) came(coming, { kind: 'accepted', arrival: own, envelope }, { inbox, forwarder });
  }
  return taken;
}

async function catchUp(
  ctx: Context,
  rebuild: () => Promise<readonly Arrival[]>,
  take: (arrivals: readonly Arrival[]) => Promise<number>,
): Promise<void> {
  try {
    ctx.notice(`Rebuilt ${counted(await take(await rebuild()), 'event')} that never arrived.`);
  } catch (error) {
    ctx.notice(`What never arrived could not be rebuilt: ${messageOf(error)}`);
  }
}

/** Where this is lost, it is judged once more at the next start. */
const skipped = (to: string, clock: Context['clock']): Outcome => ({
  to,
  at: clock.now().toISOString(),
  ms: 0,
  tries: 0,
  skipped: true,
});

async function filterOf(ctx: Context, program: string | undefined): Promise<Filter | undefined> {
  if (program === undefined) return undefined;
  const { createFilter } = await import('./sinks/filter.ts');
  return createFilter(program, ctx.notice);
}

type Up = { readonly seat: Seat; readonly forwarder: Forwarder; readonly receiver: Receiver };

async function inspect(coming: Coming, port: number, { seat, forwarder, receiver }: Up): Promise<void> {
  const { ctx, options, running, reporter } = coming;
  const { openInspector } = await import('./inspector/open.ts');
  running.inspector = await openInspector(ctx, {
    port,
    inbox: seat.inbox,
    forwarder,
    target: (event) => targetOf(options.routes, event),
    listening: receiver.url,
    watch: reporter.watch,
    opensBrowser: options.opensBrowser,
  });
}

const eventOf = (receipt: Receipt): string | null => {
  if ('envelope' in receipt) return receipt.envelope.event;
  // What a rejected request claims to be may be wrong, so no filter hides it.
  return receipt.kind === 'unreadable' ? receipt.arrival.event : null;
};

/** What an earlier run accepted and did not get to pass on, before anything new. */
async function resume(coming: Coming, { inbox }: Seat, forwarder: Forwarder): Promise<void> {
  const { ctx, options, filter } = coming;
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
    ctx.notice(`${counted(left, 'event')} of an earlier run still wait to be forwarded: give --forward-to.`);
}

async function removeLeftovers(ctx: Context, options: ListenOptions, seat: Seat): Promise<void> {
  const { baseUrl, profile } = options;
  if (baseUrl === undefined || !(await hasLeftovers(seat.inherited, baseUrl))) return;
  const all = await seats(seatsFolder(ctx.files.state, profile));
  const living = all.filter((folder) => !seat.inherited.includes(folder));
  try {
    const removed = await reap(seat.inherited, living, baseUrl, await options.service());
    await Promise.all(removed.map((id) => forgetSecret(ctx.tokens, profile, id)));
    if (removed.length > 0) ctx.notice(`Removed ${counted(removed.length, 'subscription')} that an earlier run left.`);
  } catch (error) {
    if (options.reach) throw error;
    ctx.notice(`Subscriptions of an earlier run could not be removed: ${messageOf(error)}`);
  }
}

/** The tunnel to the receiver, and the URL that it gives us. */
async function dig({ ctx, running, options: { path } }: Coming, recipe: TunnelRecipe, port: number): Promise<string> {
  ctx.progress('Waiting for the tunnel');
  const tunnel = await openTunnel(recipe, port, ctx).finally(() => ctx.progress(undefined));
  running.tunnel = tunnel;
  void tunnel.died.then((how) => {
    ctx.notice(`The tunnel is gone: ${how}. No event arrives until svc webhooks listen is started again.`);
  });
  return path === undefined ? tunnel.url : new URL(path, tunnel.url).href;
}

/** The event is stored and answered. Where it cannot be shown, svc goes on, and the app gets it all the same. */
function guarded(ctx: Context, show: () => void): void {
  try {
    show();
  } catch (error) {
    ctx.notice(`An event cannot be shown: ${messageOf(error)}`);
  }
}

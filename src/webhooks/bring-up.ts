import { webhookEvents } from '../api/webhooks.ts';
import type { Context } from '../context.ts';
import { Failure, messageOf } from '../errors.ts';
import { counted } from '../text/number.ts';
import { type Seat, seats, seatsFolder, takeSeat } from './inbox/seat.ts';
import { type Receipt, type Receiver, startReceiver } from './receiving/receiver.ts';
import type { Reporter } from './report.ts';
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
  /** Beside those of our own subscriptions. */
  readonly secrets: readonly string[];
  readonly reach?: { readonly publicUrl: string } | { readonly tunnel: TunnelRecipe };
  /** Undefined where no service is known; then there can be nothing to subscribe or to clean up. */
  readonly baseUrl?: string;
  /** The account's subscriptions; rejects where there is no login for them. */
  readonly service: () => Promise<Subscribing>;
  /** False with a credential of the environment: then nothing is stored. */
  readonly storesSecrets: boolean;
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
  const coming: Coming = { ctx, options, running, reporter, secrets: [...options.secrets], pathOfUrl };
  const seat = await sitDown(coming);
  await removeLeftovers(ctx, options, seat);
  const forwarder = forwarding(coming, seat);
  await resume(ctx, seat, forwarder, routes);
  const receiver = await receive(coming, seat, forwarder);
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
  const { ctx, options, running, reporter, secrets } = coming;
  const { routes } = options;
  const receiver = await startReceiver({
    port: options.port,
    path: () => options.path ?? coming.pathOfUrl,
    secrets: () => secrets,
    inbox,
    clock: ctx.clock,
    newId: () => `unreadable_${Buffer.from(ctx.random(6)).toString('hex')}`,
    forwardTo: (event) => targetOf(routes, event),
    onReceipt(receipt) {
      guarded(ctx, () => reporter.received(receipt, isShown(routes, eventOf(receipt))));
      if (!('arrival' in receipt)) return;
      const { id, event, to } = receipt.arrival;
      if (to !== undefined) forwarder.enqueue(id, event, to);
    },
    onTrouble: (error) => {
      ctx.notice(`The inbox cannot be written (${messageOf(error)}): deliveries are held, to be sent again.`);
    },
  });
  running.receiver = receiver;
  ctx.notice(`Listening on ${receiver.url}${routes.forwardTo ? `, forwarding to ${routes.forwardTo}` : ''}`);
  return receiver;
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
async function resume(ctx: Context, { inbox }: Seat, forwarder: Forwarder, routes: Routes): Promise<void> {
  const waiting = inbox.waiting();
  let taken = 0;
  for (const id of waiting) {
    const { event = null } = (await inbox.read(id))?.arrival ?? {};
    const to = targetOf(routes, event);
    if (to === undefined) continue;
    forwarder.enqueue(id, event, to);
    taken++;
  }
  const left = waiting.length - taken;
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

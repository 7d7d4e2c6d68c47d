import { webhookEvents } from '../api/webhooks.ts';
import type { Context } from '../context.ts';
import { Failure, messageOf } from '../errors.ts';
import { counted } from '../text/number.ts';
import { type Seat, seats, seatsFolder, takeSeat } from './inbox/seat.ts';
import type { Line } from './lines.ts';
import { type Receipt, type Receiver, startReceiver } from './receiving/receiver.ts';
import { createReporter, type Reporter } from './report.ts';
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

export type Listening = {
  /** Ends once everything is cleaned up, after `ctx.signal` has fired. */
  readonly lines: AsyncIterable<Line>;
  /** Whether another line is there already. */
  readonly more: () => boolean;
  readonly summary: () => string[];
};

/** Everything that runs, as far as it came up. */
type Running = {
  seat?: Seat;
  forwarder?: Forwarder;
  receiver?: Receiver;
  inspector?: { close(): Promise<void> };
  tunnel?: Tunnel;
};

/** How long an app may take over what is queued when svc is told to end. */
const graceMs = 5_000;

/**
 * Brings up, in this order, what a delivery goes through: inbox, forwarding, receiver, inspector, and only then the
 * tunnel and the subscriptions, so that nothing ever arrives where nobody is. Takes it all down again, tunnel first.
 */
export async function listen(ctx: Context, options: ListenOptions): Promise<Listening> {
  const running: Running = {};
  const reporter = createReporter(ctx.clock);
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> => {
    ended ??= takeDown(ctx, options, running).finally(() => reporter.end());
    return ended;
  };
  try {
    await bringUp(ctx, options, running, reporter);
  } catch (error) {
    await end();
    // Told to end while still coming up: that is its normal end too.
    if (!ctx.signal.aborted) throw error;
  }
  if (ctx.signal.aborted) await end();
  else ctx.signal.addEventListener('abort', () => void end(), { once: true });
  return {
    lines: untilLeft(reporter.lines, end),
    more: reporter.lines.more,
    summary: () => reporter.summary(running.forwarder?.depth() ?? 0),
  };
}

/** Also a reader who leaves (`| head -3`) ends everything. */
async function* untilLeft(lines: AsyncIterable<Line>, end: () => Promise<void>): AsyncGenerator<Line> {
  try {
    yield* lines;
  } finally {
    await end();
  }
}

async function bringUp(ctx: Context, options: ListenOptions, running: Running, reporter: Reporter): Promise<void> {
  const { routes, reach, baseUrl } = options;
  const secrets = [...options.secrets];
  const root = seatsFolder(ctx.files.state, options.profile);
  const seat = await takeSeat(root, { limit: options.inboxLimit }).catch((error) => {
    throw new Failure('failed', `The inbox in ${root} cannot be used: ${messageOf(error)}`, {
      hint: 'Choose another folder with SVC_STATE_DIR.',
      cause: error,
    });
  });
  running.seat = seat;
  await removeLeftovers(ctx, options, seat);

  const forwarder = createForwarder({
    exchange: ctx.exchange,
    clock: ctx.clock,
    inbox: seat.inbox,
    timeoutMs: options.timeoutMs,
    retryMs: options.retryMs,
    report: (...forwarded) => guarded(ctx, () => reporter.forwarded(...forwarded)),
  });
  running.forwarder = forwarder;
  await resume(ctx, seat, forwarder, routes);

  let pathOfUrl = reach && 'publicUrl' in reach ? new URL(reach.publicUrl).pathname : '/';
  const receiver = await startReceiver({
    port: options.port,
    path: () => options.path ?? pathOfUrl,
    secrets: () => secrets,
    inbox: seat.inbox,
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

  if (options.inspectPort !== undefined) {
    const { openInspector } = await import('./inspector/open.ts');
    running.inspector = await openInspector(ctx, {
      port: options.inspectPort,
      inbox: seat.inbox,
      forwarder,
      target: (event) => targetOf(routes, event),
      listening: receiver.url,
      watch: reporter.watch,
      opensBrowser: options.opensBrowser,
    });
  }
  if (!reach || baseUrl === undefined) return;

  const url = 'publicUrl' in reach ? reach.publicUrl : await dig(ctx, reach.tunnel, receiver.port, options, running);
  pathOfUrl = new URL(url).pathname;
  const wanted = routes.events ?? webhookEvents;
  for (const { id, secret } of await subscribe(seat.folder, baseUrl, url, wanted, await options.service())) {
    secrets.push(secret);
    if (options.storesSecrets) await keepSecret(ctx.tokens, options.profile, id, secret);
  }
  ctx.notice(`Subscribed ${url} to ${wanted.join(', ')}`);
}

const eventOf = (receipt: Receipt): string | null => {
  if ('envelope' in receipt) return receipt.envelope.event;
  // Nobody vouches for what a rejected request claims to be, so no filter hides it.
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

/** The tunnel, and the URL that it gives us. */
async function dig(ctx: Context, recipe: TunnelRecipe, port: number, { path }: ListenOptions, running: Running) {
  ctx.progress('Waiting for the tunnel');
  const tunnel = await openTunnel(recipe, port, ctx).finally(() => ctx.progress(undefined));
  running.tunnel = tunnel;
  void tunnel.died.then((how) => {
    ctx.notice(`The tunnel is gone: ${how}. No event arrives until svc webhooks listen is started again.`);
  });
  return path === undefined ? tunnel.url : new URL(path, tunnel.url).href;
}

/** Stored and answered it is already; that it cannot be shown must neither end svc nor keep it from the app. */
function guarded(ctx: Context, show: () => void): void {
  try {
    show();
  } catch (error) {
    ctx.notice(`An event cannot be shown: ${messageOf(error)}`);
  }
}

/** Each step, whatever becomes of the others: what is left subscribed or locked costs the user more than a note. */
async function takeDown(ctx: Context, options: ListenOptions, running: Running): Promise<void> {
  const { seat, tunnel, receiver, forwarder, inspector } = running;
  const steps: (() => Promise<void> | undefined)[] = [
    () => tunnel?.close(),
    () => (seat ? unsubscribe(ctx, options, seat) : undefined),
    () => receiver?.close(),
    () => forwarder?.stop(graceMs),
    () => inspector?.close(),
    () => seat?.leave(),
  ];
  for (const step of steps) {
    await step()?.catch((error: unknown) => ctx.notice(`While ending: ${messageOf(error)}`));
  }
}

async function unsubscribe(ctx: Context, options: ListenOptions, { folder }: Seat): Promise<void> {
  const { baseUrl, profile, reach } = options;
  if (!reach || baseUrl === undefined || !(await hasLeftovers([folder], baseUrl))) return;
  try {
    const removed = await reap([folder], [], baseUrl, await options.service());
    await Promise.all(removed.map((id) => forgetSecret(ctx.tokens, profile, id)));
    if (!(await hasLeftovers([folder], baseUrl))) return;
  } catch {
    // Said below: whatever the reason, the journal still knows.
  }
  ctx.notice('Not every subscription could be removed. The next svc webhooks listen of this profile will do it.');
}

import { webhookEvents } from '../api/webhooks.ts';
import type { Context } from '../context.ts';
import { Failure, messageOf } from '../errors.ts';
import { counted } from '../text/number.ts';
import type { Coming, ListenOptions, Running } from './coming.ts';
import { probeFolder, tellingRecovery } from './inbox/answers-again.ts';
import { damagedText } from './inbox/file.ts';
import type { Arrival } from './inbox/line.ts';
import { watchOrders } from './inbox/orders.ts';
import { type Seat, seats, seatsFolder, takeSeat } from './inbox/seat.ts';
import { came, catchUp, filterOf, guarded, resume, takeRebuilt } from './passing-on.ts';
import { readingAgain } from './receiving/later-secrets.ts';
import { marking, newMark } from './receiving/own-mark.ts';
import { type Receiver, startReceiver } from './receiving/receiver.ts';
import type { Reporter } from './report.ts';
import { createForwarder, type Forwarder } from './sinks/forward.ts';
import { targetOf } from './sinks/routes.ts';
import { forgetSecret, keepSecret } from './subscriptions/secrets.ts';
import { hasLeftovers, reap, subscribe } from './subscriptions/subscriptions.ts';
import { openTunnel, type TunnelRecipe } from './subscriptions/tunnel.ts';

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
  const coming: Coming = {
    ctx,
    options,
    running,
    reporter,
    secrets: [...options.secrets],
    pathOfUrl,
    filter,
    mark: newMark(ctx),
  };
  const seat = await sitDown(coming);
  await removeLeftovers(ctx, options, seat);
  const forwarder = forwarding(coming, seat);
  await resume(coming, seat, forwarder);
  await options.missed?.begin();
  const receiver = await receive(coming, seat, forwarder);
  const take = (arrivals: readonly Arrival[]) => takeRebuilt(coming, { seat, forwarder }, arrivals);
  running.orders = watchOrders(seat.folder, async (order) => (order.kind === 'add' ? take(order.arrivals) : []));
  if (options.missed) running.catchingUp = catchUp(ctx, options.missed, take);
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
  running.seat = await takeSeat(root, {
    limit: options.inboxLimit,
    onDamage: (damaged) => ctx.notice(damagedText(damaged)),
  }).catch((error) => {
    throw new Failure('failed', `The inbox in ${root} cannot be used: ${messageOf(error)}`, {
      hint: 'Choose another folder with SVC_STATE_DIR.',
      cause: error,
    });
  });
  return running.seat;
}

function forwarding({ ctx, options, running, reporter, mark }: Coming, { inbox, held }: Seat): Forwarder {
  const send = marking(ctx.exchange, mark);
  const exchange: Context['exchange'] = async (request) => {
    try {
      held.check();
    } catch (error) {
      // Whoever has the inbox now passes it on.
      return { lost: 'before-sending', reason: 'aborted', detail: messageOf(error) };
    }
    return send(request);
  };
  running.forwarder = createForwarder({
    exchange,
    clock: ctx.clock,
    inbox,
    timeoutMs: options.timeoutMs,
    retryMs: options.retryMs,
    report: (...forwarded) => guarded(ctx, () => reporter.forwarded(...forwarded)),
  });
  return running.forwarder;
}

async function receive(coming: Coming, { inbox, folder, held }: Seat, forwarder: Forwarder): Promise<Receiver> {
  const { ctx, options, running, secrets } = coming;
  const { routes, laterSecrets } = options;
  const signal = AbortSignal.any([ctx.signal, held.lost]);
  const recovery = tellingRecovery({ clock: ctx.clock, notice: ctx.notice, probe: () => probeFolder(folder), signal });
  const receiver = await startReceiver({
    port: options.port,
    path: () => options.path ?? coming.pathOfUrl,
    secrets: () => secrets,
    ...(laterSecrets && {
      readSecrets: readingAgain(ctx, async () => {
        const found = await laterSecrets();
        secrets.push(...found.filter((secret) => !secrets.includes(secret)));
      }),
    }),
    inbox,
    clock: ctx.clock,
    mark: coming.mark,
    newId: () => `unreadable_${Buffer.from(ctx.random(6)).toString('hex')}`,
    forwardTo: (event) => targetOf(routes, event),
    onReceipt: (receipt) => came(coming, receipt, { inbox, forwarder }),
    onTrouble: (error) => {
      ctx.notice(
        `The inbox cannot be written (${messageOf(error)}): deliveries are held, so that the service sends them again.`,
      );
      recovery();
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

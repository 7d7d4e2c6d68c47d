import { webhookEvents } from '../../api/webhooks.ts';
import type { Context } from '../../context.ts';
import { orElsewhere } from '../../disk/place/elsewhere.ts';
import { messageOf } from '../../errors.ts';
import { counted } from '../../text/number.ts';
import { targetOf } from '../deliver/routes.ts';
import { readingAgain } from '../receive/later-secrets.ts';
import { unreadableId } from '../receive/options.ts';
import { marking, newMark } from '../receive/own-mark.ts';
import { type Receiver, startReceiver } from '../receive/receiver.ts';
import { damagedText, unusable } from '../store/folder/file.ts';
import { watchRequests } from '../store/folder/requests.ts';
import { claimSlot, type Slot, slots, slotsFolder } from '../store/folder/slot.ts';
import type { Arrival } from '../store/line.ts';
import { inboxOf, othersNotes } from '../store/listen-inbox.ts';
import { probeFolder, tellingRecovery } from '../store/recovery.ts';
import { forgetSecret, keepSecret } from '../subscriptions/secrets.ts';
import { hasLeftovers, reap, subscribe } from '../subscriptions/subscriptions.ts';
import { openTunnel, type TunnelRecipe } from '../subscriptions/tunnel.ts';
import type { ListenContext, ListenOptions, Running } from './context.ts';
import { createForwarder, type Forwarder } from './forwarder.ts';
import { type Beyond, came, catchUp, filterOf, guarded, passReplayed, resume, takeRebuilt } from './forwarding.ts';
import type { Reporter } from './report.ts';

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
  const context: ListenContext = {
    ctx,
    options,
    running,
    reporter,
    secrets: [...options.secrets],
    pathOfUrl,
    filter,
    mark: newMark(ctx),
  };
  const slot = await claimListenSlot(context);
  await removeLeftovers(ctx, options, slot);
  const beyond = { inbox: slot.inbox, forwarder: forwarding(context, slot) };
  await resume(context, beyond);
  const kept = await inboxOf(slotsFolder(ctx.files.state, options.profile), options.login ?? {});
  for (const note of await othersNotes(kept)) ctx.notice(note);
  await options.missed?.begin();
  const receiver = await receive(context, slot, beyond);
  const take = (arrivals: readonly Arrival[]) => takeRebuilt(context, beyond, arrivals);
  running.requests = watchRequests(slot.folder, async (request) => {
    if (request.kind === 'add') return take(request.arrivals);
    if (request.kind === 'move') return [];
    return Promise.all(request.replayed.map((one) => passReplayed(beyond, one)));
  });
  if (options.inspectPort !== undefined) await inspect(context, options.inspectPort, { slot, receiver, beyond });
  const rebuild = () => {
    if (options.missed) running.catchingUp = catchUp(ctx, options.missed, take);
  };
  if (!reach || baseUrl === undefined) return rebuild();

  const url = 'publicUrl' in reach ? reach.publicUrl : await openTunnelUrl(context, reach.tunnel, receiver.port);
  context.pathOfUrl = new URL(url).pathname;
  const events = routes.events ?? webhookEvents;
  for (const { id, secret } of await subscribe(slot.folder, { baseUrl, url, events }, await options.service())) {
    context.secrets.push(secret);
    if (options.storesSecrets) await keepSecret(ctx.tokens, options.profile, id, secret);
  }
  ctx.notice(`Subscribed ${url} to ${events.join(', ')}`);
  // What it signs with may have come with the subscriptions.
  rebuild();
}

/** The inbox, and what an earlier listener left in it. */
async function claimListenSlot({ ctx, options, running }: ListenContext): Promise<Slot> {
  const root = slotsFolder(ctx.files.state, options.profile);
  running.slot = await claimSlot(root, {
    limit: options.inboxLimit,
    ...options.login,
    onDamage: (damaged) => ctx.notice(damagedText(damaged)),
  }).catch((error) => {
    throw unusable(root, error, orElsewhere(), orElsewhere());
  });
  return running.slot;
}

/** Whoever has the inbox now passes on what is in it. */
function exchangeOf({ ctx, mark }: ListenContext, { held }: Slot): Context['exchange'] {
  const send = marking(ctx.exchange, mark);
  return async (request) => {
    try {
      held.check();
    } catch (error) {
      return { lost: 'before-sending', reason: 'aborted', detail: messageOf(error) };
    }
    return send(request);
  };
}

function forwarding(context: ListenContext, slot: Slot): Forwarder {
  const { ctx, options, running, reporter } = context;
  running.forwarder = createForwarder({
    exchange: exchangeOf(context, slot),
    clock: ctx.clock,
    inbox: slot.inbox,
    timeoutMs: options.timeoutMs,
    retryMs: options.retryMs,
    held: slot.held,
    report: (...forwarded) => guarded(ctx, () => reporter.forwarded(...forwarded)),
  });
  return running.forwarder;
}

async function receive(context: ListenContext, { inbox, folder, held }: Slot, beyond: Beyond): Promise<Receiver> {
  const { ctx, options, running, secrets } = context;
  const { routes, laterSecrets } = options;
  const signal = AbortSignal.any([ctx.signal, held.lost]);
  const recovery = tellingRecovery({ clock: ctx.clock, notice: ctx.notice, probe: () => probeFolder(folder), signal });
  const receiver = await startReceiver({
    port: options.port,
    doors: () => [{ path: options.path ?? context.pathOfUrl, secrets }],
    // Whoever gives a secret says whose deliveries are meant; those that are stored may be of an earlier login.
    ...(laterSecrets && { account: options.login?.account }),
    // A listen has one account, and its inbox never another.
    idIn: (_account, id) => id,
    ...(laterSecrets && {
      readSecrets: readingAgain(ctx, async () => {
        const found = await laterSecrets();
        secrets.push(...found.filter((secret) => !secrets.includes(secret)));
      }),
    }),
    inbox,
    clock: ctx.clock,
    mark: context.mark,
    newId: () => unreadableId(ctx),
    forwardTo: (event) => targetOf(routes, event),
    onReceipt: (receipt) => came(context, receipt, beyond),
    onProblem: (error, refusing) => {
      ctx.notice(
        `The inbox cannot be written (${messageOf(error)}): deliveries are held, so that the service sends them again.`,
      );
      recovery(refusing);
    },
  });
  running.receiver = receiver;
  ctx.notice(`Listening on ${receiver.url}${routes.forwardTo ? `, forwarding to ${routes.forwardTo}` : ''}`);
  return receiver;
}

type Up = { readonly slot: Slot; readonly receiver: Receiver; readonly beyond: Beyond };

async function inspect(context: ListenContext, port: number, { slot, receiver, beyond }: Up): Promise<void> {
  const { ctx, options, running, reporter } = context;
  const { openInspector } = await import('../inspector/open.ts');
  running.inspector = await openInspector(ctx, {
    port,
    inbox: slot.inbox,
    passed: (replayed) => passReplayed(beyond, replayed),
    exchange: exchangeOf(context, slot),
    clock: ctx.clock,
    timeoutMs: options.timeoutMs,
    target: (event) => targetOf(options.routes, event),
    listening: receiver.url,
    watch: reporter.watch,
    opensBrowser: options.opensBrowser,
  });
}

async function removeLeftovers(ctx: Context, options: ListenOptions, slot: Slot): Promise<void> {
  const { baseUrl, profile } = options;
  if (baseUrl === undefined || !(await hasLeftovers(slot.inherited, baseUrl))) return;
  const all = await slots(slotsFolder(ctx.files.state, profile));
  const living = all.filter((folder) => !slot.inherited.includes(folder));
  try {
    const removed = await reap(slot.inherited, living, baseUrl, await options.service());
    await Promise.all(removed.map((id) => forgetSecret(ctx.tokens, profile, id)));
    if (removed.length > 0) ctx.notice(`Removed ${counted(removed.length, 'subscription')} that an earlier run left.`);
  } catch (error) {
    if (options.reach) throw error;
    ctx.notice(`Subscriptions of an earlier run could not be removed: ${messageOf(error)}`);
  }
}

/** The tunnel to the receiver, and the URL that it gives us. */
async function openTunnelUrl(
  { ctx, running, options: { path } }: ListenContext,
  recipe: TunnelRecipe,
  port: number,
): Promise<string> {
  ctx.progress('Waiting for the tunnel');
  const tunnel = await openTunnel(recipe, port, ctx).finally(() => ctx.progress(undefined));
  running.tunnel = tunnel;
  void tunnel.died.then((how) => {
    ctx.notice(`The tunnel is gone: ${how}. No event arrives until svc webhooks listen is started again.`);
  });
  return path === undefined ? tunnel.url : new URL(path, tunnel.url).href;
}

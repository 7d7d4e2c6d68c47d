import { getAccount } from '../../api/account.ts';
import { listWebhooks, type WebhookEvent, webhookEvents } from '../../api/webhooks.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure, messageOf } from '../../errors.ts';
import { call, connect, type Service } from '../../http/call.ts';
import type { Arrival } from '../../webhooks/inbox/line.ts';
import { splitSecrets, storedSecret, storedSecrets } from '../../webhooks/subscriptions/secrets.ts';

export type Wanted = {
  /** Shows everything that the inbox holds, once. */
  readonly seeAll: (see: (arrival: Arrival) => undefined) => Promise<unknown>;
  /** Undefined: the last event received. */
  readonly since: string | undefined;
  readonly events: readonly WebhookEvent[] | undefined;
  /** Variables with signing secrets. */
  readonly env: readonly string[];
};

/** Deliveries that never arrived, oldest first, signed; and kinds that could not be read. */
export type Rebuilt = {
  readonly arrivals: readonly Arrival[];
  readonly unread: readonly WebhookEvent[];
  readonly since: Date;
};

/** Undefined where nothing says from when on. */
export async function rebuiltArrivals(ctx: Context, settings: Settings, wanted: Wanted): Promise<Rebuilt | undefined> {
  const { createMemory, arrivalOf, rebuiltSince } = await import('../../webhooks/rebuild/catch-up.ts');
  const { recordsOfService } = await import('../../webhooks/rebuild/records.ts');
  const { recordsFromCopy } = await import('./copied-records.ts');
  const memory = createMemory();
  await wanted.seeAll(memory.see);
  const since = wanted.since === undefined ? memory.latest() : new Date(wanted.since);
  if (since === undefined) return undefined;
  const events = wanted.events ?? webhookEvents;
  const service = await connect(ctx, settings);
  const secretOf = await signing(ctx, settings, service, wanted.env);
  const unread: WebhookEvent[] = [];
  const copied = await recordsFromCopy(ctx, settings, recordsOfService(service));
  try {
    const rebuilt = await rebuiltSince({
      events,
      since,
      held: memory.held,
      records: copied.records,
      accountId: () => accountIdOf(service),
      onUnread(event, error) {
        // Without a connection or a login none of them can be read.
        if (!(error instanceof Failure) || !['forbidden', 'not-found'].includes(error.kind)) throw error;
        unread.push(event);
        ctx.notice(`${event} cannot be rebuilt: ${messageOf(error)}`);
      },
    });
    const now = ctx.clock.now();
    return { arrivals: rebuilt.map((one) => arrivalOf(one, secretOf(one.event), now)), unread, since };
  } finally {
    await copied.close();
  }
}

/** A token without the scope `identity` may not ask. */
async function accountIdOf(service: Service): Promise<number | null> {
  try {
    return (await call(service, getAccount, {})).account_id;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'forbidden') return null;
    throw error;
  }
}

/** Of the variables the first, as everywhere before what is stored; else the newest one stored for the event, or any. */
async function signing(
  ctx: Context,
  { profile }: Settings,
  service: Service,
  env: readonly string[],
): Promise<(event: WebhookEvent) => string> {
  const [given] = env.flatMap((name) => splitSecrets(ctx.env[name] ?? ''));
  if (given !== undefined) return () => given;
  const [newest] = await storedSecrets(ctx.tokens, profile);
  if (newest === undefined) {
    throw new Failure('usage', 'No signing secret is known, so no event could be signed.', {
      hint: 'Set SVC_WEBHOOK_SECRET, or subscribe with svc webhooks create.',
    });
  }
  const byEvent = new Map<string, string>();
  // An account API key may not ask; then any secret that is stored will do, for the receiver knows all of them.
  const subscriptions = await call(service, listWebhooks, {}).then(
    ({ webhooks }) => webhooks,
    () => [],
  );
  for (const { id, event_type } of [...subscriptions].sort((a, b) => a.id - b.id)) {
    const secret = await storedSecret(ctx.tokens, profile, id);
    if (secret !== undefined) byEvent.set(event_type, secret);
  }
  return (event) => byEvent.get(event) ?? newest;
}

import { getAccount } from '../api/account.ts';
import { listWebhooks, type WebhookEvent } from '../api/webhooks.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure, messageOf } from '../errors.ts';
import { call, connect, type Service } from '../http/call/call.ts';
import { insteadOf } from '../promise/instead-of.ts';
import { counted } from '../text/number.ts';
import type { Arrival } from '../webhooks/store/line.ts';
import type { StartStore, Starts } from '../webhooks/store/starts.ts';
import { splitSecrets, storedSecret, storedSecrets } from '../webhooks/subscriptions/secrets.ts';
import type { ReadBefore } from './customer-messages.ts';

export type Wanted = {
  /** Shows everything that the inbox holds, once. */
  readonly seeAll: (see: (arrival: Arrival) => undefined) => Promise<unknown>;
  /** The events to look for, and from when on. */
  readonly starts: Starts;
  /** Variables with signing secrets; undefined where nothing is to leave, which needs no signature. */
  readonly env: readonly string[] | undefined;
  /** Whether to wait for what the service may still be sending. */
  readonly waits: boolean;
  /** Told what was searched to its end, once all that was given has been stored. */
  readonly over?: (searched: Starts) => Promise<void>;
  /** Of a search that is made again and again. */
  readonly readBefore?: ReadBefore;
};

export const nothingReceived =
  'Nothing was received yet, so nothing is missing. To begin earlier: svc webhooks catch-up --since 2d';

/** Where nothing else is stored from an earlier search that is not over: the last event received. Empty without one. */
export async function startsOf(
  { seeAll, starts }: Pick<Wanted, 'seeAll'> & { readonly starts: StartStore },
  events: readonly WebhookEvent[],
  { keeps }: { readonly keeps: boolean },
): Promise<Starts> {
  const { createMemory } = await import('./rebuilt-since.ts');
  const stored = await starts.read();
  const memory = createMemory();
  if (events.some((event) => !stored.has(event))) await seeAll(memory.see);
  const latest = memory.latest();
  const found = new Map<WebhookEvent, Date>();
  for (const event of events) {
    const since = stored.get(event) ?? latest;
    if (since) found.set(event, since);
  }
  if (!keeps || found.size === 0) return found;
  const kept = await starts.keep(found);
  return new Map([...found].map(([event, since]) => [event, kept.get(event) ?? since]));
}

export const earliest = (starts: Starts): Date | undefined =>
  [...starts.values()].reduce<Date | undefined>((one, other) => (one && one <= other ? one : other), undefined);

/** Deliveries that never arrived, oldest first, signed; and kinds that could not be read. */
export type Rebuilt = {
  readonly arrivals: readonly Arrival[];
  readonly unread: readonly WebhookEvent[];
  readonly since: Date;
  /** How many the service may still be sending. */
  readonly young: number;
  /** Why some could not be read that another search may find. */
  readonly failed: Failure | undefined;
};

/**
 * First what the service has surely given up on. Where more never came, waits until it has given up on that too, at most
 * two minutes, and then gives what still did not come.
 */
export async function* rebuiltArrivals(ctx: Context, settings: Settings, wanted: Wanted): AsyncGenerator<Rebuilt> {
  const { arrivalOf, createMemory, rebuiltSince } = await import('./rebuilt-since.ts');
  const { isMissing, SomeUnread } = await import('./customer-messages.ts');
  const { recordsOfService } = await import('./records.ts');
  const { recordsFromCopy } = await import('./copied-records.ts');
  const remembered = async () => {
    const memory = createMemory();
    await wanted.seeAll(memory.see);
    return memory;
  };
  const { starts, readBefore = new Map() } = wanted;
  const service = await connect(ctx, settings);
  const secretOf = await signing(ctx, settings, service, wanted.env);
  const copied = await recordsFromCopy(ctx, settings, recordsOfService(service, readBefore));
  const look = async (held: ReadonlySet<string>, until: Date | undefined) => {
    const unread: WebhookEvent[] = [];
    let failed: Failure | undefined;
    const { rebuilt, young } = await rebuiltSince({
      starts,
      held,
      until,
      records: copied.records,
      accountId: () => accountIdOf(service),
      serviceNow: () => serviceTime(ctx, service),
      onUnread(event, error) {
        // Without a connection or a login none of them can be read.
        if (!(error instanceof SomeUnread || isMissing(error))) throw error;
        unread.push(event);
        if (error instanceof SomeUnread && error.mayPass) failed = error;
        if (!until) ctx.notice(`${event} cannot be rebuilt: ${messageOf(error)}`);
      },
    });
    const searched = new Map([...starts].filter(([event]) => !unread.includes(event)));
    const since = earliest(searched) ?? earliest(starts) ?? new Date(0);
    const arrivals = rebuilt.map((one) => arrivalOf(one, secretOf(one.event), ctx.clock.now()));
    return { young, searched, found: { arrivals, unread, since, young: young.count, failed } };
  };
  try {
    const { found, young, searched } = await look((await remembered()).held, undefined);
    yield found;
    if (young.count === 0) await wanted.over?.(searched);
    if (young.count === 0 || !wanted.waits) return;
    const seconds = Math.ceil(young.forMs / 1000);
    ctx.notice(
      `${counted(young.count, 'more event')} happened less than two minutes ago, and the service may still send ${young.count === 1 ? 'it' : 'them'}. svc looks again in ${seconds} s.`,
    );
    await ctx.clock.sleep(young.forMs, ctx.signal);
    if (ctx.signal.aborted) return;
    const last = await look((await remembered()).held, young.until);
    // What the first look could not read, the second one reads only as far as the other events reach.
    const unread = [...new Set([...found.unread, ...last.found.unread])];
    yield { ...last.found, unread, failed: last.found.failed ?? found.failed };
    await wanted.over?.(new Map([...last.searched].filter(([event]) => !unread.includes(event))));
  } finally {
    await copied.close();
  }
}

/** By its own clock, as far as its answers told it. `Date` has whole seconds, so it is rather too early than too late. */
const serviceTime = ({ clock }: Context, { learnt }: Service): Date =>
  new Date(clock.now().getTime() + (learnt.clockAheadMs ?? 0));

/** A token without the scope `identity` may not ask. */
async function accountIdOf(service: Service): Promise<number | null> {
  const account = await call(service, getAccount, {}).catch(insteadOf(['forbidden'], undefined));
  return account?.account_id ?? null;
}

/** Of the variables the first, as everywhere before what is stored; else the newest one stored for the event, or any. */
async function signing(
  ctx: Context,
  { profile }: Settings,
  service: Service,
  env: readonly string[] | undefined,
): Promise<(event: WebhookEvent) => string> {
  if (env === undefined) return () => '';
  const [given] = env.flatMap((name) => splitSecrets(ctx.env[name] ?? ''));
  if (given !== undefined) return () => given;
  const [newest] = await storedSecrets(ctx.tokens, profile);
  if (newest === undefined) {
    const setting = env[0] === undefined ? 'To have one, ' : `Set ${env[0]} to what the receiver verifies with, or `;
    throw new Failure('usage', 'No signing secret is known, so no event could be signed.', {
      hint: [
        `${setting}subscribe with svc webhooks create.`,
        'The secrets of svc webhooks listen with --tunnel or --public-url end with it: start it again, with --catch-up.',
      ].join('\n'),
    });
  }
  const byEvent = new Map<string, string>();
  // An account API key may not ask; then any secret that is stored will do, for the receiver knows all of them.
  const { webhooks } = await call(service, listWebhooks, {}).catch(() => ({ webhooks: [] }));
  for (const { id, event_type } of [...webhooks].sort((a, b) => a.id - b.id)) {
    const secret = await storedSecret(ctx.tokens, profile, id);
    if (secret !== undefined) byEvent.set(event_type, secret);
  }
  return (event) => byEvent.get(event) ?? newest;
}

import { join } from 'node:path';
import { webhookEvents } from '../../api/webhooks.ts';
import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure, interruption } from '../../errors.ts';
import { localTime } from '../../output/cells.ts';
import type { View } from '../../output/view.ts';
import { counted } from '../../text/number.ts';
import { parsePast } from '../../text/time.ts';
import type { Arrival } from '../../webhooks/inbox/line.ts';
import { carryOut } from '../../webhooks/inbox/orders.ts';
import { occupant, seats, seatsFolder, takeSeat } from '../../webhooks/inbox/seat.ts';
import { received } from '../../webhooks/inbox/view.ts';
import { mainFields } from '../../webhooks/main-fields.ts';
import { envelopeIn } from '../../webhooks/receiving/delivery.ts';
import { parseEvents, parseTarget } from '../../webhooks/sinks/routes.ts';
import { configFlag, openConfigured } from './configured.ts';
import { type Rebuilt, rebuiltArrivals } from './rebuilding.ts';

export const catchUpWebhooks = defineCommand({
  name: 'catch-up',
  summary: 'Rebuild the events that never arrived, from the records',
  details:
    'The service gives up after three tries and keeps no log. svc makes the events again from contacts, tickets, calls, published changelog ' +
    "entries, feedback and customers' messages: signed, with the id rebuilt:EVENT:RECORD and the header X-SVC-Rebuilt: 1. What the inbox " +
    'holds is left out, and running it again sends nothing twice. What the service may still be sending is waited for, at most two minutes.\n\n' +
    'They go into the inbox, and then on like any other event: to the app of svc webhooks listen, or with --config to the sinks of svc ' +
    'webhooks serve. With --to they are sent to a URL instead.',
  args: {},
  flags: {
    since: {
      ...param.text(
        'Only what happened since then; 2d, 12h and 30m are understood (default: the last event received)',
        {
          placeholder: 'TIME',
        },
      ),
      parse: (texts: readonly string[], flag: string, now = new Date()) => parsePast(texts.at(-1) ?? '', flag, now),
    },
    events: { ...param.text('Only these', { placeholder: 'EVENT,EVENT' }), choices: webhookEvents },
    to: param.text('Send them to this URL', { placeholder: 'URL' }),
    config: configFlag,
    dryRun: param.toggle('Only list what would be rebuilt'),
  },
  examples: [
    'SVC_WEBHOOK_SECRET=sample svc webhooks catch-up --since 2d --dry-run',
    'SVC_WEBHOOK_SECRET=sample svc webhooks catch-up --since 30m --events ticket.created --dry-run --json',
  ],
  async run(ctx, { flags, settings }) {
    const events = flags.events === undefined ? undefined : parseEvents(flags.events, '--events');
    const to = flags.to === undefined ? undefined : parseTarget(flags.to, '--to');
    const inbox =
      flags.config === undefined ? listenerInbox(ctx, settings) : await serveInbox(ctx, settings, flags.config);
    const { seeAll, env } = inbox;
    const wanted = { seeAll, env, since: flags.since, events, waits: !flags.dryRun };
    const total = { rebuilt: 0, sent: 0, failed: 0 };
    let last: Rebuilt | undefined;
    try {
      for await (const found of rebuiltArrivals(ctx, settings, wanted)) {
        last = found;
        if (flags.dryRun) return planned(found);
        const { arrivals } = found;
        const done = to === undefined ? await inbox.take(arrivals) : await send(ctx, settings, to, arrivals);
        total.rebuilt += arrivals.length;
        total.sent += done.sent;
        total.failed += done.failed;
      }
    } finally {
      await inbox.close();
    }
    if (!last) {
      throw new Failure('usage', 'No event was received yet, so svc cannot tell where to begin.', {
        hint: 'Give --since, for example --since 2d',
      });
    }
    const { unread, since } = last;
    const { sent, failed } = total;
    const record = { since: since.toISOString(), ...total, not_readable: unread };
    return {
      data: { shape: 'record', record },
      ...(failed === 0 && { done: `Rebuilt ${counted(sent, 'event')} since ${localTime(record.since)}.` }),
      notes: to === undefined && sent > 0 ? [inbox.next] : [],
      outcome: failed > 0 || unread.length > 0 ? 'partial' : undefined,
      ...(failed > 0 && ctx.signal.aborted && { failure: interruption(ctx.signal) }),
    };
  },
});

const columns = [
  { path: 'created_at', header: 'Happened', rank: 2 },
  { path: 'event', header: 'Event', as: 'whole', rank: 1 },
  { path: 'id', header: 'ID', rank: 3 },
  { path: 'summary', header: 'Summary', rank: 4 },
] as const;

/** What would be rebuilt. */
function planned({ arrivals, unread, since, young }: Rebuilt): View {
  const records = arrivals.map(({ id, event, body }) => {
    const { created_at = null, data = null } = envelopeIn(body) ?? {};
    return { id, event, created_at, summary: mainFields(event, data).slice(0, 200), data };
  });
  const later = `${counted(young, 'more event')} happened less than two minutes ago: the service may still send ${young === 1 ? 'it' : 'them'}.`;
  return {
    data: { shape: 'list', records, columns, empty: 'Nothing would be rebuilt.' },
    notes: [
      `${counted(records.length, 'event')} since ${localTime(since.toISOString())} would be rebuilt. Nothing was sent or stored.`,
      ...(young > 0 ? [later] : []),
    ],
    outcome: unread.length > 0 ? 'partial' : undefined,
  };
}

type Done = { readonly sent: number; readonly failed: number };

type Inbox = {
  readonly seeAll: (see: (arrival: Arrival) => undefined) => Promise<unknown>;
  readonly env: readonly string[];
  readonly take: (arrivals: readonly Arrival[]) => Promise<Done>;
  /** What becomes of them. */
  readonly next: string;
  close(): Promise<void>;
};

async function send(
  ctx: Context,
  { profile, timeoutMs }: Settings,
  to: string,
  arrivals: readonly Arrival[],
): Promise<Done> {
  const { sendRebuilt } = await import('../../webhooks/rebuild/send.ts');
  const journal = join(ctx.files.state, 'webhooks', `rebuilt-${encodeURIComponent(profile)}.jsonl`);
  return sendRebuilt(ctx, arrivals, { to, journal, timeoutMs });
}

async function serveInbox(ctx: Context, settings: Settings, path: string): Promise<Inbox> {
  const { ledger, configured } = await openConfigured(ctx, settings, path);
  const { sinks = [], secrets } = configured?.config ?? {};
  const sinksFor = (event: string | null) =>
    sinks.filter(({ events }) => !events || events.some((each) => each === event)).map(({ name }) => name);
  return {
    seeAll: ledger.received,
    env: secrets?.env ?? [],
    next: 'svc webhooks serve passes them on.',
    async take(arrivals) {
      const added = await ledger.addAll(arrivals.map((one) => ({ ...one, sinks: sinksFor(one.event) })));
      return { sent: added.filter((each) => each === 'stored').length, failed: 0 };
    },
    close: () => ledger.close(),
  };
}

const idsIn = async (root: string): Promise<Set<string>> =>
  new Set((await received(root, ({ id }) => id)).map(({ value }) => value));

/** A listener that runs takes them; else they wait for the next one. */
function listenerInbox(ctx: Context, settings: Settings): Inbox {
  const root = seatsFolder(ctx.files.state, settings.profile);
  const add = async (arrivals: readonly Arrival[]) => {
    const seat = await takeSeat(root, { limit: Number.MAX_SAFE_INTEGER });
    try {
      // Where to, the next listener decides.
      const added = await Promise.all(arrivals.map((one) => seat.inbox.add({ ...one, owed: true })));
      return added.filter((each) => each === 'stored').length;
    } finally {
      await seat.leave();
    }
  };
  return {
    seeAll: (see) => received(root, see),
    env: ['SVC_WEBHOOK_SECRET'],
    next: 'svc webhooks listen --forward-to URL passes them on.',
    async take(arrivals) {
      if (arrivals.length === 0) return { sent: 0, failed: 0 };
      for (const folder of await seats(root)) {
        if ((await occupant(folder)) === undefined) continue;
        const before = await idsIn(root);
        let isTaken = true;
        await carryOut(
          { kind: 'add', arrivals },
          {
            folder,
            sleep: (ms) => ctx.clock.sleep(ms),
            alone: async () => {
              isTaken = false;
            },
          },
        );
        // It ended meanwhile.
        if (!isTaken) continue;
        const after = await idsIn(root);
        return { sent: arrivals.filter(({ id }) => after.has(id) && !before.has(id)).length, failed: 0 };
      }
      return { sent: await add(arrivals), failed: 0 };
    },
    close: async () => {},
  };
}

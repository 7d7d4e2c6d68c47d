import { join } from 'node:path';
import { type WebhookEvent, webhookEvents } from '../../api/webhooks.ts';
import { type Inbox, inboxFor } from '../../catchup/inbox.ts';
import { type Rebuilt, rebuiltArrivals, startsOf } from '../../catchup/rebuilding.ts';
import type { SendResult, SendResults } from '../../catchup/send.ts';
import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { past } from '../../command/past.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure, interruption } from '../../errors.ts';
import { localTime } from '../../output/cells.ts';
import type { View } from '../../output/view.ts';
import { counted } from '../../text/number.ts';
import { parseEvents, parseTarget } from '../../webhooks/deliver/routes.ts';
import { envelopeIn } from '../../webhooks/event/envelope.ts';
import { mainFields } from '../../webhooks/event/main-fields.ts';
import type { Arrival } from '../../webhooks/store/line.ts';
import type { Starts } from '../../webhooks/store/starts.ts';
import { accountFlag, configFlag } from './flags.ts';

export const catchUpWebhooks = defineCommand({
  name: 'catch-up',
  summary: 'Rebuild the events that never arrived, from the records',
  details:
    'The service gives up after three tries and keeps no log. svc makes the events again from contacts, tickets, calls, published changelog ' +
    "entries, feedback and customers' messages: signed, with the id rebuilt:EVENT:RECORD and the header X-SVC-Rebuilt: 1. What the inbox " +
    'holds is left out, and running it again sends nothing twice. What the service may still be sending is waited for, at most two minutes.\n\n' +
    'They go into the inbox, and from there on like any other event: to the app of svc webhooks listen; with --config, or where only svc ' +
    'webhooks serve runs, to its sinks. With --to they are sent to a URL instead.',
  flags: {
    since: past(
      'Only what happened since then; 2d, 12h and 30m are understood (default: five minutes before the last event received)',
    ),
    events: { ...param.text('Only these', { placeholder: 'EVENT,EVENT', commas: true }), choices: webhookEvents },
    to: param.text('Send them to this URL', { placeholder: 'URL' }),
    config: configFlag,
    account: accountFlag,
    dryRun: param.toggle('Only list what would be rebuilt'),
  },
  examples: [
    'svc webhooks catch-up --since 2d --dry-run',
    'svc webhooks catch-up --since 30m --events ticket.created --dry-run --json',
  ],
  async run(ctx, { flags, settings }) {
    const events = flags.events === undefined ? undefined : parseEvents(flags.events);
    const to = flags.to === undefined ? undefined : parseTarget(flags.to, '--to');
    const inbox = await inboxFor(ctx, settings, { given: flags.config, account: flags.account });
    const { seeAll, env } = inbox;
    const results = new Map<string, SendResult>();
    let last: Rebuilt | undefined;
    try {
      const starts = await begin(inbox, events, { since: flags.since, keeps: to === undefined && !flags.dryRun });
      const over = to === undefined && !flags.dryRun ? inbox.starts.forget : undefined;
      const wanted = {
        seeAll,
        env: flags.dryRun ? undefined : env,
        starts,
        waits: !flags.dryRun,
        ...(over && { over }),
      };
      for await (const found of rebuiltArrivals(inbox.ctx, inbox.settings, wanted)) {
        last = found;
        if (flags.dryRun)
          return planned(found, inbox.about, to === undefined ? new Set() : await sentTo(ctx, inbox.settings, to));
        // What waited for the service to give up is looked for among all the rest once more.
        const left = found.arrivals.filter(({ id }) => (results.get(id) ?? 'failed') === 'failed');
        const done = to === undefined ? await inbox.take(left) : await send(ctx, inbox.settings, to, left);
        for (const [id, result] of done) results.set(id, result);
      }
    } finally {
      await inbox.close();
    }
    if (!last) throw interruption(ctx.signal);
    return told(ctx, last, results, { ...inbox, isSent: to !== undefined });
  },
});

/** An explicit start is of this run alone: a later one must not begin there by itself. */
async function begin(
  inbox: Inbox,
  events: readonly WebhookEvent[] | undefined,
  { since, keeps }: { readonly since: string | undefined; readonly keeps: boolean },
): Promise<Starts> {
  const some = events ?? webhookEvents;
  if (since !== undefined) return new Map(some.map((event) => [event, new Date(since)]));
  const starts = await startsOf(inbox, some, { keeps });
  if (starts.size > 0) return starts;
  throw new Failure('usage', 'No event was received yet, so svc cannot tell where to begin.', {
    hint: ['Give --since, for example --since 2d', ...inbox.about].join('\n'),
  });
}

/** For people: what the inbox took was not sent yet. */
const sums = ['since', 'rebuilt', 'sent', 'repeated', 'failed', 'not_readable'];

/** Each event counts once, by what became of it in the end. */
function told(
  ctx: Context,
  { unread, since, young }: Rebuilt,
  results: SendResults,
  { next, about, isSent }: Pick<Inbox, 'next' | 'about'> & { readonly isSent: boolean },
): View {
  const count = (wanted: SendResult) => [...results.values()].filter((result) => result === wanted).length;
  const [sent, repeated, failed] = [count('sent'), count('repeated'), count('failed')];
  const counts = { rebuilt: results.size, sent, repeated, failed, not_readable: unread };
  const record = { since: since.toISOString(), ...counts, queued: isSent ? 0 : sent };
  const isCut = ctx.signal.aborted && (failed > 0 || young > 0);
  const before = repeated > 0 ? ` ${counted(repeated, 'more event')} had gone there before.` : '';
  return {
    data: { shape: 'record', record, columns: isSent ? sums : sums.map((name) => (name === 'sent' ? 'queued' : name)) },
    ...(failed === 0 &&
      !isCut && { done: `Rebuilt ${counted(sent, 'event')} since ${localTime(record.since)}.${before}` }),
    notes: [
      ...(sent > 0 && !isSent ? [next] : []),
      ...(isCut && young > 0
        ? [`svc did not look again for ${counted(young, 'event')}. Run the same command again.`]
        : []),
      ...about,
    ],
    outcome: failed > 0 || unread.length > 0 ? 'partial' : undefined,
    why: whyPartial(failed, unread),
    ...(isCut && { failure: interruption(ctx.signal) }),
  };
}

const whyPartial = (failed: number, unread: Rebuilt['unread']): string =>
  [
    ...(failed > 0 ? [`${counted(failed, 'event')} did not arrive.`] : []),
    ...(unread.length > 0 ? [`What happened could not be read of: ${unread.join(', ')}.`] : []),
  ].join(' ');

const columns = [
  { path: 'created_at', header: 'Happened', rank: 2 },
  { path: 'event', header: 'Event', as: 'whole', rank: 1 },
  { path: 'id', header: 'ID', rank: 3 },
  { path: 'summary', header: 'Summary', rank: 4 },
] as const;

/** What would be rebuilt. */
function planned(
  { arrivals, unread, since, young }: Rebuilt,
  about: readonly string[],
  sent: ReadonlySet<string>,
): View {
  const missing = arrivals.filter(({ id }) => !sent.has(id));
  const records = missing.map(({ id, event, body }) => {
    const { created_at = null, data = null } = envelopeIn(body) ?? {};
    return { id, event, created_at, summary: mainFields(event, data).slice(0, 200), data };
  });
  const later = `${counted(young, 'more event')} happened less than two minutes ago: the service may still send ${young === 1 ? 'it' : 'them'}.`;
  return {
    read: true,
    data: {
      ...{ shape: 'list', records, columns },
      known: ['id', 'event', 'created_at', 'summary', 'data'],
    },
    notes: [
      `${counted(records.length, 'event')} since ${localTime(since.toISOString())} would be rebuilt. Nothing was sent or stored.`,
      ...(young > 0 ? [later] : []),
      ...about,
    ],
    outcome: unread.length > 0 ? 'partial' : undefined,
    why: whyPartial(0, unread),
  };
}

const journalOf = ({ files }: Context, { profile }: Settings): string =>
  join(files.state, 'webhooks', `rebuilt-${encodeURIComponent(profile)}.jsonl`);

async function send(ctx: Context, settings: Settings, to: string, arrivals: readonly Arrival[]): Promise<SendResults> {
  const { sendRebuilt } = await import('../../catchup/send.ts');
  const { timeoutMs } = settings;
  return sendRebuilt(ctx, arrivals, { to, journal: journalOf(ctx, settings), timeoutMs });
}

async function sentTo(ctx: Context, settings: Settings, to: string): Promise<ReadonlySet<string>> {
  const { sentBefore } = await import('../../catchup/send.ts');
  return sentBefore({ to, journal: journalOf(ctx, settings) });
}

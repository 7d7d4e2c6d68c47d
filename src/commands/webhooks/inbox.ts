import { webhookEvents } from '../../api/webhooks.ts';
import { defineCommand, type Group } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { counted, number } from '../../text/number.ts';
import { sanitize } from '../../text/sanitize.ts';
import { replay as replayOnce } from '../../webhooks/deliver/replay.ts';
import { parseTarget } from '../../webhooks/deliver/routes.ts';
import { envelopeIn } from '../../webhooks/event/envelope.ts';
import { mainFields } from '../../webhooks/event/main-fields.ts';
import { urlOfSink } from '../../webhooks/serve/configured.ts';
import { deliveryOf } from '../../webhooks/store/delivery.ts';
import { type Forwarding, forwardOf } from '../../webhooks/store/forwarding.ts';
import type { Arrival } from '../../webhooks/store/line.ts';
import { unsureOf } from '../../webhooks/store/listen-inbox.ts';
import { taken } from '../../webhooks/store/outcome-words.ts';
import { page } from './delivery-page.ts';
import { accountFlag, configFlag } from './flags.ts';
import { chosen, look, lookUp, lookUpOne, receivedEvents } from './inbox-look.ts';
import { purge } from './inbox-purge.ts';

const received = { placeholder: 'ID', from: { command: 'webhooks inbox list', choices: receivedEvents } };
const ids = { id: { ...param.texts('Envelope id, or its beginning'), ...received, required: true } };

/** A sink that is no URL answers nothing. */
function answerOf({ forward }: { readonly forward: Forwarding | null }): unknown {
  return forward?.state === 'answered' ? (forward.status ?? taken) : forward?.status;
}

/** An event is looked up by the beginning of its id too: what became of it needs the room more. */
const columns = [
  { path: 'received_at', header: 'Received', rank: 5 },
  { path: 'event', header: 'Event', as: 'whole', rank: 1 },
  { path: 'id', header: 'ID', rank: 2, cuts: () => true },
  { path: 'summary', header: 'Summary', rank: 6 },
  { path: 'account', header: 'Account', as: 'whole', rank: 8 },
  { path: 'verdict', header: 'Verdict', as: 'whole', rank: 4 },
  { path: 'forward.state', header: 'Forwarding', as: 'whole', rank: 7 },
  { path: 'forward.status', header: 'Answer', rank: 3, see: answerOf },
] as const;

/** A typing error must not look like an account without events. */
async function requireAccount(ctx: Context, config: string | undefined, account: string): Promise<void> {
  const [{ chosenAccount }, { readServeConfig }] = [
    await import('../../catchup/accounts.ts'),
    await import('../../webhooks/serve/config.ts'),
  ];
  chosenAccount(config === undefined ? undefined : (await readServeConfig(ctx, config)).config, account);
}

const list = defineCommand({
  name: 'list',
  summary: 'List received events, newest first, earlier runs included',
  flags: {
    event: param.choice('Only this event', webhookEvents),
    limit: param.integer('At most N events (default 50)', { min: 1, conflicts: ['all'] }),
    all: param.toggle('Every event'),
    config: configFlag,
    account: accountFlag,
  },
  examples: ['svc webhooks inbox list', 'svc webhooks inbox list --event ticket.created --json'],
  async run(ctx, { flags, settings }) {
    const { opened, about, unsure } = await chosen(ctx, settings, flags.config);
    const had = new Set<string | undefined>();
    const most = flags.all ? undefined : (flags.limit ?? 50);
    const view = (arrival: Arrival) => {
      if (flags.event !== undefined && arrival.event !== flags.event) return undefined;
      if (flags.account !== undefined) had.add(arrival.account);
      if (flags.account !== undefined && arrival.account !== flags.account) return undefined;
      const { id, account = null, event, at, unreadable, body, to, owed, sinks } = arrival;
      const { data = null, created_at = null } = envelopeIn(body) ?? {};
      const verdict = unreadable === undefined ? 'accepted' : 'unreadable';
      const summary = unreadable ?? mainFields(event, data).slice(0, 200);
      return {
        record: { id, account, event, received_at: at, created_at, verdict, summary, size: body.length },
        owing: { to, owed, sinks },
      };
    };
    const { seen, isAll } = await look(ctx, settings, opened, { view, most });
    // One that was taken out of the configuration may have events here all the same.
    if (flags.account !== undefined && !had.has(flags.account)) await requireAccount(ctx, opened.config, flags.account);
    // An empty list would say that nothing came.
    if (seen.length === 0 && unsure) throw unsureOf(unsure);
    const found = [...seen].reverse();
    const shown = found.slice(0, most);
    const records = shown.map(({ value: { record, owing }, outcomes }) => ({
      ...record,
      forward: forwardOf(owing, outcomes),
    }));
    const isCut = !isAll || found.length > records.length;
    // What waits may be older than all that is listed.
    const open = isCut ? (await look(ctx, settings, opened, { view, isOpen: true })).seen : shown;
    return {
      read: true,
      data: {
        shape: 'list',
        records,
        columns: columns.filter(({ path }) => path !== 'account' || records.some(({ account }) => account !== null)),
        empty: 'No events received yet.',
      },
      notes: [
        ...(isCut && flags.limit === undefined
          ? [
              `Showing ${isAll ? '' : 'the newest '}${number(records.length)}${isAll ? ` of ${number(found.length)}` : ''}. For more: --limit N, or --all.`,
            ]
          : []),
        ...waitingNotes(
          open.map(({ value: { owing }, outcomes }) => ({ sinks: owing.sinks, forward: forwardOf(owing, outcomes) })),
        ),
        ...about,
      ],
    };
  },
});

const show = defineCommand({
  name: 'show',
  summary: 'Show one event: headers, payload, verdict and forwarding',
  args: { id: { ...param.requiredText('Envelope id, or its beginning'), ...received } },
  flags: { config: configFlag },
  needs: 'an event that was received: svc webhooks inbox list',
  examples: ['svc webhooks inbox show evt_1 --json'],
  async run(ctx, { args, flags, settings }) {
    const { opened, about } = await chosen(ctx, settings, flags.config);
    const delivery = deliveryOf(await lookUpOne(ctx, settings, opened, args.id));
    return {
      read: true,
      data: { shape: 'record', record: delivery },
      human: ({ paint }) => page(delivery, paint),
      notes: about,
    };
  },
});

const replayColumns = [
  { path: 'id', header: 'ID', rank: 1 },
  { path: 'event', header: 'Event', as: 'whole', rank: 3 },
  { path: 'to', header: 'To', rank: 4 },
  { path: 'status', header: 'Answer', as: 'whole', rank: 2 },
  { path: 'error', header: 'Error', rank: 5 },
  { path: 'ms', header: 'Took (ms)', rank: 6 },
] as const;

const replay = defineCommand({
  name: 'replay',
  summary: 'Send stored events again: the same bytes with their original headers',
  details: 'Without --to, each event goes where it was forwarded before.',
  args: ids,
  flags: { to: param.text('Where to send them', { placeholder: 'URL' }), config: configFlag },
  needs: 'an event that was received: svc webhooks inbox list',
  examples: ['svc webhooks inbox replay evt_1 --to http://localhost:3000/hooks'],
  async run(ctx, { args, flags, settings }) {
    const to = flags.to === undefined ? undefined : parseTarget(flags.to, '--to');
    const { opened, about } = await chosen(ctx, settings, flags.config);
    const found = await lookUp(ctx, settings, opened, args.id);
    const named = opened.config === undefined ? undefined : await urlOfSink(ctx, opened.config);
    const planned = found.map(({ arrival, outcomes }) => {
      const before = outcomes.at(-1)?.to ?? arrival.to ?? arrival.sinks?.[0];
      const target = to ?? (named && before !== undefined ? named(before) : before);
      if (target !== undefined && URL.canParse(target)) return { arrival, target };
      const isSink = named !== undefined && before !== undefined;
      const why = isSink ? `went to ${before}, which is no HTTP sink` : 'was never forwarded';
      throw new Failure('usage', `${arrival.id} ${why}, so --to URL is needed.`);
    });
    const records: ({ readonly id: string; readonly event: string | null } & Forwarding)[] = [];
    for (const { arrival, target } of planned) {
      const replayed = await replayOnce(ctx, { arrival }, { to: target, timeoutMs: settings.timeoutMs });
      records.push({ id: arrival.id, event: arrival.event, ...replayed });
    }
    const failed = records.filter(({ status }) => status === null || status >= 300);
    return {
      data: { shape: 'list', records, columns: replayColumns },
      notes: [
        ...(failed.length > 0
          ? [`${number(failed.length)} of ${number(records.length)} did not get a 2xx answer.`]
          : []),
        ...about,
      ],
      outcome: failed.length > 0 ? 'partial' : undefined,
    };
  },
});

export const inbox: Group = {
  name: 'inbox',
  summary: 'Events that svc webhooks listen or serve received',
  commands: [list, show, replay, purge],
};

type Listed = { readonly sinks: readonly string[] | undefined; readonly forward: Forwarding | null | undefined };

/** A sentence for each place that events wait for, and who brings them there; those of five places at most. */
function waitingNotes(listed: readonly Listed[]): string[] {
  const places = new Map<string, number>();
  for (const { sinks, forward } of listed) {
    if (forward?.state !== 'waiting') continue;
    const place = placeOf(sinks !== undefined, forward.to);
    places.set(place, (places.get(place) ?? 0) + 1);
  }
  return [...places]
    .slice(0, 5)
    .map(([place, count]) => `${counted(count, 'event')} ${count === 1 ? 'waits' : 'wait'} for ${place}`);
}

function placeOf(isOfServe: boolean, to: string | null): string {
  if (to === null) return 'the next svc webhooks listen --forward-to URL.';
  const named = sanitize(to);
  return isOfServe
    ? `${named}: svc webhooks serve delivers what waits for a sink, in order.`
    : `${named}: svc webhooks listen forwards what waits, in order, while it runs.`;
}

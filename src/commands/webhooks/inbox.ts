import { webhookEvents } from '../../api/webhooks.ts';
import { forMore, limitOrAllFlags } from '../../command/at-most.ts';
import { defineCommand, type Group } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import type { Context } from '../../context.ts';
import { number } from '../../text/number.ts';
import { envelopeIn } from '../../webhooks/event/envelope.ts';
import { mainFields } from '../../webhooks/event/main-fields.ts';
import { isGood } from '../../webhooks/listen/report.ts';
import { deliveryOf } from '../../webhooks/store/delivery.ts';
import { type Forwarding, forwardOf } from '../../webhooks/store/forwarding.ts';
import type { Arrival } from '../../webhooks/store/line.ts';
import { unsureOf } from '../../webhooks/store/listen-inbox.ts';
import { taken } from '../../webhooks/store/outcome-words.ts';
import { page } from './delivery-page.ts';
import { accountFlag, configFlag } from './flags.ts';
import { chosen, look, lookUpOne, received, whereNone } from './inbox-look.ts';
import { purge } from './inbox-purge.ts';
import { replay } from './inbox-replay.ts';
import { waitingNotes } from './waiting-notes.ts';

/** A sink that is no URL answers nothing. */
function answerOf({ forward }: { readonly forward: Forwarding | null }): unknown {
  return forward?.state === 'answered' ? (forward.status ?? taken) : forward?.status;
}

/** The state alone would call an app that fails one that has it. */
function stateOf({ forward }: { readonly forward: Forwarding | null }): unknown {
  return forward?.state === 'answered' && !isGood(forward)
    ? `${forward.state} ${answerOf({ forward })}`
    : forward?.state;
}

const columns = [
  { path: 'received_at', header: 'Received', rank: 4 },
  { path: 'event', header: 'Event', as: 'whole', rank: 3 },
  { path: 'id', header: 'ID', rank: 1 },
  { path: 'summary', header: 'Summary', rank: 6 },
  { path: 'account', header: 'Account', as: 'whole', rank: 8 },
  { path: 'verdict', header: 'Verdict', as: 'whole', rank: 9 },
  { path: 'forward.state', header: 'Forwarding', as: 'whole', rank: 2, see: stateOf },
  { path: 'forward.status', header: 'Answer', rank: 7, see: answerOf },
] as const;

/** What is listed of each. */
const listed = ['id', 'account', 'event', 'received_at', 'created_at', 'verdict', 'summary', 'size', 'forward'];

type Shown = { readonly account: string | null; readonly forward: Forwarding | null };

/** What is the same of all tells none of them from another: it goes before the time does. */
function columnsOf(records: readonly Shown[]) {
  const states = new Set(records.map(stateOf));
  return columns
    .filter(({ path }) => path !== 'account' || records.some(({ account }) => account !== null))
    .map((column) => (column.path === 'forward.state' && states.size < 2 ? { ...column, rank: 5 } : column));
}

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
    ...limitOrAllFlags('At most N events (default 50)', 'Every event'),
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
        columns: columnsOf(records),
        known: listed,
        empty: 'No events received yet.',
      },
      notes: [
        ...(isCut && flags.limit === undefined
          ? [
              `Showing ${isAll ? '' : 'the newest '}${number(records.length)}${isAll ? ` of ${number(found.length)}` : ''}. ${forMore}`,
            ]
          : []),
        ...waitingNotes(
          open.map(({ value: { owing }, outcomes }) => ({ sinks: owing.sinks, forward: forwardOf(owing, outcomes) })),
        ),
        ...whereNone(opened, records),
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

export const inbox: Group = {
  name: 'inbox',
  summary: 'Events that svc webhooks listen or serve received',
  commands: [list, show, replay, purge],
};

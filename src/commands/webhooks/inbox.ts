import { join } from 'node:path';
import { webhookEvents } from '../../api/webhooks.ts';
import { defineCommand, type Group } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { removeFile } from '../../disk/folder.ts';
import { Failure } from '../../errors.ts';
import { counted, number } from '../../text/number.ts';
import { shellWord } from '../../text/shell-word.ts';
import { inboxFile } from '../../webhooks/inbox/file.ts';
import type { Received } from '../../webhooks/inbox/inbox.ts';
import { occupant, seats, seatsFolder, whileFree } from '../../webhooks/inbox/seat.ts';
import { received, type Seen, type View } from '../../webhooks/inbox/view.ts';
import { mainFields } from '../../webhooks/main-fields.ts';
import { deliveryOf, envelopeIn, forwardOf } from '../../webhooks/receiving/delivery.ts';
import { createForwarder, type Forwarding } from '../../webhooks/sinks/forward.ts';
import { parseTarget } from '../../webhooks/sinks/routes.ts';
import { type Chosen, choose, configFlag, openConfigured, urlOfSink } from './configured.ts';
import { page } from './delivery-page.ts';

const ids = { id: { ...param.texts('Envelope id'), placeholder: 'ID', required: true } };

/** Of `listen`, or of the configuration of `serve`. */
async function look<T>(
  ctx: Context,
  settings: Settings,
  config: string | undefined,
  view: View<T>,
): Promise<readonly Seen<T>[]> {
  if (config === undefined) return received(rootOf(ctx, settings), view);
  const { ledger } = await openConfigured(ctx, settings, config);
  try {
    return await ledger.received(view);
  } finally {
    await ledger.close();
  }
}

/** Says which inbox it is, for there may be several. */
async function chosen(ctx: Context, given: string | undefined): Promise<Chosen> {
  const { config, about } = await choose(ctx, given);
  if (config !== undefined) return { config, about };
  return {
    config,
    about: ['The inbox of svc webhooks listen. For that of serve: --config FILE'],
  };
}

const rootOf = (ctx: Context, settings: Settings): string => seatsFolder(ctx.files.state, settings.profile);

/** Nobody looks an unreadable event up by the whole of its id, which may be of any length. */
const columns = [
  { path: 'received_at', header: 'Received', rank: 3 },
  { path: 'event', header: 'Event', as: 'whole', rank: 1 },
  { path: 'id', header: 'ID', rank: 2, cuts: ({ verdict }: { verdict: string }) => verdict === 'unreadable' },
  { path: 'summary', header: 'Summary', rank: 4 },
  { path: 'verdict', header: 'Verdict', as: 'whole', rank: 6 },
  { path: 'forward.state', header: 'Forwarding', as: 'whole', rank: 7 },
  { path: 'forward.status', header: 'Answer', rank: 5 },
] as const;

const list = defineCommand({
  name: 'list',
  summary: 'List received events, newest first, earlier runs included',
  args: {},
  flags: {
    event: param.choice('Only this event', webhookEvents),
    limit: param.integer('At most N events (default 50)', { min: 1, conflicts: ['all'] }),
    all: param.toggle('Every event'),
    config: configFlag,
  },
  examples: ['svc webhooks inbox list', 'svc webhooks inbox list --event ticket.created --json'],
  async run(ctx, { flags, settings }) {
    const { config, about } = await chosen(ctx, flags.config);
    const seen = await look(ctx, settings, config, (arrival) => {
      if (flags.event !== undefined && arrival.event !== flags.event) return undefined;
      const { id, event, at, unreadable, body, to, owed, sinks } = arrival;
      const { data = null, created_at = null } = envelopeIn(body) ?? {};
      const verdict = unreadable === undefined ? 'accepted' : 'unreadable';
      const summary = unreadable ?? mainFields(event, data).slice(0, 200);
      return {
        record: { id, event, received_at: at, created_at, verdict, summary, size: body.length },
        owing: { to, owed, sinks },
      };
    });
    const found = [...seen].reverse();
    const shown = found.slice(0, flags.all ? undefined : (flags.limit ?? 50));
    const records = shown.map(({ value: { record, owing }, outcomes }) => ({
      ...record,
      forward: forwardOf(owing, outcomes),
    }));
    const left = found.length - records.length;
    return {
      read: true,
      data: { shape: 'list', records, columns, empty: 'No events received yet.' },
      notes: [
        ...(left > 0 && flags.limit === undefined
          ? [`Showing ${number(records.length)} of ${number(found.length)}. For more: --limit N, or --all.`]
          : []),
        ...about,
      ],
    };
  },
});

const show = defineCommand({
  name: 'show',
  summary: 'Show one event: headers, payload, verdict and forwarding',
  args: { id: { ...param.requiredText('Envelope id'), placeholder: 'ID' } },
  flags: { config: configFlag },
  examples: ['svc webhooks inbox show evt_1 --json'],
  async run(ctx, { args, flags, settings }) {
    const { config, about } = await chosen(ctx, flags.config);
    const delivery = deliveryOf(await lookUpOne(ctx, settings, config, args.id));
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
  examples: ['svc webhooks inbox replay evt_1 --to http://localhost:3000/hooks'],
  async run(ctx, { args, flags, settings }) {
    const to = flags.to === undefined ? undefined : parseTarget(flags.to, '--to');
    const { config, about } = await chosen(ctx, flags.config);
    const found = await lookUp(ctx, settings, config, args.id);
    const named = config === undefined ? undefined : await urlOfSink(ctx, config);
    const planned = found.map(({ arrival, outcomes }) => {
      const before = outcomes.at(-1)?.to ?? arrival.to ?? arrival.sinks?.[0];
      const target = to ?? (named && before !== undefined ? named(before) : before);
      if (target !== undefined && URL.canParse(target)) return { arrival, target };
      const isSink = named !== undefined && before !== undefined;
      const why = isSink ? `went to ${before}, which is no HTTP sink` : 'was never forwarded';
      throw new Failure('usage', `${arrival.id} ${why}, so --to URL is needed.`);
    });
    const byId = new Map(found.map((one) => [one.arrival.id, one]));
    const forwarder = createForwarder({
      exchange: ctx.exchange,
      clock: ctx.clock,
      inbox: { read: async (id) => byId.get(id), settle: async () => {} },
      timeoutMs: settings.timeoutMs,
      report: () => {},
    });
    const records: ({ readonly id: string; readonly event: string | null } & Forwarding)[] = [];
    for (const { arrival, target } of planned) {
      const forwarding = await forwarder.replay(arrival.id, target);
      if (forwarding) records.push({ id: arrival.id, event: arrival.event, ...forwarding });
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

const purge = defineCommand({
  name: 'purge',
  summary: 'Delete everything in the inbox',
  details: 'Without --config: the inbox of svc webhooks listen, also while svc webhooks serve runs.',
  args: {},
  flags: { config: configFlag },
  examples: ['svc webhooks inbox purge --yes'],
  async run(ctx, { flags, settings }) {
    if (flags.config !== undefined) return purgeConfigured(ctx, settings, flags.config);
    const folders = await seats(rootOf(ctx, settings));
    for (const folder of folders) {
      const pid = await occupant(folder);
      if (pid !== undefined) throw inUse(pid);
    }
    const found = await received(rootOf(ctx, settings), ({ id }) => id);
    const count = found.length;
    if (count > 0) await confirmed(ctx, settings, `Delete ${counted(count, 'received event')} for good?`);
    for (const folder of folders) {
      const done = await whileFree(folder, () => removeFile(join(folder, inboxFile)));
      if (!done) throw inUse(await occupant(folder));
    }
    return {
      data: { shape: 'record', record: { deleted: count } },
      done: count === 0 ? 'The inbox was empty.' : `Deleted ${counted(count, 'event')} for good.`,
    };
  },
});

async function purgeConfigured(ctx: Context, settings: Settings, config: string) {
  const { ledger } = await openConfigured(ctx, settings, config);
  try {
    const { length: count } = await ledger.received(({ id }) => id);
    const question = `Delete ${counted(count, 'received event')} for good, also what waits and the dead letters?`;
    if (count > 0) await confirmed(ctx, settings, question);
    if (count > 0) await ledger.purge();
    return {
      data: { shape: 'record', record: { deleted: count } },
      done: count === 0 ? 'The inbox was empty.' : `Deleted ${counted(count, 'event')} for good.`,
    } as const;
  } finally {
    await ledger.close();
  }
}

const inUse = (pid: number | undefined): Failure =>
  new Failure('failed', `svc webhooks listen is running (process ${pid ?? 'unknown'}) and uses the inbox.`, {
    hint: 'Stop it first, then purge.',
  });

export const inbox: Group = {
  name: 'inbox',
  summary: 'Events that svc webhooks listen or serve received',
  commands: [list, show, replay, purge],
};

/** In the order asked for. */
async function lookUp(
  ctx: Context,
  settings: Settings,
  config: string | undefined,
  wanted: readonly string[],
): Promise<Received[]> {
  const found = await look(ctx, settings, config, (arrival) =>
    wanted.some((id) => arrival.id.startsWith(id)) ? arrival : undefined,
  );
  return wanted.map((id) => theOne(found, id, config));
}

const lookUpOne = async (ctx: Context, settings: Settings, config: string | undefined, id: string): Promise<Received> =>
  theOne(await look(ctx, settings, config, (arrival) => (arrival.id.startsWith(id) ? arrival : undefined)), id, config);

/** The beginning of an id is enough where only one begins so. */
function theOne(found: readonly Seen<Received['arrival']>[], id: string, config: string | undefined): Received {
  const begun = found.filter(({ value }) => value.id.startsWith(id));
  const exact = begun.filter(({ value }) => value.id === id);
  const [one, another] = exact.length > 0 ? exact : begun;
  if (another) throw new Failure('usage', `Several ids begin with ${id}.`, { hint: 'Give more characters of the id.' });
  if (one) return { arrival: one.value, outcomes: one.outcomes };
  throw new Failure('not-found', `${id} is not in the inbox.`, {
    hint: `Run: svc webhooks inbox list${config === undefined ? '' : ` --config ${shellWord(config)}`}`,
  });
}

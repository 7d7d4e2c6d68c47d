import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure, interruption } from '../../errors.ts';
import { listed } from '../../text/listed.ts';
import { number } from '../../text/number.ts';
import { sanitize } from '../../text/sanitize.ts';
import { isTaken } from '../../webhooks/deliver/post.ts';
import { replay as replayOnce, replayOutcome } from '../../webhooks/deliver/replay.ts';
import { parseTarget } from '../../webhooks/deliver/routes.ts';
import { queueParts } from '../../webhooks/event/account.ts';
import { type HttpSinks, httpSinks } from '../../webhooks/serve/configured.ts';
import type { Received } from '../../webhooks/store/folder/look-up.ts';
import { type Forwarding, forwardOf } from '../../webhooks/store/forwarding.ts';
import { isOwed } from '../../webhooks/store/line.ts';
import { unsureOf } from '../../webhooks/store/listen-inbox.ts';
import { configFlag } from './flags.ts';
import { chosen, look, lookUp, lookUpOne, type Opened, received, settleReplayed, whereNone } from './inbox-look.ts';
import { waitingNotes } from './waiting-notes.ts';

const columns = [
  { path: 'id', header: 'ID', rank: 1 },
  { path: 'event', header: 'Event', as: 'whole', rank: 3 },
  { path: 'to', header: 'To', rank: 4 },
  { path: 'status', header: 'Answer', as: 'whole', rank: 2 },
  { path: 'error', header: 'Error', rank: 5 },
  { path: 'ms', header: 'Took (ms)', rank: 6 },
] as const;

/** `place`: what the inbox calls it, a URL or a sink, where the event went there by itself. */
type Target = { readonly to: string; readonly place: string | undefined };

/** Where the events shall go: a URL, or a sink by its name. */
type Wish = {
  readonly given: string | undefined;
  readonly sink: { readonly name: string; readonly to: string } | undefined;
  /** Somebody has named the events: then a sink gets also what it does not take by itself. */
  readonly isNamed: boolean;
};

export const replay = defineCommand({
  name: 'replay',
  summary: 'Send stored events again: the same bytes with their original headers',
  details:
    'Without --to, each event goes where it was forwarded before. For svc webhooks serve that is each sink that has not taken it, or, where all ' +
    'have, all of them. Where it waited there, or is a dead letter, a 2xx answer settles it, and it is not sent once more.',
  args: { id: { ...param.texts('Envelope id, or its beginning'), ...received, required: true, unless: ['last'] } },
  flags: {
    last: param.integer('The newest N events, the oldest of them first', { min: 1 }),
    to: param.text('Where to send them', { placeholder: 'URL' }),
    sink: param.text('To this HTTP sink of serve alone, whether or not it has taken them', {
      placeholder: 'NAME',
      conflicts: ['to'],
    }),
    config: configFlag,
  },
  needs: 'an event that was received: svc webhooks inbox list',
  examples: [
    'svc webhooks inbox replay evt_1 --to http://localhost:3000/hooks',
    'svc webhooks inbox replay evt_1 --sink app',
    'svc webhooks inbox replay --last 3',
  ],
  async run(ctx, { args, flags, settings }) {
    const given = flags.to === undefined ? undefined : parseTarget(flags.to, '--to');
    const inbox = await chosen(ctx, settings, flags.config);
    const { opened, about } = inbox;
    const found = await (flags.last === undefined
      ? lookUp(ctx, settings, opened, args.id)
      : newest(ctx, settings, inbox, { ...args, last: flags.last }));
    const sinks = opened.config === undefined ? undefined : await httpSinks(ctx, opened.config);
    const sink = flags.sink === undefined ? undefined : sinkNamed(flags.sink, sinks);
    const { planned, refusals } = planOf(found, { given, sink, isNamed: flags.last === undefined }, sinks);
    const [first] = refusals;
    // Nobody has named the newest one by one, so one without a target keeps none of the others back.
    if (first && (flags.last === undefined || planned.length === 0)) throw first;
    // Whoever asks for a place by name means it, taken or not.
    const isMeant = given !== undefined || sink !== undefined;
    const { records, settled } = await sendAgain(ctx, settings, { opened, planned, isMeant });
    const ids = found.map(({ arrival }) => arrival.id);
    const after = await lookUp(ctx, settings, opened, ids).catch(() => found);
    const still = after.map(({ arrival, outcomes }) => ({
      sinks: arrival.sinks,
      forward: forwardOf(
        arrival,
        outcomes.filter((each) => !each.replay),
      ),
    }));
    const failed = records.filter((record) => !isTaken(record));
    return {
      data: { shape: 'list', records, columns },
      notes: [
        ...(failed.length > 0
          ? [`${number(failed.length)} of ${number(records.length)} did not get a 2xx answer.`]
          : []),
        ...refusals.map(({ message }) => `Left out: ${message}`),
        ...settled,
        ...planned.flatMap(({ one, left }) => (left.length > 0 ? [leftOut(one, left)] : [])),
        ...waitingNotes(still, 'still '),
        ...about,
      ],
      outcome: failed.length > 0 ? 'partial' : undefined,
    };
  },
});

type Sent = { readonly id: string; readonly event: string | null } & Forwarding;

type Again = {
  readonly opened: Opened;
  readonly planned: readonly Planned[];
  /** Goes there also where it was settled meanwhile. */
  readonly isMeant: boolean;
};

/** `settled`: in sentences, what another svc has settled meanwhile. */
async function sendAgain(ctx: Context, settings: Settings, { opened, planned, isMeant }: Again) {
  const records: Sent[] = [];
  const settled: string[] = [];
  for (const { one, targets } of planned) {
    const { id, event } = one.arrival;
    for (const { to, place } of targets) {
      if (ctx.signal.aborted) throw interruption(ctx.signal, `Interrupted. ${notSent(planned, id)}`);
      const isOpen = place !== undefined && openAt(one).includes(place);
      if (isOpen && !isMeant) {
        const now = await lookUpOne(ctx, settings, opened, id).catch(() => one);
        if (!openAt(now).includes(place)) {
          settled.push(`Meanwhile ${sanitize(id)} was settled at ${sanitize(place)}: it is not sent there again.`);
          continue;
        }
      }
      const replayed = await replayOnce(ctx, one, { to, timeoutMs: settings.timeoutMs });
      records.push({ id, event, ...replayed });
      if (!isOpen || !isTaken(replayed)) continue;
      const { replay: _, ...outcome } = replayOutcome(replayed, ctx.clock.now());
      const passed = {
        id,
        outcome: { ...outcome, to: place, ...(one.arrival.sinks && { state: 'delivered' as const }) },
      };
      // At once: whoever delivers would send it meanwhile. What cannot be settled waits on, which is told at the end.
      await settleReplayed(ctx, settings, opened, [passed]).catch(() => {});
    }
  }
  return { records, settled };
}

/** In the order in which they came. */
async function newest(
  ctx: Context,
  settings: Settings,
  { opened, unsure }: Awaited<ReturnType<typeof chosen>>,
  { id, last }: { readonly id: readonly string[]; readonly last: number },
): Promise<readonly Received[]> {
  if (id.length > 0) throw new Failure('usage', 'Give ids or --last, not both.');
  const { seen } = await look(ctx, settings, opened, { view: (arrival) => arrival, most: last });
  if (seen.length > 0) return seen.slice(-last).map(({ value, outcomes }) => ({ arrival: value, outcomes }));
  throw unsure
    ? unsureOf(unsure)
    : new Failure('not-found', 'No events received yet.', {
        hint: ['To receive some: svc webhooks listen', ...whereNone(opened, seen)].join('\n'),
      });
}

function sinkNamed(name: string, sinks: HttpSinks | undefined): Wish['sink'] {
  if (sinks === undefined)
    throw new Failure('usage', 'The inbox of svc webhooks listen has no sinks.', {
      hint: 'For that of serve: --config FILE',
    });
  const to = sinks.urlOf(name);
  if (to !== undefined && sinks.names.includes(name)) return { name, to };
  throw new Failure('usage', `There is no HTTP sink ${name}.`, {
    hint: sinks.names.length > 0 ? `HTTP sinks: ${sinks.names.join(', ')}.` : 'The configuration has none.',
  });
}

type Planned = { readonly one: Received; readonly targets: readonly Target[]; readonly left: readonly string[] };

/** `refusals`: of events that have no target. */
function planOf(found: readonly Received[], wish: Wish, sinks: HttpSinks | undefined) {
  const planned: Planned[] = [];
  const refusals: Failure[] = [];
  for (const one of found) {
    const targets = targetsOf(one, wish, sinks);
    if (targets instanceof Failure) refusals.push(targets);
    else planned.push({ one, ...targets });
  }
  return { planned, refusals };
}

/** From this one on. */
const notSent = (planned: readonly Planned[], from: string): string => {
  const ids = planned.map(({ one }) => one.arrival.id);
  return `Not sent: ${sanitize(listed(ids.slice(ids.indexOf(from))))}`;
};

const leftOut = ({ arrival }: Received, left: readonly string[]): string =>
  `${sanitize(arrival.id)} also went to ${sanitize(listed(left))}, which ${left.length === 1 ? 'is no HTTP sink' : 'are no HTTP sinks'}: left out.`;

/** Where it goes, and the sinks that it went to but cannot go to by itself. */
function targetsOf(
  { arrival, outcomes }: Received,
  { given, sink, isNamed }: Wish,
  sinks: HttpSinks | undefined,
): Omit<Planned, 'one'> | Failure {
  if (sinks) {
    const { urlOf } = sinks;
    const unwanted = outcomes.filter(({ state }) => state === 'skipped').map(({ to }) => to);
    const places = [...new Set([...(arrival.sinks ?? []), ...outcomes.map(({ to }) => to)])];
    if (sink !== undefined) {
      const place = places.find((one) => queueParts(one).sink === sink.name);
      if (!isNamed && place !== undefined && unwanted.includes(place))
        return new Failure('usage', `${arrival.id} is no event that ${sink.name} takes.`);
      return { targets: [{ to: sink.to, place }], left: [] };
    }
    const went = places.filter((place) => !unwanted.includes(place));
    const targets = went.flatMap((place): Target[] => {
      const to = urlOf(place);
      return to === undefined || (given !== undefined && new URL(to).href !== given) ? [] : [{ to, place }];
    });
    const open = openAt({ arrival, outcomes });
    const waiting = targets.filter(({ place }) => place !== undefined && open.includes(place));
    const meant = waiting.length > 0 ? waiting : targets;
    if (given !== undefined) return { targets: [meant[0] ?? { to: given, place: undefined }], left: [] };
    if (meant.length > 0) return { targets: meant, left: went.filter((place) => urlOf(place) === undefined) };
    const why =
      went.length > 0
        ? `went to ${listed(went)}, ${went.length === 1 ? 'which is no HTTP sink' : 'none of which is an HTTP sink'}`
        : 'was never forwarded';
    return new Failure('usage', `${arrival.id} ${why}, so --to URL is needed.`);
  }
  const to = given ?? outcomes.at(-1)?.to ?? arrival.to;
  if (to === undefined || !URL.canParse(to))
    return new Failure('usage', `${arrival.id} was never forwarded, so --to URL is needed.`);
  return { targets: [{ to, place: to }], left: [] };
}

/** Where it still waits, or is a dead letter. */
function openAt({ arrival, outcomes }: Received): readonly string[] {
  const own = outcomes.filter(({ replay: byHand }) => !byHand);
  if (!arrival.sinks) return own.length === 0 && isOwed(arrival) && arrival.to !== undefined ? [arrival.to] : [];
  const isOver = (sink: string) =>
    ['delivered', 'dropped', 'skipped'].includes(own.findLast(({ to }) => to === sink)?.state ?? '');
  return arrival.sinks.filter((sink) => !isOver(sink));
}

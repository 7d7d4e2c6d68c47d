import { atMost, wholeListFlags } from '../../command/at-most.ts';
import { defineCommand, type Group, type Listed } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { notesIn, type View } from '../../output/view.ts';
import { counted } from '../../text/number.ts';
import { sanitize } from '../../text/sanitize.ts';
import { mayMean, queueParts } from '../../webhooks/event/account.ts';
import { envelopeIn } from '../../webhooks/event/envelope.ts';
import { mainFields } from '../../webhooks/event/main-fields.ts';
import { choose as chooseInbox, withConfigured } from '../../webhooks/serve/configured.ts';
import { queuesOf } from '../../webhooks/serve/queues.ts';
import { deliveryOf } from '../../webhooks/store/delivery.ts';
import { damagedText } from '../../webhooks/store/folder/file.ts';
import type { DeadId } from '../../webhooks/store/folder/requests.ts';
import type { InboxAdmin } from '../../webhooks/store/inbox-store.ts';
import { lossInWords } from '../../webhooks/store/outcome-words.ts';
import { choose, deadOf, eventsFor, know, meant, notDead, type Sinks } from './dead-choice.ts';
import { page } from './delivery-page.ts';
import { accountFlag, configFlag } from './flags.ts';

/** Where room is short: which it is, why, of which sink, and how often it was tried. */
const columns = [
  { path: 'received_at', header: 'Received', rank: 6 },
  { path: 'event', header: 'Event', as: 'whole', rank: 5 },
  { path: 'id', header: 'ID', rank: 1 },
  { path: 'sink', header: 'Sink', as: 'whole', rank: 3 },
  { path: 'account', header: 'Account', as: 'whole', rank: 8 },
  {
    ...{ path: 'error', header: 'Error', rank: 2 },
    see: ({ error }: { readonly error: string | null }) => error && lossInWords(error),
  },
  { path: 'tries', header: 'Tries', rank: 4 },
  { path: 'summary', header: 'Summary', rank: 7 },
] as const;

/** What is listed of each. */
const listed = ['id', 'event', 'received_at', 'summary', 'account', 'sink', 'died_at', 'status', 'error', 'tries'];

const sinkFlag = param.text('Only dead letters of this sink', { placeholder: 'NAME' });

const list = defineCommand({
  name: 'list',
  summary: 'List what a sink did not take, oldest first',
  flags: { sink: sinkFlag, ...wholeListFlags(), config: configFlag, account: accountFlag },
  examples: ['svc webhooks dead list', 'svc webhooks dead list --sink app --json'],
  async run(ctx, { flags, settings }) {
    return within(ctx, settings, flags.config, async (admin, sinks) => {
      const seen = await admin.dead(
        ({ id, event, at, body, unreadable, account = null }) => {
          const summary = unreadable ?? mainFields(event, envelopeIn(body)?.data ?? null).slice(0, 200);
          return { id, event, received_at: at, summary, account };
        },
        (damaged) => ctx.notice(damagedText(damaged)),
      );
      await know(admin, flags, sinks, seen);
      const dead = seen.flatMap(({ value, outcomes }) =>
        deadOf(outcomes, flags).map(({ to, at, status = null, error = null, tries }) => {
          return { ...value, sink: queueParts(to).sink, died_at: at, status, error, tries };
        }),
      );
      const { records, notes } = atMost(dead, flags.limit);
      const shown = columns.filter(({ path }) => path !== 'account' || records.some(({ account }) => account !== null));
      return {
        read: true,
        data: { shape: 'list', records, columns: shown, known: listed, empty: 'There are no dead letters.' },
        notes,
      } as const;
    });
  },
});

const deadChoices: Listed['choices'] = async (ctx, settings, flags) => {
  const { config } = await chooseInbox(ctx, settings, flags.config?.[0]);
  return withConfigured(ctx, settings, config, async ({ admin }) => {
    const some = (await admin.dead(({ id, event }) => ({ id, event }))).slice(0, 100);
    return some.map(({ value: { id, event } }) => ({ value: id, name: `${event ?? '-'}  ${sanitize(id)}` }));
  });
};

const deadLetters: Listed = { command: 'webhooks dead list', choices: deadChoices };
/** Each, unless all are meant. */
const orAll = { placeholder: 'ID', from: deadLetters, required: true, unless: ['all'] };

const show = defineCommand({
  name: 'show',
  summary: 'Show a dead letter: headers, payload, and what the sink said',
  args: {
    id: {
      ...param.requiredText('Envelope id, or its beginning'),
      ...{ placeholder: 'ID', from: deadLetters },
    },
  },
  flags: { config: configFlag, account: accountFlag },
  needs: 'a dead letter: svc webhooks dead list',
  examples: ['svc webhooks dead show evt_1 --json'],
  async run(ctx, { args, flags, settings }) {
    return within(ctx, settings, flags.config, async (admin) => {
      const all = await eventsFor(admin, [args.id], flags.account);
      const begin = await admin.dead((arrival) => {
        const isOthers = flags.account !== undefined && arrival.account !== flags.account;
        return !isOthers && mayMean(args.id, arrival) ? arrival : undefined;
      });
      const id = meant(args.id, { dead: begin.map(({ value }) => value), all });
      const found = begin.find(({ value }) => value.id === id);
      if (!found) throw notDead(args.id, flags.config);
      const delivery = deliveryOf({ arrival: found.value, outcomes: found.outcomes });
      return {
        read: true,
        data: { shape: 'record', record: delivery },
        human: ({ paint }) => page(delivery, paint),
      } as const;
    });
  },
});

const chosen = {
  args: { id: { ...param.texts('Envelope id, or its beginning'), ...orAll } },
  flags: { all: param.toggle('Every dead letter'), sink: sinkFlag, config: configFlag, account: accountFlag },
};

const retry = defineCommand({
  name: 'retry',
  summary: 'Send dead letters to their sinks again',
  details:
    'They go to the end of the queue and get all their attempts again. svc webhooks serve delivers them, now or when it runs.',
  ...chosen,
  examples: ['svc webhooks dead retry --all --sink app'],
  async run(ctx, { args, flags, settings }) {
    return within(ctx, settings, flags.config, async (admin, sinks) => {
      const { ids, notes } = retriable(await choose(admin, args.id, { ...flags, sinks }), sinks);
      const named = flags.all ? '' : ` (${namesOf(ids)})`;
      const retried = ids.length > 0 ? await admin.move(ids, 'again') : 0;
      return {
        data: { shape: 'record', record: { retried } },
        done:
          retried === 1
            ? `1 dead letter${named} waits again for its sink.`
            : `${counted(retried, 'dead letter')}${named} wait again for their sinks.`,
        notes,
      } as const;
    });
  },
});

const drop = defineCommand({
  name: 'drop',
  summary: 'Give dead letters up for good',
  details: 'It takes whole ids only, as svc webhooks dead list --json shows them.',
  args: { id: { ...param.texts('Whole envelope id'), ...orAll } },
  flags: chosen.flags,
  examples: ['svc webhooks dead drop --all --yes'],
  async run(ctx, { args, flags, settings }) {
    return within(ctx, settings, flags.config, async (admin, sinks) => {
      const ids = await choose(admin, args.id, { ...flags, sinks, isWhole: true });
      const named = flags.all ? '' : ` (${namesOf(ids)})`;
      const question = `Give up ${counted(ids.length, 'dead letter')}${named} for good?`;
      if (ids.length > 0) await confirmed(ctx, settings, question);
      const dropped = ids.length > 0 ? await admin.move(ids, 'dropped') : 0;
      return {
        data: { shape: 'record', record: { dropped } },
        done: `Gave up ${counted(dropped, 'dead letter')}${named}.`,
      } as const;
    });
  },
});

export const dead: Group = {
  name: 'dead',
  summary: 'Events that a sink of svc webhooks serve did not take',
  commands: [list, show, retry, drop],
};

/** Those that somebody named, some of them where there are many; an id may hold anything. */
function namesOf(ids: readonly DeadId[]): string {
  const names = [...new Set(ids.map(({ id }) => sanitize(id.slice(0, 80))))];
  const rest = names.length - 5;
  return rest > 0 ? `${names.slice(0, 5).join(', ')} and ${rest} more` : names.join(', ');
}

async function within(
  ctx: Context,
  settings: Settings,
  given: string | undefined,
  work: (admin: InboxAdmin, sinks: Sinks) => Promise<View>,
): Promise<View> {
  const { config, about } = await chooseInbox(ctx, settings, given);
  return withConfigured(ctx, settings, config, async ({ admin, configured }) => {
    const looked = `Looked in ${admin.place}: no svc webhooks serve of this profile runs with this state folder. For another inbox: --config FILE`;
    const view = await work(admin, configured && [...queuesOf(configured.config).keys()]);
    return { ...view, notes: [...notesIn(view), ...(config === undefined ? [looked] : about)] };
  });
}

/**
 * Those that a sink of the configuration takes, and a sentence about the rest, which would wait for ever. Throws a usage
 * Failure where there are only such. `sinks`: the names of the configuration; undefined where none is known.
 */
function retriable(dead: readonly DeadId[], sinks: readonly string[] | undefined) {
  const ids = sinks === undefined ? dead : dead.filter(({ sink }) => sinks.includes(sink));
  const left = dead.length - ids.length;
  if (left === 0) return { ids, notes: [] };
  const gone = [...new Set(dead.filter((one) => !ids.includes(one)).map(({ sink }) => sanitize(sink)))].join(', ');
  const named = `The configuration does not name ${gone} any more`;
  const known = `Sinks: ${sinks?.join(', ')}.`;
  if (ids.length > 0) return { ids, notes: [`${named}, so ${counted(left, 'dead letter')} stayed. ${known}`] };
  throw new Failure('usage', `${named}, so nobody would deliver what is sent there again.`, {
    hint: `${known} To deliver it, name the sink in the configuration again; to give it up: svc webhooks dead drop`,
  });
}

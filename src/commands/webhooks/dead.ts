import { defineCommand, type Group } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Choice, Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import type { View } from '../../output/view.ts';
import { counted } from '../../text/number.ts';
import { sanitize } from '../../text/sanitize.ts';
import { shellWord } from '../../text/shell-word.ts';
import { isWholly, mayMean, meantBy, queueParts } from '../../webhooks/event/account.ts';
import { envelopeIn } from '../../webhooks/event/envelope.ts';
import { mainFields } from '../../webhooks/event/main-fields.ts';
import { choose as chooseInbox, openConfigured } from '../../webhooks/serve/configured.ts';
import { queuesOf } from '../../webhooks/serve/queues.ts';
import { deliveryOf } from '../../webhooks/store/delivery.ts';
import { damagedText } from '../../webhooks/store/folder/file.ts';
import type { DeadId } from '../../webhooks/store/folder/requests.ts';
import { deadIn, type InboxAdmin } from '../../webhooks/store/inbox-store.ts';
import type { Outcome } from '../../webhooks/store/line.ts';
import { lossInWords } from '../../webhooks/store/outcome-words.ts';
import { accountFlag, configFlag } from './config-flag.ts';
import { page } from './delivery-page.ts';
import { retriable } from './retriable.ts';

type Texts = Readonly<Record<string, readonly string[]>>;

const columns = [
  { path: 'received_at', header: 'Received', rank: 5 },
  { path: 'event', header: 'Event', as: 'whole', rank: 3 },
  { path: 'id', header: 'ID', rank: 1 },
  { path: 'sink', header: 'Sink', as: 'whole', rank: 2 },
  { path: 'account', header: 'Account', as: 'whole', rank: 8 },
  {
    ...{ path: 'error', header: 'Error', rank: 4 },
    see: ({ error }: { readonly error: string | null }) => error && lossInWords(error),
  },
  { path: 'tries', header: 'Tries', rank: 7 },
  { path: 'summary', header: 'Summary', rank: 6 },
] as const;

const sinkFlag = param.text('Only dead letters of this sink', { placeholder: 'NAME' });

const list = defineCommand({
  name: 'list',
  summary: 'List what a sink did not take, oldest first',
  args: {},
  flags: { sink: sinkFlag, config: configFlag, account: accountFlag },
  examples: ['svc webhooks dead list', 'svc webhooks dead list --sink app --json'],
  async run(ctx, { flags, settings }) {
    return within(ctx, settings, flags.config, async (admin, sinks) => {
      const seen = await admin.received(
        ({ id, event, at, body, unreadable, account = null }) => {
          const summary = unreadable ?? mainFields(event, envelopeIn(body)?.data ?? null).slice(0, 200);
          return { id, event, received_at: at, summary, account };
        },
        (damaged) => ctx.notice(damagedText(damaged)),
      );
      knowSink(flags.sink, sinks, seen);
      knowAccount(flags.account, sinks, seen);
      const records = seen.flatMap(({ value, outcomes }) =>
        deadOf(outcomes, flags).map(({ to, at, status = null, error = null, tries }) => {
          return { ...value, sink: queueParts(to).sink, died_at: at, status, error, tries };
        }),
      );
      const shown = columns.filter(({ path }) => path !== 'account' || records.some(({ account }) => account !== null));
      return {
        read: true,
        data: { shape: 'list', records, columns: shown, empty: 'There are no dead letters.' },
      } as const;
    });
  },
});

async function deadChoices(ctx: Context, settings: Settings, flags: Texts): Promise<readonly Choice[]> {
  const { config } = await chooseInbox(ctx, flags.config?.[0]);
  const { admin } = await openConfigured(ctx, settings, config);
  try {
    const seen = await admin.received(({ id, event }) => ({ id, event }));
    const some = seen.filter(({ outcomes }) => deadIn(outcomes).length > 0).slice(0, 100);
    return some.map(({ value: { id, event } }) => ({ value: id, name: `${event ?? '-'}  ${sanitize(id)}` }));
  } finally {
    await admin.close();
  }
}

const show = defineCommand({
  name: 'show',
  summary: 'Show a dead letter: headers, payload, and what the sink said',
  args: {
    id: {
      ...param.requiredText('Envelope id, or its beginning'),
      ...{ placeholder: 'ID', from: { command: 'webhooks dead list', choices: deadChoices } },
    },
  },
  flags: { config: configFlag, account: accountFlag },
  needs: 'a dead letter: svc webhooks dead list',
  examples: ['svc webhooks dead show evt_1 --json'],
  async run(ctx, { args, flags, settings }) {
    return within(ctx, settings, flags.config, async (admin) => {
      const seen = await admin.received((arrival) => {
        const isOthers = flags.account !== undefined && arrival.account !== flags.account;
        return !isOthers && mayMean(args.id, arrival) ? arrival : undefined;
      });
      const begin = seen.filter(({ outcomes }) => deadIn(outcomes).length > 0);
      const idsOf = (some: typeof seen) => some.map(({ value }) => value);
      const id = meant(args.id, { dead: idsOf(begin), all: idsOf(seen) });
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
  args: { id: { ...param.texts('Envelope id, or its beginning'), placeholder: 'ID' } },
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
  args: { id: { ...param.texts('Whole envelope id'), placeholder: 'ID' } },
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

type Which = { readonly sink: string | undefined; readonly account: string | undefined };

const deadOf = (outcomes: readonly Outcome[], { sink, account }: Which): Outcome[] =>
  deadIn(outcomes).filter(({ to }) => {
    const of = queueParts(to);
    return (sink === undefined || of.sink === sink) && (account === undefined || of.account === account);
  });

/** A typing error must not look like a sink without dead letters. Without a configuration the inbox tells the sinks. */
function knowSink(sink: string | undefined, sinks: Sinks, seen: readonly { outcomes: readonly Outcome[] }[]): void {
  const had = seen.flatMap(({ outcomes }) => outcomes.map(({ to }) => to));
  const known = [...new Set([...(sinks ?? []), ...had].map((queue) => queueParts(queue).sink))];
  if (sink === undefined || known.length === 0 || known.includes(sink)) return;
  throw new Failure('usage', `There is no sink ${sink}.`, { hint: `Sinks: ${known.join(', ')}.` });
}

function knowAccount(
  account: string | undefined,
  sinks: Sinks,
  seen: readonly { outcomes: readonly Outcome[] }[],
): void {
  if (account === undefined) return;
  const had = seen.flatMap(({ outcomes }) => outcomes.map(({ to }) => to));
  const known = [...new Set([...(sinks ?? []), ...had].flatMap((queue) => queueParts(queue).account ?? []))];
  if (known.includes(account)) return;
  throw new Failure('usage', `There is no account ${account} in this inbox.`, {
    hint: known.length > 0 ? `Accounts: ${known.join(', ')}.` : 'It is of one account alone.',
  });
}

/** The queues of the configuration: of several accounts each its own. */
type Sinks = readonly string[] | undefined;

type Flags = {
  readonly all: boolean;
  readonly sink: string | undefined;
  readonly account: string | undefined;
  readonly config: string | undefined;
  readonly sinks: Sinks;
  /** Only whole ids: the same command once more must not give up another event that begins so. */
  readonly isWhole?: boolean;
};

/** Those that are named and dead; any other id is a failure, and then nothing is changed. */
async function choose(
  admin: InboxAdmin,
  wanted: readonly string[],
  { all, sink, account, config, sinks, isWhole = false }: Flags,
): Promise<DeadId[]> {
  if (all === wanted.length > 0) {
    throw new Failure('usage', all ? 'Give ids or --all, not both.' : 'Name at least one id, or give --all.', {
      hint: `Run: svc webhooks dead list${withConfig(config)}`,
    });
  }
  const seen = await admin.received(({ id, account: of }) => ({ id, ...(of !== undefined && { account: of }) }));
  knowSink(sink, sinks, seen);
  knowAccount(account, sinks, seen);
  const found = seen.flatMap(({ value: { id }, outcomes }) =>
    deadOf(outcomes, { sink, account }).map(({ to }) => ({ id, sink: to })),
  );
  if (all) return found;
  const isDead = new Set(found.map(({ id }) => id));
  const every = seen.flatMap(({ value }) => (account === undefined || value.account === account ? [value] : []));
  const ids = { dead: every.filter(({ id }) => isDead.has(id)), all: every };
  const named = wanted.map((typed) => {
    const id = isWhole ? wholeId(typed, ids) : meant(typed, ids);
    if (id === undefined) throw notDead(typed, config);
    return id;
  });
  return found.filter(({ id }) => named.includes(id));
}

/** A whole id, with the account or, where one account alone has it, without. */
function wholeId(typed: string, { dead, all }: Ids): string | undefined {
  const [one, ...others] = meantBy(typed, all).filter((each) => isWholly(typed, each));
  if (!one || others.length === 0) return one && dead.includes(one) ? one.id : undefined;
  const hint = `Name one of them: ${[one, ...others].map(({ id }) => id).join(', ')}`;
  throw new Failure('usage', `Events of ${others.length + 1} accounts have the id ${typed}.`, { hint });
}

type Named = { readonly id: string; readonly account?: string };
type Ids = { readonly dead: readonly Named[]; readonly all: readonly Named[] };

/** An id, or the beginning of the only dead one that begins so. What is a whole id of any event means that event alone. */
function meant(typed: string, { dead, all }: Ids): string | undefined {
  const wanted = new Set(meantBy(typed, all));
  const begin = dead.filter((one) => wanted.has(one)).map(({ id }) => id);
  if (begin.length < 2) return begin[0];
  throw new Failure('usage', `${begin.length} dead letters have an id that begins with ${typed}.`, {
    hint: `Type more of it: ${begin.slice(0, 5).join(', ')}`,
  });
}

/** Those that somebody named, some of them where there are many; an id may hold anything. */
function namesOf(ids: readonly DeadId[]): string {
  const names = [...new Set(ids.map(({ id }) => sanitize(id.slice(0, 80))))];
  const rest = names.length - 5;
  return rest > 0 ? `${names.slice(0, 5).join(', ')} and ${rest} more` : names.join(', ');
}

const withConfig = (config: string | undefined): string =>
  config === undefined ? '' : ` --config ${shellWord(config)}`;

const notDead = (id: string, config: string | undefined): Failure =>
  new Failure('not-found', `${id} is no dead letter.`, { hint: `Run: svc webhooks dead list${withConfig(config)}` });

async function within(
  ctx: Context,
  settings: Settings,
  given: string | undefined,
  work: (admin: InboxAdmin, sinks: Sinks) => Promise<View>,
): Promise<View> {
  const { config, about } = await chooseInbox(ctx, given);
  const { admin, configured } = await openConfigured(ctx, settings, config);
  const looked = `Looked in ${admin.place}: no svc webhooks serve runs with this state folder. For another inbox: --config FILE`;
  try {
    const view = await work(admin, configured && [...queuesOf(configured.config).keys()]);
    const own = typeof view.notes === 'function' ? view.notes() : (view.notes ?? []);
    return { ...view, notes: [...own, ...(config === undefined ? [looked] : about)] };
  } finally {
    await admin.close();
  }
}

import { Failure } from '../../errors.ts';
import { shellWord } from '../../text/shell-word.ts';
import { isWholly, meantBy, queueParts } from '../../webhooks/event/account.ts';
import type { DeadId } from '../../webhooks/store/folder/requests.ts';
import type { InboxAdmin } from '../../webhooks/store/inbox-store.ts';
import { deadIn, type Outcome } from '../../webhooks/store/line.ts';
import { searched } from './inbox-look.ts';

type Which = { readonly sink: string | undefined; readonly account: string | undefined };

export const deadOf = (outcomes: readonly Outcome[], { sink, account }: Which): Outcome[] =>
  deadIn(outcomes).filter(({ to }) => {
    const of = queueParts(to);
    return (sink === undefined || of.sink === sink) && (account === undefined || of.account === account);
  });

/**
 * A typing error must not look like a sink or an account without dead letters. Where neither the configuration nor a dead
 * letter knows it, the whole inbox is asked.
 */
export async function know(
  admin: InboxAdmin,
  { sink, account }: Which,
  sinks: Sinks,
  dead: readonly { outcomes: readonly Outcome[] }[],
): Promise<void> {
  const queues = new Set([...(sinks ?? []), ...dead.flatMap(({ outcomes }) => outcomes.map(({ to }) => to))]);
  const isKnown = () => {
    const parts = [...queues].map(queueParts);
    return (
      (sink === undefined || parts.some((one) => one.sink === sink)) &&
      (account === undefined || parts.some((one) => one.account === account))
    );
  };
  if (isKnown()) return;
  const isWanted = (outcomes: readonly Outcome[]) => {
    for (const { to } of outcomes) queues.add(to);
    return false;
  };
  await admin.newest(() => undefined, { isWanted });
  if (isKnown()) return;
  knowSink(sink, queues);
  knowAccount(account, queues);
}

function knowSink(sink: string | undefined, queues: ReadonlySet<string>): void {
  const known = [...new Set([...queues].map((queue) => queueParts(queue).sink))];
  if (sink === undefined || known.length === 0 || known.includes(sink)) return;
  throw new Failure('usage', `There is no sink ${sink}.`, { hint: `Sinks: ${known.join(', ')}.` });
}

function knowAccount(account: string | undefined, queues: ReadonlySet<string>): void {
  if (account === undefined) return;
  const known = [...new Set([...queues].flatMap((queue) => queueParts(queue).account ?? []))];
  if (known.includes(account)) return;
  throw new Failure('usage', `There is no account ${account} in this inbox.`, {
    hint: known.length > 0 ? `Accounts: ${known.join(', ')}.` : 'It is of one account alone.',
  });
}

/** The queues of the configuration: of several accounts each its own. */
export type Sinks = readonly string[] | undefined;

type Flags = Which & {
  readonly all: boolean;
  readonly config: string | undefined;
  readonly sinks: Sinks;
  /** Only whole ids: the same command once more must not give up another event that begins so. */
  readonly isWhole?: boolean;
};

/** Those that are named and dead; any other id is a failure, and then nothing is changed. */
export async function choose(
  admin: InboxAdmin,
  wanted: readonly string[],
  { all, sink, account, config, sinks, isWhole = false }: Flags,
): Promise<DeadId[]> {
  if (all && wanted.length > 0)
    throw new Failure('usage', 'Give ids or --all, not both.', {
      hint: `Run: svc webhooks dead list${withConfig(config)}`,
    });
  const seen = await admin.dead(({ id }) => ({ id }));
  await know(admin, { sink, account }, sinks, seen);
  const found = seen.flatMap(({ value: { id }, outcomes }) =>
    deadOf(outcomes, { sink, account }).map(({ to }) => ({ id, sink: to })),
  );
  if (all) return found;
  const isDead = new Set(found.map(({ id }) => id));
  const every = await eventsFor(admin, wanted, account);
  const ids = { dead: every.filter(({ id }) => isDead.has(id)), all: every };
  const named = wanted.map((typed) => {
    const id = isWhole ? wholeId(typed, ids) : meant(typed, ids);
    if (id !== undefined) return id;
    const [begun, ...more] = isWhole ? deadOnes(typed, ids) : [];
    throw begun === undefined || more.length > 0 ? notDead(typed, config) : notWhole(typed, begun);
  });
  return found.filter(({ id }) => named.includes(id));
}

/** Every event that may be meant: a whole id of one that is no dead letter means that one. */
export async function eventsFor(
  admin: InboxAdmin,
  wanted: readonly string[],
  account: string | undefined,
): Promise<readonly Named[]> {
  const all = await searched(admin, wanted);
  return all.flatMap(({ arrival: { id, account: of } }) =>
    account === undefined || of === account ? [{ id, ...(of !== undefined && { account: of }) }] : [],
  );
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
export function meant(typed: string, ids: Ids): string | undefined {
  const begin = deadOnes(typed, ids);
  if (begin.length < 2) return begin[0];
  throw new Failure('usage', `${begin.length} dead letters have an id that begins with ${typed}.`, {
    hint: `Type more of it: ${begin.slice(0, 5).join(', ')}`,
  });
}

function deadOnes(typed: string, { dead, all }: Ids): string[] {
  const wanted = new Set(meantBy(typed, all).map(({ id }) => id));
  return dead.filter(({ id }) => wanted.has(id)).map(({ id }) => id);
}

const withConfig = (config: string | undefined): string =>
  config === undefined ? '' : ` --config ${shellWord(config)}`;

const notWhole = (typed: string, id: string): Failure =>
  new Failure('not-found', `${typed} is only the beginning of an id, and a dead letter is given up by its whole id.`, {
    hint: `Nothing was given up. Its whole id: ${id}`,
  });

export const notDead = (id: string, config: string | undefined): Failure =>
  new Failure('not-found', `${id} is no dead letter.`, { hint: `Run: svc webhooks dead list${withConfig(config)}` });

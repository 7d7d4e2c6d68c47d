import type { Listed } from '../../command/command.ts';
import type { Settings } from '../../config/settings.ts';
import type { Choice, Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { localTime } from '../../output/cells.ts';
import { sanitize } from '../../text/sanitize.ts';
import { shellWord } from '../../text/shell-word.ts';
import { mayMean, meantBy } from '../../webhooks/event/account.ts';
import { envelopeIn } from '../../webhooks/event/envelope.ts';
import { mainFields } from '../../webhooks/event/main-fields.ts';
import { choose, withConfigured } from '../../webhooks/serve/configured.ts';
import { type Damaged, damagedText } from '../../webhooks/store/folder/file.ts';
import type { Received } from '../../webhooks/store/folder/look-up.ts';
import type { Replayed } from '../../webhooks/store/folder/requests.ts';
import { type Asked, type Found, type Part, receivedIn, type View } from '../../webhooks/store/folder/view.ts';
import { findWhole } from '../../webhooks/store/folder/whole.ts';
import { openInboxAdmin } from '../../webhooks/store/inbox-admin.ts';
import type { InboxAdmin } from '../../webhooks/store/inbox-store.ts';
import type { Arrival } from '../../webhooks/store/line.ts';
import { type ListenInbox, listenInbox, othersNotes, unsureOf } from '../../webhooks/store/listen-inbox.ts';

/** The configuration of `serve`, or the inbox of `listen`; and what is said of it. */
export type Opened = { readonly config: string | undefined; readonly own: ListenInbox | undefined };

/** Of `listen`, or of the configuration of `serve`: the oldest first, from the newest back as far as is asked. */
export function look<T>(
  ctx: Context,
  settings: Settings,
  opened: Opened,
  { view, most, isOpen }: Pick<Asked, 'most' | 'isOpen'> & { readonly view: View<T> },
): Promise<Found<T>> {
  const onDamage = (damaged: Damaged) => ctx.notice(damagedText(damaged));
  // Told once: a second look at what is open follows one at the newest.
  return within(ctx, settings, opened, ({ newest }) => newest(view, { most, isOpen, ...(!isOpen && { onDamage }) }));
}

/** Said where nothing is found: there may be another inbox, and an empty one looks like a lost event. */
const ofListen = 'This is the inbox of svc webhooks listen. For that of serve: --config FILE';

/** The same as notes, where none of these was found. */
export const whereNone = ({ config }: Opened, found: readonly unknown[]): readonly string[] =>
  config === undefined && found.length === 0 ? [ofListen] : [];

/** Says of which `serve` it is, and what of others is left alone. */
export async function chosen(ctx: Context, settings: Settings, given: string | undefined) {
  const { config, about } = await choose(ctx, settings, given);
  if (config !== undefined) return { opened: { config, own: undefined }, about, unsure: undefined };
  const own = await listenInbox(ctx, settings);
  const notes = await othersNotes(own);
  // Where nothing is kept that may be another's, it does not matter whose the login is.
  const unsure = notes.length > 0 ? own.login.unsure : undefined;
  return { opened: { config, own }, about: notes, unsure };
}

/** So many are enough to choose from; the id of another can be typed. */
const mostChoices = 100;

/** The newest first, to choose from. */
const receivedEvents: Listed['choices'] = async (ctx, settings, flags) => {
  const { opened } = await chosen(ctx, settings, flags.config?.[0]);
  const view: View<Choice> = ({ id, event, at, body }) => {
    const summary = sanitize(mainFields(event, envelopeIn(body)?.data ?? null).slice(0, 200));
    return { value: id, name: [localTime(at), event ?? '-', sanitize(id), summary].join('  ') };
  };
  const { seen } = await look(ctx, settings, opened, { view, most: mostChoices });
  return [...seen]
    .reverse()
    .slice(0, mostChoices)
    .map(({ value }) => value);
};

export const received = { placeholder: 'ID', from: { command: 'webhooks inbox list', choices: receivedEvents } };

type Searching = Pick<InboxAdmin, 'find' | 'newest'>;

/** Every event that may be meant by one of these: a whole id by the index, the beginning of one by a search. */
export async function searched({ find, newest }: Searching, wanted: readonly string[]): Promise<readonly Received[]> {
  const whole = await find(wanted);
  const rest = wanted.filter((id) => !whole.some(({ arrival }) => arrival.id === id));
  if (rest.length === 0) return whole;
  const view: View<Received['arrival']> = (arrival) => (rest.some((id) => mayMean(id, arrival)) ? arrival : undefined);
  // What stands in the file as it was typed is found without taking everything else apart.
  const some = rest.every(isPlain) ? (await newest(view, { texts: rest })).seen : [];
  const isEach = rest.every((id) => some.some(({ value }) => mayMean(id, value)));
  const { seen } = isEach ? { seen: some } : await newest(view, {});
  const begun = seen.filter(({ value }) => !whole.some(({ arrival }) => arrival.id === value.id));
  return [...whole, ...begun.map(({ value, outcomes }) => ({ arrival: value, outcomes }))];
}

/** JSON has one way to write it. */
const isPlain = (text: string): boolean => /^[\w.:-]+$/u.test(text);

/** In the order asked for; one that is named twice is one. */
export async function lookUp(
  ctx: Context,
  settings: Settings,
  opened: Opened,
  wanted: readonly string[],
): Promise<Received[]> {
  const found = await within(ctx, settings, opened, (admin) => searched(admin, wanted));
  const others = await ofOthers(opened.own?.others ?? [], wanted);
  return [...new Set(wanted.map((id) => theOne(found, id, { opened, others })))];
}

type Foreign = { readonly id: string; readonly owner: number | undefined };

/** What the profile received for another account than that of the login: it is nobody's here, and never sent on. */
async function ofOthers(others: ListenInbox['others'], wanted: readonly string[]): Promise<readonly Foreign[]> {
  const found: Foreign[] = [];
  for (const part of others) {
    const { seen } = await receivedIn([part], (arrival) =>
      wanted.some((one) => mayMean(one, arrival)) ? { id: arrival.id, owner: part.whose(arrival) } : undefined,
    );
    found.push(...seen.map(({ value }) => value));
  }
  return found;
}

/** What a command asks of the inbox of `listen`, or of that of `serve`. */
async function within<T>(
  ctx: Context,
  settings: Settings,
  { config, own }: Opened,
  ask: (admin: Searching) => Promise<T>,
): Promise<T> {
  if (config !== undefined) return withConfigured(ctx, settings, config, ({ admin }) => ask(admin));
  const { parts } = own ?? (await listenInbox(ctx, settings));
  const find = async (ids: readonly string[]) => {
    const inPart = async ({ folder, has }: Part) =>
      (await findWhole(folder, ids)).filter(({ arrival }) => has(arrival));
    const found = (await Promise.all(parts.map(inPart))).flat();
    // One that a listener takes over from another is in both for a moment.
    return [...new Map(found.map((one) => [one.arrival.id, one])).values()];
  };
  return ask({ find, newest: (view, asked) => receivedIn(parts, view, asked) });
}

export async function lookUpOne(ctx: Context, settings: Settings, opened: Opened, id: string): Promise<Received> {
  const [found] = await lookUp(ctx, settings, opened, [id]);
  if (!found) throw new Error('One was asked for.');
  return found;
}

type Where = { readonly opened: Opened; readonly others: readonly Foreign[] };

/** The beginning of an id is enough where only one begins so. */
function theOne(found: readonly Received[], id: string, { opened: { config, own }, others }: Where): Received {
  const meant = meantBy(
    id,
    found.map(({ arrival }) => arrival),
  );
  const [one, another] = found.filter(({ arrival }) => meant.includes(arrival));
  if (another) {
    const some = meant.slice(0, 5).map((each) => sanitize(each.id.slice(0, 80)));
    throw new Failure('usage', `${meant.length} ids begin with ${id}.`, {
      hint: `Type more of it: ${some.join(', ')}`,
    });
  }
  if (one) return one;
  const other = others.find((each) => mayMean(id, each));
  if (other && own?.login.unsure) throw unsureOf(own.login.unsure);
  if (other)
    throw new Failure(
      'not-found',
      `${id} is an event of account ${other.owner}, which is not known to be that of this login.`,
      { hint: `To see it and to send it on, log this profile in to account ${other.owner} again, or use a key of it.` },
    );
  throw new Failure('not-found', `${id} is not in the inbox.`, {
    hint:
      config === undefined
        ? `Run: svc webhooks inbox list\n${ofListen}`
        : `Run: svc webhooks inbox list --config ${shellWord(config)}`,
  });
}

/** Ends what waited where it was sent by hand. What another svc has may wait on. */
export async function settleReplayed(
  ctx: Context,
  settings: Settings,
  { config, own }: Opened,
  replayed: readonly Replayed[],
): Promise<void> {
  if (config !== undefined) {
    await withConfigured(ctx, settings, config, ({ admin }) => admin.settle(replayed));
    return;
  }
  for (const part of own?.parts ?? []) {
    const isHere = ({ id }: Arrival) => (replayed.some((one) => one.id === id) ? id : undefined);
    const { seen } = await receivedIn([part], isHere, { isOpen: true });
    const here = replayed.filter(({ id }) => seen.some(({ value }) => value === id));
    if (here.length === 0) continue;
    const admin = await openInboxAdmin(ctx, { folder: part.folder });
    await admin.settle(here).finally(() => admin.close());
  }
}

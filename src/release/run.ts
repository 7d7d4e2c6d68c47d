import { join } from 'node:path';
import { createChangelogEntry, getChangelogEntry, listChangelog, updateChangelogEntry } from '../api/changelog.ts';
import { type AsRead, asRead } from '../as-read.ts';
import { whileStill, whileStillInDoubt } from '../command/still-so.ts';
import type { Context } from '../context.ts';
import { diskFailure } from '../disk/file/disk-failure.ts';
import { type Held, waitingFor, withLock } from '../disk/lock/lock.ts';
import { orElsewhere } from '../disk/place/elsewhere.ts';
import { Failure, wordsOf } from '../errors.ts';
import { call, type Service } from '../http/call/call.ts';
import { list } from '../http/call/pages.ts';
import { checked } from '../http/exchange/checked.ts';
import { type Findings, lookUntilSettled } from '../http/exchange/settle.ts';
import { restIs } from '../http/exchange/writes.ts';
import { isOwnRefusal, readBody } from '../retry/own-word.ts';
import { hexDigestOf } from '../text/digest.ts';
import { listed } from '../text/listed.ts';
import { shellWord } from '../text/shell-word.ts';
import { isShown, rememberEntry, rememberedEntry, rememberUnforeseen } from './memory.ts';
import {
  type Action,
  type Entry,
  entryOf,
  type Item,
  newBody,
  type Plan,
  packagesAmong,
  planChange,
  publishesAlone,
  readOf,
  type Wanted,
} from './plan.ts';
import { hidesAnother } from './slugs.ts';

/** Where the portal stands beside what is wanted. Nothing has been written. */
export type Survey = {
  readonly plan: Plan;
  readonly entry: AsRead<Entry> | undefined;
  /** Ids of other entries of the same version. */
  readonly doubled: readonly number[];
  /** All entries that svc knows of. */
  readonly items: readonly Item[];
};

export type Released = Pick<Survey, 'doubled' | 'items'> & {
  readonly action: Action;
  /** Names of the fields that were sent to change an entry. */
  readonly changes: readonly string[];
  readonly entry: Entry;
};

/**
 * Compares and writes nothing. Somebody may have changed the version of the entry that svc made for it by hand: it is
 * still that one, unless svc has released another version with it since.
 */
export async function survey(service: Service, wanted: Wanted): Promise<Survey> {
  const items = await entriesFor(service, wanted);
  const packages = packagesAmong(wanted, items);
  if (packages.length > 0) throw severalPackages(wanted, packages);
  const stands = await standing(service, wanted, items);
  const id = stands.entry ? undefined : await rememberedEntry(service, wanted);
  const own = items.find((item) => item.id === id);
  const isOthers = own?.version != null && (await rememberedEntry(service, { version: own.version })) === own.id;
  return own && !isOthers
    ? standing(service, wanted, [{ ...own, version: wanted.version }, ...items.filter((one) => one !== own)])
    : stands;
}

/** `known`: an entry as the service has shown it already, which need not be read again. */
async function standing(
  service: Service,
  wanted: Wanted,
  items: readonly Item[],
  known?: AsRead<Entry>,
): Promise<Survey> {
  const { entry: item, doubled } = entryOf(wanted, items);
  if (!item) return { plan: { action: 'created', body: newBody(wanted) }, entry: undefined, doubled, items };
  const isKnown = item.id === known?.was.id && isWhole(known.was);
  const entry = isKnown ? known : await asRead(service, (reading) => entryById(reading, item.id));
  const plan = planChange(wanted, entry.was, await isShown(service, entry.was, wanted.content));
  return { plan, entry, doubled, items };
}

/** An answer may leave out what a reader sees; held against it, the entry itself would be another one. */
const isWhole = (entry: Entry): boolean => Object.values(readOf(entry)).every((value) => value !== undefined);

const entryById = async (service: Service, id: number): Promise<Entry> =>
  (await call(service, getChangelogEntry, { params: { id } })).entry;

/**
 * Makes the portal agree, and may be run any number of times: one entry, one changelog.published. Of several runs on
 * this machine one works at a time.
 */
export async function release(service: Service, wanted: Wanted): Promise<Released> {
  restIs(service.ctx, 'Run the same command again: it goes on from what is there.');
  const name = hexDigestOf(`${service.session.baseUrl} ${wanted.version}`).slice(0, 24);
  return alone(service.ctx, `changelog-${name}`, async (check) => {
    const holding = { ...service, ctx: checked(service.ctx, check) };
    const { entry, ...rest } = await survey(holding, wanted);
    return entry ? change(holding, wanted, { entry, ...rest }) : create(holding, wanted);
  });
}

/** Under a lock where one can be made. Without one (a read-only machine) `create` still lets one run publish. */
async function alone<T>(ctx: Context, name: string, work: (check: () => void) => Promise<T>): Promise<T> {
  let hasBegun = false;
  const begin = ({ check }: Held) => {
    hasBegun = true;
    return work(check);
  };
  const waiting = waitingFor(ctx, 'the release of this version');
  try {
    return await withLock(join(ctx.files.state, 'locks', name), waiting, begin);
  } catch (error) {
    const told = diskFailure(error, 'svc cannot make other runs on this machine wait', orElsewhere());
    if (hasBegun || told === error) throw error;
    ctx.notice(wordsOf(told));
    return work(() => {});
  }
}

/**
 * The service has no key by which it would refuse a second entry of a version, and never deletes one. So the entry is
 * made as a draft, which no customer sees; then every machine that did so at the same time publishes the same one.
 */
async function create(service: Service, wanted: Wanted): Promise<Released> {
  const body = newBody({ ...wanted, draft: true });
  const made = await asRead(service, async (sender) => recordIn(await call(sender, createChangelogEntry, { body })));
  await rememberEntry(service, wanted, made.was.id);
  await rememberUnforeseen(service, made.was, wanted.content);
  const listed = await entries(service);
  const items = listed.some(({ id }) => id === made.was.id) ? listed : [...listed, made.was];
  const { entry = made, ...rest } = await standing(service, wanted, items, made);
  const done = await change(service, wanted, { entry, ...rest });
  return done.entry.id === made.was.id ? { ...done, action: 'created', changes: Object.keys(newBody(wanted)) } : done;
}

type Found = Survey & { readonly entry: AsRead<Entry> };

async function change(service: Service, wanted: Wanted, found: Found): Promise<Released> {
  const { plan, entry: seen, doubled, items } = await withoutAnother(service, wanted, found);
  const before = seen.was;
  await rememberEntry(service, wanted, before.id);
  if (!plan.body) return { action: plan.action, changes: [], entry: before, doubled, items };
  const input = { params: { id: before.id }, body: plan.body };
  const still = (publishesAlone(plan.body) ? whileStillInDoubt : whileStill)(service, {
    read: async (reading) => readOf(await entryById(reading, before.id)),
    seen: { ...seen, was: readOf(before) },
    what: `Entry ${before.id}`,
    done: 'changed',
  });
  const entry = recordIn(await call(still, updateChangelogEntry, input, { was: before }));
  await rememberUnforeseen(service, entry, wanted.content);
  return { action: plan.action, changes: Object.keys(plan.body), entry, doubled, items };
}

/**
 * What is published cannot be taken back. So where the slug of a draft shows that another entry has its title, and the
 * list leaves that out, svc looks until it is shown, and publishes nothing before.
 */
async function withoutAnother(service: Service, wanted: Wanted, found: Found): Promise<Found> {
  const { entry, plan } = found;
  if (plan.body?.status !== 'published' || !hidesAnother(entry.was, found.items)) return found;
  const { ctx, settings } = service;
  let { items } = found;
  const look = async (): Promise<Findings> => {
    items = await entries(service);
    return hidesAnother(entry.was, items) ? { candidates: [] } : { found: items };
  };
  const why = `The portal has another entry with the title of ${entry.was.id}, and does not show it; looking for it`;
  const { findings, ms } = await lookUntilSettled(ctx, look, settings.settleMs, why);
  if (!('found' in findings)) throw anotherIsHidden(service, wanted, { entry: entry.was, ms });
  const { entry: now = entry, ...rest } = await standing(service, wanted, items, entry);
  return { entry: now, ...rest };
}
/** Without the record it is not known which entry to go on with; the next run finds it by its version. */
function recordIn(answer: { readonly entry: Entry } | undefined): Entry {
  if (answer?.entry?.id !== undefined) return answer.entry;
  throw new Failure('failed', 'The entry was written, but the answer of the service does not show it.', {
    hint: 'Run the same command again: it continues from what is there.',
  });
}

function anotherIsHidden({ ctx }: Service, { version }: Wanted, { entry, ms }: { entry: Entry; ms: number }): Failure {
  const advice = `Look in the portal. If it has no other entry of ${version}, publish this one: svc changelog publish ${entry.id}`;
  restIs(ctx, advice);
  const told = `The portal had an entry with the title of entry ${entry.id} before (its slug is ${entry.slug}), and the list does not show that one: it may be of ${version}, and published.`;
  return new Failure('unknown', `${told} svc looked for ${Math.round(ms / 1000)} s. Entry ${entry.id} stays a draft.`, {
    hint: advice,
    looked: { seconds: Math.round(ms / 100) / 10, candidates: [] },
  });
}

function severalPackages({ version }: Wanted, packages: readonly string[]): Failure {
  const names = packages.map((name) => `${name}@${version}`);
  return new Failure('usage', `The portal has an entry of ${version} for each of ${listed(packages, 'and')}.`, {
    hint: `Say which is meant: svc changelog release ${listed(names.map(shellWord), 'or')}`,
  });
}

/** Whoever stands between says 404 too. */
const isGone = ({ kind, answer }: Failure): boolean =>
  kind === 'not-found' && answer !== undefined && isOwnRefusal(answer, readBody(answer.body));

/** All entries, and the one that an earlier run has worked on, where the list does not show it. */
async function entriesFor(service: Service, wanted: Wanted): Promise<readonly Item[]> {
  const items = await entries(service);
  const id = await rememberedEntry(service, wanted);
  if (id === undefined || items.some((item) => item.id === id)) return items;
  try {
    return [...items, await entryById(service, id)];
  } catch (failure) {
    // The service was reset since.
    if (failure instanceof Failure && isGone(failure)) return items;
    throw failure;
  }
}

async function entries(service: Service): Promise<Item[]> {
  const all: Item[] = [];
  for await (const record of list(service, listChangelog, {}, { all: true }).records) {
    if (isItem(record)) all.push(record);
  }
  return all;
}

/** A record without an id could not be worked on. */
const isItem = (record: Readonly<Record<string, unknown>>): record is Item => typeof record.id === 'number';

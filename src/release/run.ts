import { join } from 'node:path';
import { createChangelogEntry, getChangelogEntry, listChangelog, updateChangelogEntry } from '../api/changelog.ts';
import type { Context } from '../context.ts';
import { type Held, withLock } from '../disk/lock.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call.ts';
import { checked } from '../http/checked.ts';
import { list } from '../http/pages.ts';
import { restIs } from '../http/writes.ts';
import { hexDigestOf } from '../text/digest.ts';
import { isShown, rememberUnforeseen } from './memory.ts';
import { type Action, type Entry, entryOf, type Item, newBody, type Plan, planChange, type Wanted } from './plan.ts';

/** Where the portal stands beside what is wanted. Nothing has been written. */
export type Survey = {
  readonly plan: Plan;
  readonly entry: Entry | undefined;
  /** Ids of other entries of the same version. */
  readonly doubled: readonly number[];
};

export type Released = {
  readonly action: Action;
  /** Names of the fields that were sent to change an entry. */
  readonly changes: readonly string[];
  readonly entry: Entry;
  readonly doubled: readonly number[];
};

/** Compares and writes nothing. */
export async function survey(service: Service, wanted: Wanted): Promise<Survey> {
  const { entry: item, doubled } = entryOf(wanted.version, await entries(service));
  if (!item) return { plan: { action: 'created', body: newBody(wanted) }, entry: undefined, doubled };
  const { entry } = await call(service, getChangelogEntry, { params: { id: item.id } });
  const plan = planChange(wanted, entry, await isShown(service, entry, wanted.content));
  return { plan, entry, doubled };
}

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
  const { clock, signal, progress, notice } = ctx;
  const waiting = { clock, signal, progress, notice, what: 'the release of this version' };
  try {
    return await withLock(join(ctx.files.state, 'locks', name), waiting, begin);
  } catch (error) {
    if (hasBegun || !(error instanceof Error && 'syscall' in error)) throw error;
    ctx.notice(`svc cannot make other runs on this machine wait: ${error.message}`);
    return work(() => {});
  }
}

/**
 * The service has no key by which it would refuse a second entry of a version, and never deletes one. So the entry is
 * made as a draft, which no customer sees; then every machine that did so at the same time publishes the same one.
 */
async function create(service: Service, wanted: Wanted): Promise<Released> {
  const body = newBody({ ...wanted, draft: true });
  const made = recordIn(await call(service, createChangelogEntry, { body }));
  await rememberUnforeseen(service, made, wanted.content);
  const { entry: item, doubled } = entryOf(wanted.version, await entries(service));
  const mine = !item || item.id === made.id;
  const entry = mine ? made : (await call(service, getChangelogEntry, { params: { id: item.id } })).entry;
  const plan = planChange(wanted, entry, await isShown(service, entry, wanted.content));
  const done = await change(service, wanted, { plan, entry, doubled });
  return { ...done, action: mine ? 'created' : done.action };
}

type Found = Survey & { readonly entry: Entry };

async function change(service: Service, wanted: Wanted, { plan, entry: before, doubled }: Found): Promise<Released> {
  if (!plan.body) return { action: plan.action, changes: [], entry: before, doubled };
  const input = { params: { id: before.id }, body: plan.body };
  const entry = recordIn(await call(service, updateChangelogEntry, input, { was: before }));
  await rememberUnforeseen(service, entry, wanted.content);
  return { action: plan.action, changes: Object.keys(plan.body), entry, doubled };
}

/** Without the record it is not known which entry to go on with; the next run finds it by its version. */
function recordIn(answer: { readonly entry: Entry } | undefined): Entry {
  if (answer?.entry?.id !== undefined) return answer.entry;
  throw new Failure('failed', 'The entry was written, but the answer of the service does not show it.', {
    hint: 'Run the same command again: it continues from what is there.',
  });
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

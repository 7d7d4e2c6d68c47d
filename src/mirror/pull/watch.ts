import { withContext } from '../../context.ts';
import { interruption } from '../../errors.ts';
import { type Change, changesAfter, readPosition, savePosition, seqBefore } from '../store/changes.ts';
import { dataOf } from '../tables/cells.ts';
import { type KindName, kindOf } from '../tables/kinds.ts';
import { owned, ownerOf } from '../tables/store.ts';
import { tableOf } from '../tables/tables.ts';
import type { Keeping } from './keep-fresh.ts';
import { clocks, type Problems, problems, tellSleep } from './problems.ts';
import { pull } from './pull.ts';
import { often, preparePull } from './pulling.ts';

export type Watching = Omit<Keeping, 'sleep' | 'told'> & {
  /** From that time on; else from now on. */
  readonly since: string | undefined;
  /** Remembers under this name how far it is. */
  readonly name: string | undefined;
  /** One round, and what fails ends it. */
  readonly once: boolean;
  /** Done for each change before it counts as told. False where a signal ended it: then it does not count. */
  readonly each: ((event: WatchEvent) => Promise<boolean>) | undefined;
};

/** A change, with the record as it is now, and of a message the ticket's number. */
export type WatchEvent = Omit<Change, 'seq'> & { readonly record: Change['after']; readonly of?: string };

/** Where it was is written down after so many changes, and at the end of each round. */
const perMark = 20;

/**
 * Changes as they come, until the run is told to end. Whoever takes the next one has dealt with the one before: only
 * then it counts as told, so after a kill it comes again rather than never.
 */
export async function* watch(watching: Watching): AsyncGenerator<WatchEvent> {
  const { ctx, intervalMs, store, account, once } = watching;
  const problem = problems(ctx, { once });
  const place: WatchPosition = { position: undefined, sinceMsAgo: undefined, told: new Set() };
  let slept = clocks(ctx);
  while (!ctx.signal.aborted) {
    const isFine = await problem.outlive(async () => {
      place.position ??= await startOf(watching);
      await round(watching, place);
      place.position ??= await seqBefore(store, account);
    });
    // What a round has found is told in pieces, so that a database that goes away meanwhile is met where it is asked.
    if (isFine) yield* tellFrom(watching, place, problem);
    if (once) break;
    ctx.progress('Watching');
    await ctx.clock.sleep(problem.isMet() ? problem.pauseMs(intervalMs) : intervalMs, ctx.signal);
    slept = tellSleep(ctx, slept);
  }
  ctx.progress(undefined);
  // Ctrl-C is how a person ends it, but no end of a round.
  if ((once && ctx.signal.aborted) || ctx.signal.reason === 'SIGTERM' || ctx.signal.reason === 'SIGHUP')
    throw interruption(ctx.signal);
}

/** How far it is: the last change that was told. It moves on although the database is away. */
type WatchPosition = {
  position: number | undefined;
  sinceMsAgo: number | undefined;
  /** What the rounds said of the service's answers, so that it is not said every 15 seconds. */
  readonly told: Set<string>;
};

async function* tellFrom(watching: Watching, place: WatchPosition, problem: Problems): AsyncGenerator<WatchEvent> {
  const { store, account, name, ctx } = watching;
  const changes = changesAfter(store, account, place.position ?? 0);
  let untold = 0;
  let isFine = true;
  while (isFine && !ctx.signal.aborted) {
    let next: Change | undefined;
    let event: WatchEvent | undefined;
    isFine = await problem.outlive(async () => {
      const { value } = await changes.next();
      next = value ?? undefined;
      event = next && (await eventOf(watching, next));
    });
    if (!isFine || !next) break;
    if (event) {
      if (!(await isDealtWith(watching, place, event))) break;
      yield event;
    }
    const { seq } = next;
    place.position = seq;
    if (++untold % perMark === 0) isFine = await problem.outlive(() => mark(watching, seq));
  }
  const { position } = place;
  if (isFine && position !== undefined && (untold > 0 || name !== undefined)) {
    isFine = await problem.outlive(() => mark(watching, position));
  }
  if (isFine) problem.over();
}

/** What fails here ends the run: the next one begins with this change, not with those before it. */
async function isDealtWith(watching: Watching, { position }: WatchPosition, event: WatchEvent): Promise<boolean> {
  try {
    return (await watching.each?.(event)) ?? true;
  } catch (error) {
    // Where that cannot be written down either, a few come again.
    if (position !== undefined) await mark(watching, position).catch(() => {});
    throw error;
  }
}

/** Undefined: from the first round on. */
async function startOf({ store, account, name, since }: Watching): Promise<number | undefined> {
  const kept = name === undefined ? undefined : await store.read((sql) => readPosition(sql, account, name));
  if (kept !== undefined) return kept;
  return since === undefined ? undefined : seqBefore(store, account, since);
}

async function mark({ store, account, name }: Watching, position: number): Promise<void> {
  if (name !== undefined) await store.write((sql) => savePosition(sql, account, name, position));
}

/** `--since` is a time by this machine's clock; the service is asked by its own, so the first round tells how long ago. */
async function round({ ctx, dated, store, account, kinds, since }: Watching, place: WatchPosition): Promise<void> {
  const isFirst = place.sinceMsAgo === undefined;
  const sinceMsAgo = since === undefined ? 0 : Math.max(0, ctx.clock.now().getTime() - Date.parse(since));
  const wishes = { ...often, only: kinds, follow: true, ...(isFirst && since !== undefined && { sinceMsAgo }) };
  const { told } = place;
  let said = false;
  const notice = (text: string) => {
    said = true;
    if (!told.has(text)) ctx.notice(text);
    told.add(text);
  };
  const service = { ...dated.service, ctx: withContext(dated.service.ctx, { notice }) };
  await pull(preparePull({ ...dated, service }, { store, account, wishes }));
  if (!said) told.clear();
  place.sinceMsAgo = sinceMsAgo;
}

/** Undefined where nobody asked for it. */
async function eventOf(watching: Watching, { seq: _, ...change }: Change): Promise<WatchEvent | undefined> {
  const { kinds } = watching;
  const table = tableOf(change.kind);
  if (!kinds.includes(table.kind)) return undefined;
  const record = change.after ?? change.before;
  if (!table.isPart) return { ...change, record };
  const id = Number(record?.[table.parent ?? '']);
  const parent = await parentOf(watching, table.kind, id);
  // A ticket from chat shows the chat: one line for each message is enough.
  const isShownTwice = kinds.some((kind) => {
    const { embeddedIn } = kindOf(kind);
    return embeddedIn?.kind === table.kind && parent?.[embeddedIn.shownBy];
  });
  if (isShownTwice) return undefined;
  return { ...change, record, of: String(parent?.[tableOf(table.kind).numberField ?? ''] ?? id) };
}

async function parentOf({ store, account }: Watching, kind: KindName, id: number) {
  const [row] = await store.read((sql) =>
    sql.all(`SELECT data FROM ${kind} WHERE ${owned} AND id = $3`, [...ownerOf(account), id]),
  );
  return row && dataOf(row);
}

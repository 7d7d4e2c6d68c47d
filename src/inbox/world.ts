import { Failure, messageOf, wordsOf } from '../errors.ts';
import { firstRows, keepFirstRows } from '../mirror/store/first-rows.ts';
import { jsonIn } from '../text/json.ts';
import { fieldsIn, isRecord, recordsIn } from '../text/record.ts';
import type { Doings, Effects } from './doings.ts';
import type { Effect } from './effect.ts';
import type { Row } from './row.ts';
import type { Reading, Rows } from './source.ts';
import type { World } from './world-ports.ts';

/** The rows of a view. At the start those of the last time come first, for there may be very many to look through. */
async function list(
  { reading, tell, outlast }: World,
  { ask, view, words, offset, most }: Extract<Effect, { do: 'list' }>,
): Promise<void> {
  try {
    const open = await reading();
    const last = ask === 1 ? await lastRows(open, view) : undefined;
    if (last) tell({ is: 'rows', ask, offset, ...last });
    const { rowsOf } = await import('./source.ts');
    const found = await rowsOf(open, { view, offset, most, ...(words !== undefined && { words }) });
    tell({ is: 'rows', ask, offset, ...found });
    if (offset > 0 || words !== undefined) return;
    const remembered = rememberRows(open, view, found, last);
    // Who ends at once, the rows seen, would wait as long the next time.
    outlast(remembered);
    await remembered;
  } catch (error) {
    const isWrong = error instanceof Failure && error.kind === 'usage';
    tell({ is: 'no-rows', ask, told: wordsOf(error), isWrong });
  }
}

/** At once, and not with the first key that needs it: another svc may have been installed by then, with files of other names. */
export const loadRest = () =>
  Promise.all([
    import('./doings.ts'),
    import('./end-view.ts'),
    import('./source.ts'),
    import('../sends/set-now.ts'),
    import('../http/call/call.ts'),
  ]);

/** What every key but a few needs; loaded once the first rows are shown. */
async function doLater<D extends keyof Doings>(what: D, world: World, effect: Effects[D]): Promise<void> {
  const { doings } = await import('./doings.ts');
  await doings[what](world, effect);
}

function doNow(world: World, effect: Effect): Promise<void> | void {
  switch (effect.do) {
    case 'list':
      return list(world, effect);
    case 'copy':
      return world.copyText(effect.text);
    case 'pull':
      return world.pull();
    case 'suspend':
      return world.suspend();
    case 'end':
      return world.end(effect.isNow ?? false);
    default:
      return doLater(effect.do, world, effect);
  }
}

/** Does what the model asks for. What fails is told, and ends nothing. */
export async function perform(world: World, effect: Effect): Promise<void> {
  try {
    await doNow(world, effect);
  } catch (error) {
    const told = messageOf(error);
    if ('job' in effect) world.tell({ is: 'ended-job', job: effect.job, state: 'refused', told });
    else world.tell({ is: 'told', told, state: 'refused' });
  }
}

/** More than a screen shows. */
const kept = 60;

/** Views whose rows take long where there are very many. */
const views = new Set(['waiting', 'open']);

/** What the view began with when it was last looked at; undefined where that is not known. */
async function lastRows({ store, account }: Reading, view: string): Promise<Rows | undefined> {
  if (!views.has(view)) return undefined;
  // It is a help and no more: the rows themselves come.
  const text = await store.read((sql) => firstRows(sql, account, view)).catch(() => undefined);
  const { rows, total } = fieldsIn(jsonIn(text ?? ''));
  return typeof total === 'number' ? { rows: recordsIn(rows).filter(isRow), total } : undefined;
}

const isRow = (value: unknown): value is Row =>
  isRecord(value) && typeof value.id === 'number' && (value.kind === 'ticket' || value.kind === 'conversation');

/** Remembers it for the next start, where it is another one. Who may not write there does without. */
async function rememberRows(
  { store, account }: Reading,
  view: string,
  { rows, total }: Rows,
  last: Rows | undefined,
): Promise<void> {
  if (!views.has(view)) return;
  const data = JSON.stringify({ rows: rows.slice(0, kept), total });
  if (last && JSON.stringify({ rows: last.rows, total: last.total }) === data) return;
  await keepFirstRows(store, account, view, data).catch(() => {});
}

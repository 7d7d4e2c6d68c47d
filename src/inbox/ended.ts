import { counted } from '../text/number.ts';
import type { Event } from './event.ts';
import { isPassing, told } from './jobs.ts';
import { type Done, type Job, type JobState, type Model, type Step, still } from './model.ts';
import { reread } from './moving.ts';
import { keyOf, nameOf, type Row } from './row.ts';

/** What was asked for is over: its line tells how it went, its row is marked, and `u` knows of it. */
export function endedJob(
  model: Model,
  { job: id, state, told: text, mark, isUnsent = false }: Extract<Event, { is: 'ended-job' }>,
): Step {
  const job = model.jobs.find((one) => one.id === id);
  if (!job) return still(told(model, text, state));
  const { row, change, draft } = job;
  // A draft that was just made waits no more.
  const isOld = (one: Job) => one.state === 'drafted' && draft !== undefined && one.draft === draft;
  // What happened last is what is shown, and beside it how many are left to be done or read.
  const others = model.jobs.filter((one) => one !== job && !isPassing(one) && !isOld(one));
  const isOther = state === 'done' && row !== undefined && !isUnsent;
  const done = isOther && job.batch !== undefined ? [...model.done, { batch: job.batch, row }] : model.done;
  const words = state === 'done' ? severalWords(job, { told: text, isUnsent, done }) : text;
  const jobs = [...others, { ...job, state, told: words }];
  const next = {
    ...model,
    jobs,
    done: done.slice(-mostDone),
    handled: withHandled(model, job, state, mark),
    ...(isOther && change !== undefined && { undo: undoOf(model, job, row) }),
  };
  // What is done is in the copy after the next pull alone; drafts are read at once.
  const isShown = ['drafts', 'unknown'].includes(model.view);
  const again = isShown ? reread(next) : still(next);
  const isOver = model.isEnding && !jobs.some((one) => one.state === 'sending');
  const after = [...(state === 'done' ? [{ do: 'pull' as const }] : []), ...(isOver ? [{ do: 'end' as const }] : [])];
  return { ...again, effects: [...again.effects, ...after] };
}

/** More than anybody marks at once. */
const mostDone = 1_000;

/** One key that closed several is taken back by one key. */
function undoOf({ undo }: Model, { change, batch }: Job, row: Row): Model['undo'] {
  if (change?.act === 'reopen') {
    const rows = undo?.rows.filter((one) => keyOf(one) !== keyOf(row)) ?? [];
    return undo && rows.length > 0 ? { ...undo, rows } : undefined;
  }
  if (change?.act !== 'resolve' && change?.act !== 'close') return undo;
  return { batch, rows: undo?.batch === batch ? [...(undo?.rows ?? []), row] : [row] };
}

function withHandled(
  model: Model,
  { row, change, send }: Job,
  state: JobState,
  mark: string | undefined,
): Model['handled'] {
  if (!row) return model.handled;
  const key = keyOf(row);
  const before = model.handled[key];
  if (state === 'unknown') {
    // As the copy shows it: whether it was done is seen by what the copy shows later.
    const { status, priority } = model.list.rows.find((one) => keyOf(one) === key) ?? row;
    return { ...model.handled, [key]: { mark: 'unknown', at: model.now, seen: { status, priority } } };
  }
  if (mark === undefined) return model.handled;
  const isStatus = send ? send.means === 'resolve' : change !== undefined && change.act !== 'priority';
  const status = isStatus ? mark : before?.status;
  return { ...model.handled, [key]: { mark, at: model.now, ...(status !== undefined && { status }) } };
}

/** What became of one of several that one answer changed, with the number of the others: `T-1008 and 2 others are closed.` */
function severalWords(
  job: Job,
  { told, isUnsent, done }: { readonly told: string; readonly isUnsent: boolean; readonly done: readonly Done[] },
): string {
  const { row, batch } = job;
  const all = batch === undefined ? [] : done.filter((one) => one.batch === batch).map((one) => one.row);
  const others = all.filter((one) => row === undefined || keyOf(one) !== keyOf(row));
  if (!row || others.length === 0) return told;
  const count = counted(others.length, 'other');
  const back = backWords(job, all);
  if (!isUnsent) return `${nameOf(row)} and ${count} ${becameWords(job, all).many}.${back}`;
  const { one, many } = becameWords(job, others);
  return `${told} ${count} ${others.length === 1 ? one : many}.${back}`;
}

const be = (what: string) => ({ one: `is ${what}`, many: `are ${what}` });

/** What they are now. `all`: as they were before. */
function becameWords({ change }: Job, all: readonly Row[]) {
  switch (change?.act) {
    case 'close':
      return be('closed');
    case 'priority':
      return { one: `has priority ${change.priority}`, many: `have priority ${change.priority}` };
    case 'reopen': {
      if (change.to === undefined || all.every(({ status }) => status === change.to))
        return be(`${change.to ?? 'open'} again`);
      return { one: 'is as it was', many: 'are as they were' };
    }
    default:
      return be('resolved');
  }
}

/** Tickets alone are opened again by `u`. */
function backWords({ change }: Job, all: readonly Row[]): string {
  if (change?.act === 'reopen' || change?.act === 'priority') return '';
  const tickets = all.filter(({ kind }) => kind === 'ticket');
  const [ticket] = tickets;
  if (!ticket) return '';
  if (tickets.length === all.length) return ` u takes ${tickets.length === 1 ? 'it' : 'them'} back.`;
  return ` u takes back ${tickets.length === 1 ? nameOf(ticket) : `the ${tickets.length} tickets`}.`;
}

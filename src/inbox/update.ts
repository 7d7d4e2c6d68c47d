import { acted } from './acts.ts';
import { answered, keyInOver } from './asking.ts';
import { endedJob } from './ended.ts';
import type { Event } from './event.ts';
import { readDone, told } from './jobs.ts';
import { actOf, entryOf, plain } from './keys.ts';
import { keptOrAsked, sendOrAsk } from './leaving.ts';
import { type CopyState, type Job, type Model, rowHere, type Step, selectedRow, still } from './model.ts';
import { fileAway, kept, moved, reread, withOpened } from './moving.ts';
import { isJustTurned } from './over.ts';
import { keyOf, type Row } from './row.ts';

type Events = { readonly [E in Event as E['is']]: E };

const asked = (model: Model, event: Parameters<typeof answered>[1]): Step => still(answered(model, event));

const steps: { readonly [I in keyof Events]: (model: Model, event: Events[I]) => Step } = {
  key: (model, { key }) => keyed(model, key),
  resize: (model, { columns, rows }) => moved({ ...model, size: { columns, rows } }, 0),
  tick: (model, { now }) => ticked(model, now),
  select: (model, { at }) => moved({ ...model, focus: 'list' }, at - model.list.selected),
  rows: listed,
  'no-rows': listed,
  opened: (model, event) => still(withOpened(model, event)),
  templates: asked,
  filled: asked,
  'to-approve': asked,
  doubt: asked,
  'wrong-time': asked,
  kept: keptOrAsked,
  changed: (model, event) => still(sendOrAsk(model, event)),
  'ended-job': endedJob,
  told: (model, event) => still(told(model, event.told, event.state ?? 'told')),
  snoozed: (model, event) => fileAway(told(model, event.told, 'done'), event.rows),
  copy: copied,
  left: (model, { left }) => still(model.left === left ? model : { ...model, left }),
  drafts: (model, event) =>
    still(sameDrafts(model, event) ? model : { ...model, drafts: event.counts, drafted: event.records }),
  // What was asked meanwhile is seen from now on.
  away: (model, { isAway }) => still({ ...model, isAway, ...(model.over && { turnedAt: model.now }) }),
  said: (model) => still({ ...model, turnedAt: undefined, list: { ...model.list, cameAt: undefined } }),
};

const stepBy = <I extends keyof Events>(is: I, model: Model, event: Events[I]): Step => steps[is](model, event);

/** What the model becomes by an event, and what the world is asked to do. Pure: the same always leads to the same. */
export const update = (model: Model, event: Event): Step => stepBy(event.is, model, event);

const sameDrafts = ({ drafts, drafted }: Model, { counts, records }: Extract<Event, { is: 'drafts' }>): boolean =>
  JSON.stringify([drafts, drafted]) === JSON.stringify([counts, records]);

function keyed(model: Model, key: Extract<Event, { is: 'key' }>['key']): Step {
  if (model.isAway) return still(model);
  if (key.ctrl && key.name === 'z') return { model, effects: [{ do: 'suspend' }] };
  if (model.over) return keyInOver(model, model.over, key);
  if (model.answer === plain(key) && isJustTurned(model)) return still(model);
  const act = actOf(model, key);
  // What went well was seen by whoever goes on; Escape takes the line away, and does nothing else then.
  const next = act === 'read' ? model : readDone(model);
  // What a key asks is awaited by whoever pressed it.
  if (act !== undefined) {
    const step = acted(next, act);
    return step.model.over ? { ...step, model: { ...step.model, turnedAt: undefined } } : step;
  }
  // It may do something once the rows are here.
  const entry = isFirstRead(model) ? undefined : entryOf(key);
  return still(
    entry ? told(next, `${entry.shown} does nothing here. Elsewhere it means: ${entry.about}.`, 'told') : next,
  );
}

const isFirstRead = ({ list }: Model): boolean => list.rows.length === 0 && list.answered < list.asked;

/** What is held has so long to be taken back once a question that held it is answered, in milliseconds. */
const leastHeldMs = 3_000;

/** Time passes: what was held leaves. */
function ticked(before: Model, now: number): Step {
  const model = { ...before, now };
  if (model.over?.is === 'question' && model.over.holdsAll) return still(heldOn(model));
  const due = model.jobs.filter(({ state, until = 0 }) => state === 'held' && until <= now);
  if (due.length === 0) return still(model);
  const jobs = model.jobs.map((job) => (due.includes(job) ? { ...job, state: 'sending' as const } : job));
  return { model: { ...model, jobs }, effects: due.flatMap(({ send }) => send ?? []) };
}

/** Its question is not answered yet. */
function heldOn(model: Model): Model {
  const until = model.now + leastHeldMs;
  const isSoon = (job: Job) => job.state === 'held' && (job.until ?? 0) < until;
  return { ...model, jobs: model.jobs.map((job) => (isSoon(job) ? { ...job, until } : job)) };
}

/** Rows come: what is read, or else what was selected, is under the marker where it is still there. */
function listed(model: Model, event: Extract<Event, { is: 'rows' | 'no-rows' }>): Step {
  const { list } = model;
  if (event.ask !== list.asked) return still(model);
  if (event.is === 'no-rows') {
    const { ask: answered, told: failed, isWrong } = event;
    const next = { ...model, list: { ...list, answered, failed, isWrong } };
    return list.isBehind && !isWrong ? reread(next) : still({ ...next, list: { ...next.list, isBehind: false } });
  }
  const { rows, offset, total } = event;
  const before = rowHere(model);
  const placeOf = (one: Row | undefined) => (one ? rows.findIndex((row) => keyOf(row) === keyOf(one)) : -1);
  const isThere = placeOf(before) >= 0;
  const found = placeOf(isThere ? before : selectedRow(model));
  const last = Math.max(0, (total ?? offset + rows.length) - 1);
  const selected = found >= 0 ? offset + found : Math.min(list.selected, last);
  // It stays on its line, but where the first row is shown, what is new before it is seen.
  const top = list.top === 0 ? 0 : Math.max(0, list.top + selected - list.selected);
  // Somebody else has taken the row away, or none was seen yet: a key that is pressed now was not meant for what comes.
  const isGone = !isThere && !(before && model.handled[keyOf(before)]);
  const cameAt = isGone && rows.length > 0 ? model.now : list.cameAt;
  const shown = { rows, offset, total, selected, top, failed: undefined, isWrong: false, cameAt };
  const next = { ...model, list: { ...list, ...shown, answered: event.ask } };
  const step = moved({ ...next, marked: kept(next.marked, next), handled: settled(next) }, 0);
  if (!list.isBehind) return step;
  const again = reread(step.model);
  return { ...again, effects: [...step.effects, ...again.effects] };
}

/** Without what nobody knew of, and the copy has shown since. */
function settled({ handled, list: { rows } }: Model): Model['handled'] {
  const others = Object.entries(handled).filter(([key, { seen }]) => {
    if (!seen) return true;
    const row = rows.find((one) => keyOf(one) === key);
    return !row || (row.status === seen.status && row.priority === seen.priority);
  });
  return others.length === Object.keys(handled).length ? handled : Object.fromEntries(others);
}

/** The copy is newer, or is being brought up to date. */
function copied(model: Model, { copy, isNew, began }: Extract<Event, { is: 'copy' }>): Step {
  const next = looked({ ...model, copy: { ...model.copy, ...copy } }, copy);
  if (!isNew) return still(next);
  const handled = Object.fromEntries(
    Object.entries(model.handled).filter(([, { at, seen }]) => seen || at > (began ?? 0)),
  );
  const { list } = next;
  // Whoever presses R asks for it again themselves.
  if (list.isWrong && !model.isLooking) return still({ ...next, handled });
  if (list.answered < list.asked) return still({ ...next, handled, list: { ...list, isBehind: true } });
  return reread({ ...next, handled });
}

/** Whoever asked for what is new gets an answer. */
function looked(model: Model, { isPulling, told: why }: Partial<CopyState>): Model {
  if (!model.isLooking || isPulling !== false) return model;
  const next = { ...model, isLooking: false };
  return why === undefined ? told(next, 'The copy is up to date.', 'done') : told(next, why, 'refused');
}

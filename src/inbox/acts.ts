import type { Effect } from './effect.ts';
import { readShown, takenBack, told } from './jobs.ts';
import type { Act } from './keys.ts';
import { begunChange, begunEffects, endAsked } from './leaving.ts';
import { type Choice, hasMarker, type Model, rowHere, type Step, still, targetsOf } from './model.ts';
import { moved, openSelected, pageOf, toList, toView } from './moving.ts';
import { isJustBefore, listed, named, pick, prompt, question } from './over.ts';
import { keyOf, nameOf, type Row } from './row.ts';

const far = Number.MAX_SAFE_INTEGER;

const doings: Readonly<Record<Act, (model: Model) => Step>> = {
  down: (model) => moved(model, 1),
  up: (model) => moved(model, -1),
  'page-down': (model) => moved(model, pageOf(model)),
  'page-up': (model) => moved(model, -pageOf(model)),
  first: (model) => moved(model, -far),
  last: (model) => moved(model, far),
  open: (model) => openSelected(model),
  sides: (model) => (model.focus === 'list' ? still({ ...model, focus: 'thread' }) : toList(model)),
  search: (model) => still(prompt(model, { of: 'search', title: 'Search the copy for', rows: [], text: '' })),
  view: (model) => still(pick(model, { of: 'view', title: 'Show', choices: model.views, rows: [] })),
  reply: (model) => compose(model, 'reply', 'send'),
  draft: (model) => compose(model, 'reply', 'draft'),
  note: (model) => compose(model, 'note', 'send'),
  template: (model) => ({ model, effects: [{ do: 'templates', rows: targetsOf(model) }] }),
  resolve,
  close: (model) => changeAll(model, 'close'),
  reopen: (model) => changeAll(model, 'reopen'),
  priority: (model) =>
    still(
      pick(model, {
        of: 'priority',
        title: `Priority of ${named(targetsOf(model))}`,
        choices: priorities,
        rows: targetsOf(model),
      }),
    ),
  snooze: (model) =>
    still(
      pick(model, {
        of: 'snooze',
        title: `Put ${named(targetsOf(model))} away`,
        choices: model.view === 'snoozed' ? [bringBack, ...snoozes] : snoozes,
        rows: targetsOf(model),
      }),
    ),
  mark,
  'take-back': takeBack,
  approve: (model) => ({ model, effects: [{ do: 'read-drafts', rows: targetsOf(model) }] }),
  copy: (model) => {
    const rows = targetsOf(model);
    const text = rows.map((row) => row.number ?? String(row.id)).join(' ');
    return { model: told(model, `Copied: ${text}`, 'done'), effects: [{ do: 'copy', text }] };
  },
  pull: (model) => ({
    model: told({ ...model, isLooking: true }, 'Looking for what is new …', 'told'),
    effects: [{ do: 'pull' }],
  }),
  read: cleared,
  help: (model) => still({ ...model, over: { is: 'help', scroll: 0 } }),
  suspend: (model) => ({ model, effects: [{ do: 'suspend' }] }),
  end: endAsked,
};

/** These write, or lead to a write. */
const writing: readonly Act[] = ['reply', 'template', 'draft', 'note', 'resolve', 'close', 'reopen', 'priority'];

/** These are for a row that somebody has seen. */
const forWhatIsShown: readonly Act[] = [...writing, 'approve', 'snooze', 'mark'];

/** Never twice: of what nobody knows somebody looks first. */
export function acted(model: Model, act: Act): Step {
  if (forWhatIsShown.includes(act) && isJustHere(model))
    return still(told(model, 'This row has just come here: look at it first.', 'told'));
  const strange = targetsOf(model).find((row) => model.handled[keyOf(row)]?.seen);
  if (!strange || !writing.includes(act)) return doings[act](model);
  const why = `It is not known whether the last change of ${nameOf(strange)} was done. Look at it first: Enter.`;
  return still(told(model, why, 'told'));
}

/** Also where it was opened in the same moment. */
const isJustHere = (model: Model): boolean =>
  isJustBefore(model.list.cameAt, model.now) && model.marked.length === 0 && hasMarker(model);

/** What is held; else the tickets that were resolved or closed last are as they were before. */
function takeBack(model: Model): Step {
  const { undo } = model;
  if (!undo || model.jobs.some(({ state }) => state === 'held')) return takenBack(model);
  return begunEffects(
    { ...model, undo: undefined },
    undo.rows.map((row) => ({
      ...{ do: 'change', job: 0, row },
      change: { act: 'reopen', ...(row.status !== null && { to: row.status }) },
    })),
  );
}

/** What Escape takes away: a line that was read, else the thread, else the marks, else the search. */
function cleared(model: Model): Step {
  const read = readShown(model);
  if (read !== model) return still(read);
  if (model.focus === 'thread') return toList(model);
  const { marked, view, searchedFrom } = model;
  if (marked.length === 0 && view === 'search' && searchedFrom !== undefined) return toView(model, searchedFrom);
  return still({ ...model, marked: [] });
}

/** In the words of --priority. */
const priorities: readonly Choice[] = [
  { value: '0', name: '0', about: 'none' },
  { value: '1', name: '1', about: 'low' },
  { value: '2', name: '2', about: 'normal' },
  { value: '3', name: '3', about: 'high' },
  { value: '4', name: '4', about: 'urgent' },
];

const bringBack: Choice = { value: 'back', name: 'Bring it back now' };

const snoozes: readonly Choice[] = [
  { value: 'hour', name: 'For an hour' },
  { value: 'tomorrow', name: 'Until tomorrow 9:00' },
  { value: 'monday', name: 'Until Monday 9:00' },
  { value: 'customer', name: 'Until the customer writes' },
  { value: 'time', name: 'Until a time' },
];

const compose = (model: Model, means: 'reply' | 'note', ends: 'send' | 'draft'): Step => ({
  model,
  effects: [{ do: 'compose', means, rows: targetsOf(model), ends }],
});

function mark(model: Model): Step {
  const row = rowHere(model);
  if (!row) return still(model);
  const isMarked = model.marked.some((one) => keyOf(one) === keyOf(row));
  const marked = isMarked ? model.marked.filter((one) => keyOf(one) !== keyOf(row)) : [...model.marked, row];
  const next = { ...model, marked };
  return model.focus === 'list' ? moved(next, 1) : still(next);
}

/** A ticket is resolved at once; a conversation, and several, are asked about. */
function resolve(model: Model): Step {
  const rows = targetsOf(model);
  const chats = rows.filter(({ kind }) => kind === 'conversation');
  if (rows.length === 1 && chats.length === 0) return begunChange(model, rows, { act: 'resolve' });
  const hears = chats.length > 0 ? 'The customer may be asked for a rating.' : '';
  return still(
    question(model, {
      title: `Resolve ${named(rows)}?`,
      shown: [listed(rows), hears].filter(Boolean).join('\n\n'),
      answers: [{ key: 'y', name: 'resolve', effects: resolveEffects(rows) }],
      otherwise: 'leave it',
      declined: '',
    }),
  );
}

/** A conversation's resolve is a send; a ticket's is an update. */
const resolveEffects = (rows: readonly Row[]): readonly Effect[] => [
  ...rows
    .filter(({ kind }) => kind === 'conversation')
    .map((row) => ({ do: 'keep' as const, means: 'resolve' as const, rows: [row], texts: [], ends: 'send' as const })),
  ...rows
    .filter(({ kind }) => kind === 'ticket')
    .map((row) => ({ do: 'change' as const, job: 0, row, change: { act: 'resolve' as const } })),
];

function changeAll(model: Model, act: 'close' | 'reopen'): Step {
  const rows = targetsOf(model);
  if (rows.length === 1) return begunChange(model, rows, { act });
  return still(
    question(model, {
      title: `${act === 'close' ? 'Close' : 'Open again'}: ${named(rows)}?`,
      shown: listed(rows),
      answers: [
        { key: 'y', name: 'yes', effects: rows.map((row) => ({ do: 'change', job: 0, row, change: { act } })) },
      ],
      otherwise: 'leave them',
      declined: '',
    }),
  );
}

import type { Key } from '../screen/keys.ts';
import type { Event } from './event.ts';
import { told } from './jobs.ts';
import { plain } from './keys.ts';
import { approving, begunChange, begunEffects } from './leaving.ts';
import { type Model, type Over, type Step, still } from './model.ts';
import { toView } from './moving.ts';
import {
  isJustTurned,
  leaveOver,
  listed,
  named,
  type Pick,
  type Prompt,
  pick,
  prompt,
  type Question,
  question,
} from './over.ts';
import { nameOf, whoOf } from './row.ts';
import { mostScroll } from './view/long.ts';

/** A key while something lies over the list. */
export function keyInOver(model: Model, over: Over, key: Key): Step {
  const isBack = key.name === 'escape' || (key.ctrl && key.name === 'c');
  switch (over.is) {
    case 'help':
      return still(isBack || ['q', '?', 'enter'].includes(plain(key)) ? leaveOver(model) : scrolled(model, over, key));
    case 'question':
      return inQuestion(model, over, isBack ? { ...key, name: 'escape', text: '' } : key);
    case 'pick':
      return isBack ? still(leaveOver(model)) : inPick(model, over, key);
    case 'prompt':
      return isBack ? still(leaveOver(model)) : inPrompt(model, over, key);
  }
}

const steps: Readonly<Record<string, number>> = { j: 1, down: 1, k: -1, up: -1, pagedown: 10, space: 10, pageup: -10 };

const scrolled = (model: Model, over: Extract<Over, { readonly scroll: number }>, key: Key): Model => {
  const scroll = over.scroll + (steps[plain(key)] ?? 0);
  return { ...model, over: { ...over, scroll: Math.max(0, Math.min(scroll, mostScroll(model, over))) } };
};

function inQuestion(model: Model, over: Question, key: Key): Step {
  const isPlain = !key.ctrl && !key.alt && key.name !== 'paste';
  const answer = isPlain ? over.answers.find((one) => one.key === plain(key)) : undefined;
  const isDeclined = key.name === 'escape' || (isPlain && plain(key) === 'n');
  if (!answer && !isDeclined) return still(scrolled(model, over, key));
  // Nobody has read it yet: in the list `y` copies the id.
  if (key.isAhead || isJustTurned(model)) return still(model);
  const next = { ...leaveOver(model), answer: plain(key) };
  if (answer) return begunEffects({ ...next, marked: [] }, answer.effects);
  return still(over.declined === '' ? next : told(next, over.declined, 'drafted'));
}

/** What was typed narrows the choices. */
export const choicesIn = ({ choices, typed }: Pick): Pick['choices'] => {
  const words = typed.toLowerCase().split(/\s+/u).filter(Boolean);
  const begins = choices.filter(({ value, name }) =>
    [value, name].some((one) => one.toLowerCase().startsWith(typed.toLowerCase())),
  );
  const holds = choices.filter(({ value, name, about = '' }) => {
    const text = `${value} ${name} ${about}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return [...new Set([...begins, ...holds])];
};

function inPick(model: Model, over: Pick, key: Key): Step {
  const choices = choicesIn(over);
  const last = Math.max(0, choices.length - 1);
  const withPick = (change: Partial<Pick>) => still({ ...model, over: { ...over, ...change } });
  switch (key.name) {
    case 'down':
    case 'tab':
      return withPick({ at: Math.min(last, over.at + 1) });
    case 'up':
      return withPick({ at: Math.max(0, over.at - 1) });
    case 'enter': {
      const chosen = choices[over.at];
      if (chosen) return picked(leaveOver(model), over, chosen.value);
      // A time may be typed here as well.
      if (over.of !== 'snooze' || over.typed.trim() === '') return still(model);
      return {
        model: leaveOver(model),
        effects: [{ do: 'snooze', rows: over.rows, until: { time: over.typed.trim() } }],
      };
    }
    default: {
      const typed = edited(over.typed, key);
      return typed === over.typed ? still(model) : withPick({ typed, at: 0 });
    }
  }
}

/** A line that is typed. Control characters of a paste are no part of it. */
function edited(text: string, key: Key): string {
  if (key.name === 'backspace') return [...text].slice(0, -1).join('');
  if (key.ctrl && key.name === 'u') return '';
  if (key.ctrl || key.alt) return text;
  return `${text}${key.text.replaceAll(/\s+/gu, ' ').replaceAll(/\p{Cc}/gu, '')}`.slice(0, 500);
}

function picked(model: Model, { of, rows }: Pick, value: string): Step {
  switch (of) {
    case 'view':
      return toView(model, value);
    case 'template':
      return { model, effects: [{ do: 'fill', template: value, rows }] };
    case 'priority':
      return begunChange({ ...model, marked: [] }, rows, { act: 'priority', priority: Number(value) });
    case 'snooze': {
      if (value === 'time') return still(timePrompt(model, rows, ''));
      const until = (['hour', 'tomorrow', 'monday', 'customer', 'back'] as const).find((one) => one === value);
      return until ? { model, effects: [{ do: 'snooze', rows, until }] } : still(model);
    }
  }
}

const timePrompt = (model: Model, rows: Prompt['rows'], text: string, wrong?: string): Model =>
  prompt(model, {
    ...{ of: 'time', title: `Put ${named(rows)} away until (friday 14:00, in 2h, 2026-12-01)`, text, rows },
    ...(wrong !== undefined && { wrong }),
  });

function inPrompt(model: Model, over: Prompt, key: Key): Step {
  if (key.name !== 'enter') return still({ ...model, over: { ...over, text: edited(over.text, key) } });
  const text = over.text.trim();
  const next = leaveOver(model);
  if (text === '') return still(next);
  if (over.of === 'search') return toView(next, 'search', text);
  return { model: next, effects: [{ do: 'snooze', rows: over.rows, until: { time: text } }] };
}

type Answered = Extract<Event, { readonly is: 'templates' | 'filled' | 'to-approve' | 'doubt' | 'wrong-time' }>;

/** What was asked of the world comes back, and leads to the next question. */
export function answered(model: Model, event: Answered): Model {
  switch (event.is) {
    case 'templates':
      if (event.templates.length === 0)
        return told(model, 'There are no templates. To write one: svc templates edit NAME', 'refused');
      return pick(model, {
        ...{ of: 'template', title: `Reply to ${named(event.rows)} with`, choices: event.templates, rows: event.rows },
      });
    case 'filled':
      return filledQuestion(model, event);
    case 'to-approve':
      return approving(model, event);
    case 'doubt':
      return question(model, {
        title: 'Write all the same?',
        shown: event.why,
        answers: [{ key: 'y', name: 'write', effects: [{ ...event.effect, isAgreed: true }] }],
        ...{ otherwise: 'leave it', declined: '' },
      });
    case 'wrong-time':
      return timePrompt(model, event.rows, event.typed, event.told);
  }
}

/** A template that is filled in is seen before it is sent. */
function filledQuestion(model: Model, { rows, texts, shown }: Extract<Event, { readonly is: 'filled' }>): Model {
  const keep = (ends: 'send' | 'draft') => ({ do: 'keep' as const, means: 'reply' as const, rows, texts, ends });
  const [only] = rows;
  const title =
    rows.length === 1 && only ? `Send this to ${whoOf(only) || nameOf(only)}?` : `Send to all ${rows.length}?`;
  const edit = { do: 'compose' as const, means: 'reply' as const, rows, ends: 'send' as const, initial: texts };
  return question(model, {
    ...{ title, shown: rows.length === 1 ? shown : `${listed(rows)}\n\n${shown}` },
    answers: [
      { key: 'y', name: 'send', effects: [keep('send')] },
      ...(rows.length === 1 ? [{ key: 'e', name: 'edit', effects: [edit] }] : []),
      { key: 'd', name: 'draft', effects: [keep('draft')] },
    ],
    ...{ otherwise: 'drop it', declined: '' },
  });
}

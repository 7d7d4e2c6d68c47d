import type { Event } from '../../src/inbox/event.ts';
import { begin, type Model, type Step } from '../../src/inbox/model.ts';
import type { Row } from '../../src/inbox/row.ts';
import { update } from '../../src/inbox/update.ts';
import { ownViews } from '../../src/inbox/views.ts';

export const now = Date.parse('2026-03-01T12:00:00Z');

/** A ticket, or what `parts` make of it. */
export const rowOf = (id: number, parts: Partial<Row> = {}): Row => ({
  kind: 'ticket',
  id,
  number: `T-${1000 + id}`,
  subject: `Export ${id} fails`,
  contact: { contact_id: id, name: 'Viktor', last_name: `Nakamura ${id}` },
  waiting_since: '2026-03-01T10:00:00Z',
  priority: 2,
  channel: 'email',
  status: 'open',
  why: null,
  ...parts,
});

export const chatOf = (id: number, parts: Partial<Row> = {}): Row =>
  rowOf(id, { kind: 'conversation', number: null, priority: 'normal', channel: 'website', ...parts });

export const views = Object.keys(ownViews).map((name) => ({ value: name, name }));

export const keyEvent = (typed: string): Event => {
  const ctrl = typed.startsWith('ctrl-');
  const name = ctrl ? typed.slice(5) : typed;
  const text = [...typed].length === 1 ? typed : '';
  return { is: 'key', key: { name: text === '' ? name : name.toLowerCase(), ctrl, alt: false, text } };
};

/** One event after the other; the effects of all of them. */
export function after(model: Model, events: readonly Event[]): Step {
  let step: Step = { model, effects: [] };
  for (const event of events) {
    const next = update(step.model, event);
    step = { model: next.model, effects: [...step.effects, ...next.effects] };
  }
  return step;
}

export const typing = (model: Model, ...typed: readonly string[]): Step => after(model, typed.map(keyEvent));

/** Some time after: what came up was read. */
export const readIn = ({ model }: Pick<Step, 'model'>): Model =>
  after(model, [{ is: 'tick', now: model.now + 700 }]).model;

/** The inbox with these rows in `view`, which somebody has seen. */
export function inboxOf(rows: readonly Row[], size = { columns: 80, rows: 24 }, view = 'waiting'): Model {
  const { model } = begin({ size, now, view, views });
  return after(model, [{ is: 'rows', ask: 1, offset: 0, rows, total: rows.length }, { is: 'said' }]).model;
}

export const doing = (step: Step, what: string) => step.effects.filter((effect) => effect.do === what);

/** Of a narrow terminal, of the usual one, of one that has room for the thread beside the list, and of a wide one. */
export const sizes = [
  [60, 16],
  [80, 24],
  [100, 30],
  [200, 50],
] as const;

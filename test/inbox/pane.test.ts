/** The list and the thread beside each other: a key that writes is for the record whose thread is shown. */
import { expect, test } from 'vitest';
import type { Event } from '../../src/inbox/event.ts';
import { hasMarker, isWide, type Model, selectedRow } from '../../src/inbox/model.ts';
import { keyOf, type Row, type Thread } from '../../src/inbox/row.ts';
import { frameOf } from '../../src/inbox/view/frame.ts';
import { fc } from '../chance.ts';
import { draws } from '../thorough.ts';
import { after, doing, inboxOf, keyEvent, now, rowOf, typing } from './models.ts';

const wide = { columns: 110, rows: 30 };
const three = [rowOf(1), rowOf(2), rowOf(3)];

const threadOf = (row: Row, facts: readonly string[] = ['open']): Thread => ({
  ...{ title: `${row.number}`, facts, fields: [], messages: [] },
});

const opened = (row: Row): Event => ({ is: 'opened', row, thread: threadOf(row) });

const rowsCome = (model: Model, rows: readonly Row[]): Event => ({
  ...{ is: 'rows', ask: model.list.asked, offset: 0, rows, total: rows.length },
});

const marked = (model: Model): string[] =>
  frameOf(model, { paint: (_, text) => text, selected: (text) => text }).filter((line) => line.startsWith('>'));

/** The second of three is read, and leaves the view. */
function readAndGone(): Model {
  const read = after(inboxOf(three, wide), [keyEvent('j'), opened(rowOf(2)), keyEvent('enter')]).model;
  return after(read, [rowsCome(read, [rowOf(1), rowOf(3)])]).model;
}

test('while a thread is read whose row has left the list, no other row is marked, and keys are for the thread', () => {
  const gone = readAndGone();
  expect([gone.opened?.row.id, marked(gone)]).toEqual([2, []]);
  expect(doing(typing(gone, 'e'), 'change')).toMatchObject([{ row: { id: 2 } }]);
  const back = after(gone, [rowsCome(gone, [rowOf(3), rowOf(1), rowOf(2)])]).model;
  expect([selectedRow(back)?.id, marked(back).length]).toEqual([2, 1]);
});

test.each(['tab', 'escape'])(
  'back by %s from a thread whose row has left the list: the thread of the next comes before a key closes it',
  (key) => {
    const left = typing(readAndGone(), key);
    expect(doing(left, 'open')).toMatchObject([{ row: { id: 3 } }]);
    expect([left.model.opened?.row.id, left.model.opened?.thread, marked(left.model).length]).toEqual([
      ...[3, undefined, 1],
    ]);
    const early = typing(left.model, 'c');
    expect([doing(early, 'change'), early.model.jobs.at(-1)?.told]).toEqual([
      [],
      'This row has just come here: look at it first.',
    ]);
    const seen = after(left.model, [opened(rowOf(3)), { is: 'tick', now: now + 700 }]).model;
    expect(doing(typing(seen, 'c'), 'change')).toMatchObject([{ row: { id: 3 } }]);
  },
);

test('what is put away while its row has left the list leaves the pane to the row that is marked', () => {
  const away = after(readAndGone(), [{ is: 'snoozed', rows: [rowOf(2)], told: 'Put away.' }]);
  expect([away.model.focus, away.model.opened?.row.id, selectedRow(away.model)?.id]).toEqual(['list', 3, 3]);
  expect(doing(away, 'open')).toMatchObject([{ row: { id: 3 } }, { row: { id: 3 } }]);
});

const all = [1, 2, 3, 4, 5].map((id) => rowOf(id));

/** Keys, other rows, threads that come, time, and another size. */
const happening = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('tab', 'enter', 'escape', 'j', 'k', 'g', 'G').map((key) => ({ key })) },
  { weight: 4, arbitrary: fc.subarray(all).map((rows) => ({ rows })) },
  { weight: 4, arbitrary: fc.constant({ opens: true }) },
  { weight: 1, arbitrary: fc.subarray(all, { minLength: 1, maxLength: 1 }).map((snoozed) => ({ snoozed })) },
  { weight: 1, arbitrary: fc.constantFrom(80, 110, 200).map((columns) => ({ columns })) },
  { weight: 3, arbitrary: fc.constantFrom(100, 1_000).map((ms) => ({ ms })) },
);

function eventOf(one: object, model: Model): Event[] {
  if ('key' in one) return [keyEvent(String(one.key))];
  if ('rows' in one) return [rowsCome(model, one.rows as Row[])];
  if ('snoozed' in one) return [{ is: 'snoozed', rows: one.snoozed as Row[], told: 'Put away.' }];
  if ('columns' in one) return [{ is: 'resize', columns: Number(one.columns), rows: 30 }];
  if ('ms' in one) return [{ is: 'tick', now: model.now + Number(one.ms) }];
  return model.opened ? [opened(model.opened.row)] : [];
}

test('whatever happens, a key that writes is for the record whose thread is shown, and no other row is marked', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 40 }), (happenings) => {
      let model = inboxOf(all, wide);
      for (const one of happenings) model = after(model, eventOf(one, model)).model;
      const isShown = isWide(model) || model.focus === 'thread';
      if (!isShown || !model.opened) return;
      const shown = keyOf(model.opened.row);
      const under = selectedRow(model);
      if (under && hasMarker(model)) expect(keyOf(under)).toBe(shown);
      for (const key of ['e', 'c', 'r', 'd', 'n']) {
        for (const effect of typing(model, key).effects) {
          if (effect.do === 'change') expect(keyOf(effect.row)).toBe(shown);
          if (effect.do === 'compose') expect(effect.rows.map(keyOf)).toEqual([shown]);
        }
      }
    }),
    { numRuns: draws(300, 2_000) },
  );
});

/** The model of the inbox: what keys and events make of it, and what the world is then asked to do. */
import { expect, test } from 'vitest';
import type { Kept } from '../../src/inbox/effect.ts';
import { startEngine } from '../../src/inbox/engine.ts';
import type { Event } from '../../src/inbox/event.ts';
import { begin, selectedRow } from '../../src/inbox/model.ts';
import { keyOf } from '../../src/inbox/row.ts';
import { frameOf } from '../../src/inbox/view/frame.ts';
import { after, chatOf, doing, inboxOf, keyEvent, now, readIn, rowOf, typing, views } from './models.ts';

const frameText = (model: Parameters<typeof frameOf>[0]): string =>
  frameOf(model, { paint: (_, text) => text, selected: (text) => text }).join('\n');

const three = [rowOf(1), chatOf(2), rowOf(3)];

const kept = (items: readonly Kept[], parts: Partial<Extract<Event, { is: 'kept' }>> = {}): Event => ({
  ...{
    is: 'kept',
    means: 'reply',
    ends: 'send',
    items,
    mode: 'allow',
    holdMs: 0,
    shown: 'It is fixed.',
    isAgreed: false,
  },
  ...parts,
});

const item = (draft: number, row = rowOf(1)): Kept => ({
  row,
  draft,
  digest: `d${draft}`,
  told: `Draft ${draft} waits.`,
});

test('j and k move, g and G go to the ends', () => {
  const at = (...keys: string[]) => selectedRow(typing(inboxOf(three), ...keys).model)?.id;
  expect([at('j'), at('j', 'k'), at('G'), at('G', 'g'), at('k'), at('j', 'j', 'j', 'j')]).toEqual([2, 1, 3, 1, 1, 3]);
});

test('what keeps the list and the copy from coming is said once', () => {
  const told = 'Profile default is not logged in.';
  const none = begin({ view: 'waiting', views, size: { columns: 120, rows: 30 }, now });
  const { model } = after(none.model, [
    { is: 'copy', copy: { told }, isNew: false },
    { is: 'no-rows', ask: none.model.list.asked, told, isWrong: false },
  ]);
  expect(frameText(model).split(told)).toHaveLength(2);
  const besideRows = after(inboxOf(three, { columns: 120, rows: 30 }), [{ is: 'copy', copy: { told }, isNew: false }]);
  expect(frameText(besideRows.model).split('\n')[0]).toContain(told);
});

test('beside the list the thread of what is selected is opened, below it on Enter', () => {
  const wide = inboxOf(three, { columns: 120, rows: 30 });
  expect(wide.opened?.row.id).toBe(1);
  expect(doing(typing(wide, 'j'), 'open')).toEqual([{ do: 'open', row: three[1], view: 'waiting' }]);
  const narrow = inboxOf(three);
  expect(doing(typing(narrow, 'j'), 'open')).toEqual([]);
  const opened = typing(narrow, 'enter');
  expect([opened.model.focus, doing(opened, 'open').length]).toEqual(['thread', 1]);
  expect(typing(opened.model, 'escape').model.focus).toBe('list');
});

test('rows that come late, of an earlier request, are not shown', () => {
  const model = typing(inboxOf(three), 'v', 'enter').model;
  expect(after(model, [{ is: 'rows', ask: 1, offset: 0, rows: three, total: 3 }]).model.list.rows).toEqual([]);
});

test('what was selected stays selected where rows come before it', () => {
  const model = typing(inboxOf(three), 'j').model;
  const rows = [rowOf(9), ...three];
  const next = after(model, [{ is: 'rows', ask: 1, offset: 0, rows, total: 4 }]).model;
  expect(selectedRow(next)?.id).toBe(2);
});

test('no row above is hidden while a line below is empty: rows come before the first, the view shrinks, the screen grows', () => {
  const many = Array.from({ length: 40 }, (_, at) => rowOf(at + 1));
  const wide = { columns: 100, rows: 30 };
  const begun = inboxOf(many.slice(-1), wide);
  const first = after(begun, [{ is: 'rows', ask: 1, offset: 0, rows: many.slice(-10), total: 10 }]).model;
  expect(first.list).toMatchObject({ selected: 9, top: 0 });
  const full = after(first, [{ is: 'rows', ask: 1, offset: 0, rows: many, total: 40 }]).model;
  expect(full.list).toMatchObject({ selected: 39, top: 40 - 13 });
  const fewer = after(full, [{ is: 'rows', ask: 1, offset: 0, rows: many.slice(20), total: 20 }]).model;
  expect(fewer.list).toMatchObject({ selected: 19, top: 20 - 13 });
  const small = after(full, [{ is: 'resize', columns: 80, rows: 13 }]).model;
  expect(small.list).toMatchObject({ selected: 39, top: 30 });
  expect(after(small, [{ is: 'resize', columns: 80, rows: 60 }]).model.list).toMatchObject({ selected: 39, top: 0 });
});

test('whoever reads in the middle stays on the same line where rows come before', () => {
  const many = Array.from({ length: 60 }, (_, at) => rowOf(at + 1));
  const size = { columns: 80, rows: 23 };
  const middle = typing(inboxOf(many, size), 'pagedown', 'pagedown', 'k').model;
  const line = middle.list.selected - middle.list.top;
  const next = after(middle, [{ is: 'rows', ask: 1, offset: 0, rows: [rowOf(99), ...many], total: 61 }]).model;
  expect(selectedRow(next)?.id).toBe(selectedRow(middle)?.id);
  expect(next.list.selected - next.list.top).toBe(line);
});

test('of 100,000 rows only a window is asked for, and the next one near its end', () => {
  const window = Array.from({ length: 200 }, (_, at) => rowOf(at));
  const { model } = after(inboxOf([]), [{ is: 'rows', ask: 1, offset: 0, rows: window, total: 100_000 }]);
  const end = typing(model, 'G');
  expect(doing(end, 'list')).toEqual([{ do: 'list', ask: 2, view: 'waiting', offset: 99_899, most: 200 }]);
  expect(end.model.list.selected).toBe(99_999);
});

test('a reply is written in the editor, and leaves once its draft is kept', () => {
  const written = typing(inboxOf(three), 'r');
  expect(written.effects).toEqual([{ do: 'compose', means: 'reply', rows: [three[0]], ends: 'send' }]);
  const sent = after(written.model, [kept([item(7)])]);
  expect(doing(sent, 'send')).toMatchObject([{ draft: 7, digest: 'd7', means: 'reply' }]);
});

test('in mode ask somebody sees the text and agrees; in mode draft it stays a draft', () => {
  const asked = after(inboxOf(three), [kept([item(7)], { mode: 'ask' })]);
  expect(doing(asked, 'send')).toEqual([]);
  expect(asked.model.over).toMatchObject({ is: 'question', shown: 'It is fixed.' });
  expect(doing(typing(readIn(asked), 'enter', 'space'), 'send')).toEqual([]);
  expect(doing(typing(readIn(asked), 'y'), 'send')).toHaveLength(1);
  const left = typing(readIn(asked), 'escape');
  expect([doing(left, 'send'), left.model.jobs.at(-1)?.told]).toEqual([[], 'Nothing was sent. Draft 7 waits.']);
  const drafted = after(inboxOf(three), [kept([item(7)], { mode: 'draft' })]);
  expect([drafted.effects, drafted.model.jobs.at(-1)]).toMatchObject([
    [],
    { state: 'drafted', told: 'Draft 7 waits.' },
  ]);
});

test('d makes a draft, whatever the mode', () => {
  expect(typing(inboxOf(three), 'd').effects).toMatchObject([{ do: 'compose', ends: 'draft' }]);
  expect(after(inboxOf(three), [kept([item(7)], { ends: 'draft' })]).effects).toEqual([]);
});

test('what is held leaves after its seconds, and u takes it back', () => {
  const held = after(inboxOf(three), [kept([item(7)], { holdMs: 10_000 })]);
  expect([held.effects, held.model.jobs.at(-1)?.state]).toEqual([[], 'held']);
  expect(doing(after(held.model, [{ is: 'tick', now: now + 9_999 }]), 'send')).toEqual([]);
  expect(doing(after(held.model, [{ is: 'tick', now: now + 10_000 }]), 'send')).toHaveLength(1);
  const back = typing(held.model, 'u');
  expect(doing(after(back.model, [{ is: 'tick', now: now + 99_999 }]), 'send')).toEqual([]);
  expect(back.model.jobs.at(-1)?.told).toBe('Taken back. Nothing was sent; the text is draft 7.');
});

test('a ticket is resolved at once, a conversation is asked about first', () => {
  expect(typing(inboxOf(three), 'e').effects).toMatchObject([{ do: 'change', change: { act: 'resolve' } }]);
  const asked = typing(inboxOf(three), 'j', 'e');
  expect(asked.effects).toEqual([]);
  expect(typing(asked.model, 'y').effects).toMatchObject([{ do: 'keep', means: 'resolve' }]);
  expect(typing(asked.model, 'n').effects).toEqual([]);
});

test('keys for tickets do nothing on a conversation', () => {
  for (const key of ['c', 'o', 'p', 'n']) expect(typing(inboxOf(three), 'j', key).effects, key).toEqual([]);
});

test('several that are marked are asked about once', () => {
  const asked = typing(inboxOf([rowOf(1), rowOf(2), rowOf(3)]), 'x', 'x', 'c');
  expect([asked.effects, asked.model.over]).toMatchObject([[], { title: 'Close: 2 that are marked?' }]);
  expect(doing(typing(asked.model, 'y'), 'change')).toHaveLength(2);
  const reply = after(inboxOf(three), [kept([item(7), item(8, rowOf(3))])]);
  expect(doing(reply, 'send')).toEqual([]);
  expect(doing(typing(readIn(reply), 'y'), 'send')).toHaveLength(2);
});

test('a template is picked, seen, and then sent', () => {
  const picking = after(typing(inboxOf(three), 't').model, [
    {
      is: 'templates',
      rows: [rowOf(1)],
      templates: [
        { value: 'thanks', name: 'thanks' },
        { value: 'refund', name: 'refund' },
      ],
    },
  ]);
  const filled = typing(picking.model, 'r', 'e', 'f', 'enter');
  expect(filled.effects).toEqual([{ do: 'fill', template: 'refund', rows: [rowOf(1)] }]);
  const seen = after(filled.model, [{ is: 'filled', rows: [rowOf(1)], texts: ['Hi'], shown: 'Hi' }]);
  expect(seen.effects).toEqual([]);
  expect(typing(readIn(seen), 'y').effects).toMatchObject([
    { do: 'keep', means: 'reply', texts: ['Hi'], ends: 'send' },
  ]);
  expect(typing(readIn(seen), 'd').effects).toMatchObject([{ do: 'keep', ends: 'draft' }]);
  expect(typing(readIn(seen), 'e').effects).toMatchObject([{ do: 'compose', initial: ['Hi'] }]);
});

test('a thread that is newer than what was read is said before the reply leaves', () => {
  const sending = after(inboxOf(three), [kept([item(7)])]);
  const changed: Event = {
    is: 'changed',
    job: 1,
    means: 'reply',
    item: { ...item(7), digest: 'new' },
    shown: 'The customer has written again.',
    holdMs: 0,
  };
  const asked = after(sending.model, [changed]);
  expect([asked.effects, asked.model.over]).toMatchObject([[], { title: 'Send it all the same?' }]);
  expect(doing(typing(readIn(asked), 'y'), 'send')).toMatchObject([{ draft: 7, digest: 'new' }]);
  expect(typing(readIn(asked), 'e').effects).toMatchObject([{ do: 'edit', draft: 7 }]);
});

test('a question never takes the keys of somebody who is typing', () => {
  const searching = typing(inboxOf(three), '/').model;
  const changed: Event = { is: 'changed', job: 1, means: 'reply', item: item(7), shown: 'New.', holdMs: 0 };
  const typed = typing(after(searching, [changed]).model, 'y', 'e', 's');
  expect([typed.effects, typed.model.over]).toMatchObject([[], { is: 'prompt', text: 'yes' }]);
  const asked = typing(typed.model, 'escape').model.over;
  expect(asked).toMatchObject({ is: 'question', title: 'Send it all the same?' });
});

const asks = (draft: number): Event => ({
  ...{ is: 'changed', job: draft, means: 'reply', item: item(draft), shown: 'New.', holdMs: 0 },
});

test('a key answers a question that came up by itself only once somebody can have read it', () => {
  const both = after(inboxOf(three), [asks(71), asks(72)]);
  for (const key of ['y', 'e', 'n', 'escape']) {
    const early = typing(both.model, key, key);
    expect([early.effects, early.model]).toEqual([[], both.model]);
  }
  const twice = typing(readIn(both), 'y', 'y');
  expect(doing(twice, 'send')).toMatchObject([{ draft: 71 }]);
  expect(doing(typing(readIn(twice), 'y'), 'send')).toMatchObject([{ draft: 72 }]);
  const away = after(inboxOf(three), [{ is: 'away', isAway: true }, asks(71)]);
  const back = after(readIn(away), [{ is: 'away', isAway: false }]);
  expect(doing(typing(back.model, 'y'), 'send')).toEqual([]);
  expect(doing(typing(readIn(back), 'y'), 'send')).toHaveLength(1);
});

test('a clock that was set back holds no answer up', () => {
  const asked = after(inboxOf(three), [asks(71)]).model;
  const back = { ...asked, now: asked.now - 3_600_000 };
  expect(doing(typing(back, 'y'), 'send')).toMatchObject([{ draft: 71 }]);
});

test('an answer of before holds no key up behind another page', () => {
  const answered = readIn(typing(readIn(after(inboxOf(three), [asks(71)])), 'n'));
  const help = typing(typing(answered, '?').model, 'q');
  expect(typing(help.model, 'n').effects.length + (typing(help.model, 'n').model.over ? 1 : 0)).toBeGreaterThan(0);
});

test('a key that answers and is pressed twice does nothing in the list', () => {
  const asked = readIn(after(inboxOf(three), [asks(71)]));
  expect(typing(asked, 'e', 'e').effects).toMatchObject([{ do: 'edit' }]);
  expect(typing(readIn(typing(asked, 'e')), 'e').effects).toMatchObject([{ do: 'change' }]);
});

test('drafts are approved once they were read', () => {
  const model = inboxOf([rowOf(7, { kind: 'draft', number: null })], undefined, 'drafts');
  const asked = typing(model, 'a');
  expect(asked.effects).toMatchObject([{ do: 'read-drafts' }]);
  const read = after(asked.model, [{ is: 'to-approve', items: [item(7)], shown: 'To: …', holdMs: 0 }]);
  expect(read.effects).toEqual([]);
  expect(typing(readIn(read), 'y').effects).toMatchObject([{ do: 'send', digest: 'd7' }]);
  expect(typing(inboxOf(three), 'a').effects).toEqual([]);
});

test('the line of a draft that was made goes once that draft is sent', () => {
  const drafted = after(inboxOf(three), [kept([item(7)], { mode: 'draft' })]).model;
  expect(drafted.jobs).toMatchObject([{ state: 'drafted', draft: 7 }]);
  const asked = after(drafted, [{ is: 'to-approve', items: [item(7)], shown: 'To: …', holdMs: 0 }]).model;
  const sending = typing(readIn({ model: asked }), 'y');
  const [send] = doing(sending, 'send') as { job: number }[];
  const sent = after(sending.model, [{ is: 'ended-job', job: send?.job ?? 0, state: 'done', told: 'Sent.' }]).model;
  expect(sent.jobs.map(({ told }) => told)).toEqual(['Sent.']);
});

test('what is refused, unknown or a draft stays in a line until Escape', () => {
  const refused = after(inboxOf(three), [{ is: 'told', told: 'Refused: the address is wrong.', state: 'refused' }]);
  const gone = (...keys: string[]) => typing(refused.model, ...keys).model.jobs.length;
  expect([gone('j', 'k', 'x'), gone('escape')]).toEqual([1, 0]);
});

test('snoozing takes an hour, a day, a Monday, the customer, or a time that is typed', () => {
  const asked = typing(inboxOf(three), 'z').model;
  expect(typing(asked, 'enter').effects).toMatchObject([{ do: 'snooze', until: 'hour' }]);
  expect(typing(asked, 'down', 'down', 'down', 'enter').effects).toMatchObject([{ until: 'customer' }]);
  const time = typing(asked, 'down', 'down', 'down', 'down', 'enter');
  expect(time.effects).toEqual([]);
  expect(typing(time.model, 'i', 'n', ' ', '2', 'h', 'enter').effects).toMatchObject([{ until: { time: 'in 2h' } }]);
});

test('q ends; with something held it asks; with something on its way it waits for it', () => {
  expect(typing(inboxOf(three), 'q').effects).toEqual([{ do: 'end' }]);
  const held = after(inboxOf(three), [kept([item(7)], { holdMs: 9_000 })]).model;
  expect(typing(held, 'q').effects).toEqual([]);
  expect(typing(held, 'q', 'y').effects).toEqual([{ do: 'end' }]);
  const sending = after(inboxOf(three), [kept([item(7)])]).model;
  const waiting = typing(sending, 'q');
  expect(doing(waiting, 'end')).toEqual([]);
  const done: Event = { is: 'ended-job', job: 1, state: 'done', told: 'Sent.' };
  expect(doing(after(waiting.model, [done]), 'end')).toHaveLength(1);
  expect(doing(typing(waiting.model, 'q'), 'end')).toEqual([{ do: 'end', isNow: true }]);
});

test('while it is asked whether to end nothing that is held leaves, and after it there is time to take it back', () => {
  const held = after(inboxOf(three), [kept([item(7)], { holdMs: 9_000 })]).model;
  const asked = after(typing(held, 'q').model, [{ is: 'tick', now: now + 60_000 }]);
  expect(asked.effects).toEqual([]);
  expect(frameText(asked.model)).toContain('leaves in 3 s');
  const goneOn = typing(asked.model, 'escape').model;
  expect(after(goneOn, [{ is: 'tick', now: now + 62_000 }]).effects).toEqual([]);
  expect(doing(after(goneOn, [{ is: 'tick', now: now + 63_000 }]), 'send')).toHaveLength(1);
});

test('while the editor has the screen no key does anything', () => {
  const away = after(inboxOf(three), [{ is: 'away', isAway: true }]).model;
  for (const key of ['q', 'r', 'e', 'y']) expect(after(away, [keyEvent(key)]).effects).toEqual([]);
});

test('a search shows what the copy holds of the words, and v leads back', () => {
  const found = typing(inboxOf(three), '/', 'r', 'e', 'f', 'u', 'n', 'd', 'enter');
  expect(found.effects).toEqual([{ do: 'list', ask: 2, view: 'search', words: 'refund', offset: 0, most: 200 }]);
  const back = typing(found.model, 'v', 'enter').effects;
  expect(back).toEqual([{ do: 'list', ask: 3, view: 'waiting', offset: 0, most: 200 }]);
});

test('what is held waits its whole time, however long nothing happened before', () => {
  let clock = now;
  const engine = startEngine(
    { size: { columns: 80, rows: 24 }, now: clock, view: 'waiting', views: [] },
    { perform: async () => {}, changed: () => {}, failed: (error) => expect(error).toBeUndefined(), now: () => clock },
  );
  clock += 12_000;
  engine.tell(kept([item(7)], { holdMs: 10_000 }));
  expect(engine.model().jobs.at(-1)).toMatchObject({ state: 'held', until: clock + 10_000 });
});

const ended = (job: number, state: 'done' | 'unknown' | 'refused', mark?: string, isUnsent = false): Event => ({
  ...{ is: 'ended-job', job, state, told: `Job ${job}` },
  ...(mark !== undefined && { mark }),
  ...(isUnsent && { isUnsent }),
});

test('what nobody knows of stays marked, and is not done again before somebody looked or the copy showed it', () => {
  const lost = after(typing(inboxOf(three), 'e').model, [ended(1, 'unknown')]).model;
  expect(frameText(lost)).toMatch(/\? unknown Export 1 fails/u);
  for (const key of ['e', 'c', 'p', 'r', 'n', 't', 'd']) {
    const again = typing(lost, 'escape', key);
    expect([again.effects, again.model.over], key).toEqual([[], undefined]);
    expect(again.model.jobs.at(-1)?.told).toMatch(/^It is not known whether the last change of T-1001 was done/u);
  }
  const copy = after(lost, [{ is: 'copy', copy: {}, isNew: true, began: now + 1 }]).model;
  expect(copy.handled['ticket 1']?.seen).toBeDefined();
  const rows = [{ ...rowOf(1), status: 'resolved' }, chatOf(2), rowOf(3)];
  expect(after(copy, [{ is: 'rows', ask: 2, offset: 0, rows, total: 3 }]).model.handled).toEqual({});
  expect(doing(typing(lost, 'escape', 'enter', 'e'), 'change')).toHaveLength(1);
});

test('u opens again what was resolved or closed last, as it was, from wherever one is', () => {
  const rows = [rowOf(1, { status: 'pending' }), rowOf(2), rowOf(3)];
  const resolved = after(typing(inboxOf(rows), 'e').model, [ended(1, 'done', 'resolved')]).model;
  const gone = after(resolved, [{ is: 'rows', ask: 1, offset: 0, rows: rows.slice(1), total: 2 }]).model;
  const back = typing(gone, 'j', 'u');
  expect(doing(back, 'change')).toMatchObject([{ row: { id: 1 }, change: { act: 'reopen', to: 'pending' } }]);
  expect(doing(typing(back.model, 'u'), 'change')).toEqual([]);
});

test('u opens all of those again that one key closed, each as it was, and what failed not', () => {
  const rows = [rowOf(1, { status: 'pending' }), rowOf(2), rowOf(3), rowOf(4)];
  const asked = typing(inboxOf(rows), 'x', 'x', 'x', 'c').model;
  const begun = typing(asked, 'y').model;
  const closed = after(begun, [ended(1, 'done', 'closed'), ended(2, 'refused'), ended(3, 'done', 'closed')]).model;
  const back = typing(closed, 'u');
  expect(doing(back, 'change')).toMatchObject([
    { row: { id: 1 }, change: { act: 'reopen', to: 'pending' } },
    { row: { id: 3 }, change: { act: 'reopen', to: 'open' } },
  ]);
  expect(doing(typing(back.model, 'u'), 'change')).toEqual([]);
  const alone = after(typing(closed, 'j', 'e').model, [ended(4, 'done', 'resolved')]).model;
  expect(doing(typing(alone, 'u'), 'change')).toMatchObject([{ row: { id: 4 } }]);
});

test('another change that ends between does not keep u from opening all of them, nor does what was closed already', () => {
  const rows = [rowOf(1), rowOf(2), rowOf(3), rowOf(4)];
  const begun = typing(typing(inboxOf(rows), 'x', 'x', 'x', 'c').model, 'y').model;
  const first = after(begun, [ended(1, 'done', 'closed')]).model;
  const other = typing(first, 'j', 'j', 'p', '2', 'enter').model;
  expect(other.jobs.some(({ id, change }) => id === 4 && change?.act === 'priority')).toBe(true);
  const all = after(other, [ended(4, 'done', 'P2'), ended(2, 'done', 'closed')]).model;
  const colleague = after(all, [ended(3, 'done', 'closed', true)]).model;
  expect(doing(typing(colleague, 'u'), 'change')).toMatchObject([{ row: { id: 1 } }, { row: { id: 2 } }]);
});

test('u does not open again what was opened since', () => {
  const closed = after(typing(inboxOf([rowOf(1), rowOf(2)]), 'e').model, [ended(1, 'done', 'resolved')]).model;
  const back = typing(closed, 'u').model;
  const opened = after({ ...back, undo: closed.undo }, [ended(2, 'done', 'open')]).model;
  expect(opened.undo).toBeUndefined();
});

test('a key for rows that are still being read is not told that it does nothing', () => {
  const { model } = begin({ size: { columns: 80, rows: 24 }, now, view: 'open', views: [] });
  expect(typing(model, 'G', 'j', 'e').model.jobs).toEqual([]);
  const empty = after(model, [{ is: 'rows', ask: 1, offset: 0, rows: [], total: 0 }]).model;
  expect(typing(empty, 'G').model.jobs).toMatchObject([{ told: expect.stringContaining('G does nothing here.') }]);
});

test('a key that does nothing here says so', () => {
  const open = typing(inboxOf(three), 'o');
  expect([open.effects, open.model.jobs.at(-1)?.told]).toEqual([
    [],
    'o does nothing here. Elsewhere it means: open again (tickets).',
  ]);
});

test('what happened last is shown, the others are counted; Escape takes a line and nothing else', () => {
  const first = after(typing(inboxOf(three), 'enter').model, [kept([item(7)], { ends: 'draft' })]).model;
  const second = after(first, [kept([item(8)], { means: 'note' })]).model;
  const done = after(second, [ended(2, 'done', 'noted')]).model;
  expect(frameText(done)).toMatch(/✓ Job 2 \(\+1\)/u);
  const read = typing(done, 'escape').model;
  expect([read.focus, frameText(read)]).toEqual(['thread', expect.stringContaining('✎ Draft 7 waits.')]);
  expect(typing(read, 'escape', 'escape').model).toMatchObject({ focus: 'list', jobs: [] });
});

test('what went well goes with the next key, whatever it is', () => {
  const done = after(typing(inboxOf(three), 'e').model, [ended(1, 'done', 'resolved')]).model;
  expect(typing(done, '/').model.jobs).toEqual([]);
});

test('a time may be typed where something is put away', () => {
  expect(doing(typing(inboxOf(three), 'z', ...'in 2h', 'enter'), 'snooze')).toMatchObject([
    { until: { time: 'in 2h' } },
  ]);
  // The picture of it does not deny that.
  expect(frameText(typing(inboxOf(three), 'z', ...'in 2h').model)).toContain('Return takes it as a time.');
  expect(frameText(typing(inboxOf(three), 'v', ...'in 2h').model)).toContain('Nothing like that.');
});

test('a draft that waits is seen on its row, and told before another is written', () => {
  const counts = { waiting: 1, sending: 0, refused: 0 };
  const model = after(inboxOf(three), [{ is: 'drafts', counts, records: ['ticket 1'] }]).model;
  expect(frameText(model)).toMatch(/✎ draft Export 1 fails/u);
  const effect = { do: 'compose' as const, means: 'reply' as const, rows: three.slice(0, 1), ends: 'send' as const };
  const asked = after(model, [{ is: 'doubt', why: 'A draft waits already for T-1001.', effect }]).model;
  expect(typing(readIn({ model: asked }), 'escape').effects).toEqual([]);
  expect(typing(readIn({ model: asked }), 'y').effects).toEqual([{ ...effect, isAgreed: true }]);
});

test('of several that are done, what is left is counted down, and what was refused is still to be read', () => {
  const rows = [rowOf(1), rowOf(2), rowOf(3), rowOf(4)];
  const asked = typing(inboxOf(rows), 'x', 'x', 'x', 'x', 'e', 'y');
  const ids = asked.model.jobs.map(({ id }) => id);
  const ended = (at: number, state: 'done' | 'refused'): Event => ({
    ...{ is: 'ended-job', job: ids[at] ?? 0, state, told: `T-100${at + 1}: ${state}.` },
  });
  const lines = [ended(0, 'done'), ended(1, 'refused'), ended(2, 'done'), ended(3, 'done')].map((_, at, all) => {
    const { model } = after(asked.model, all.slice(0, at + 1));
    return frameText(model).split('\n').at(-2)?.trim();
  });
  expect(lines).toEqual([
    '✓ T-1001: done. (+3)',
    '✗ T-1002: refused. (+2) · Esc',
    '✓ T-1003 and 1 other are resolved. u takes them back. (+2)',
    '✓ T-1004 and 2 others are resolved. u takes them back. (+1)',
  ]);
});

const newer: Event = { is: 'copy', copy: {}, isNew: true, began: now };
const failedView = (isWrong: boolean): Event => ({ is: 'no-rows', ask: 2, told: 'It took too long.', isWrong });

test('a view whose query is at fault is asked again by a person alone: each time may take twenty seconds', () => {
  const asked = after(inboxOf(three), [newer]);
  expect(doing(asked, 'list')).toHaveLength(1);
  const wrong = after(asked.model, [failedView(true)]).model;
  expect(doing(after(wrong, [newer, newer]), 'list')).toEqual([]);
  expect(doing(after(wrong, [keyEvent('R'), newer]), 'list')).toHaveLength(1);
  // What failed otherwise, as a copy that is locked, is asked again with what is new.
  const locked = after(asked.model, [failedView(false)]).model;
  expect(doing(after(locked, [newer]), 'list')).toHaveLength(1);
});

test('what becomes new while rows are awaited is asked for once, when they have come', () => {
  const asked = after(inboxOf(three), [newer]);
  const waiting = after(asked.model, [newer, newer, newer]);
  expect(doing(waiting, 'list')).toEqual([]);
  const come = after(waiting.model, [{ is: 'rows', ask: 2, offset: 0, rows: three, total: 3 }]);
  expect(doing(come, 'list')).toMatchObject([{ ask: 3 }]);
  const last = after(come.model, [{ is: 'rows', ask: 3, offset: 0, rows: three, total: 3 }]);
  expect(doing(last, 'list')).toEqual([]);
});

test('a number of the service with control characters is shown, not obeyed, where a row has no subject', () => {
  const row = rowOf(7, { number: '\u001B[31mT-7', subject: null, why: null });
  for (const columns of [40, 60, 80, 200])
    expect(frameText(inboxOf([row], { columns, rows: 24 }))).not.toContain('\u001B');
});

test.each([
  ['none', 0],
  ['low', 1],
  ['normal', 2],
  ['high', 3],
  ['urgent', 4],
])('the priority that --priority calls %s is %i here too', (word, priority) => {
  const { effects } = typing(inboxOf([rowOf(1)]), 'p', ...word, 'enter');
  expect(effects).toMatchObject([{ change: { act: 'priority', priority } }]);
});

test('Escape leads out of a search, to the view that it was begun in', () => {
  const searched = typing(
    inboxOf([rowOf(1)], undefined, 'open'),
    '/',
    ...'refund',
    'enter',
    '/',
    ...'late',
    'enter',
  ).model;
  expect([searched.view, searched.words]).toEqual(['search', 'late']);
  const marked = { ...searched, marked: [rowOf(1)] };
  expect(typing(marked, 'escape').model).toMatchObject({ view: 'search', marked: [] });
  const back = typing(marked, 'escape', 'escape');
  expect([back.model.view, back.model.words, back.effects]).toMatchObject([
    'open',
    undefined,
    [{ do: 'list', view: 'open' }],
  ]);
});

test('where somebody else took the selected row away, a key that was meant for it does nothing to the next', () => {
  const three = [rowOf(1), rowOf(2), rowOf(3)];
  const taken: Event = { is: 'rows', ask: 1, offset: 0, rows: three.slice(1), total: 2 };
  const { model } = after(inboxOf(three), [taken]);
  expect(selectedRow(model)?.id).toBe(2);
  const early = typing(model, 'e');
  expect([doing(early, 'change'), early.model.jobs.at(-1)?.told]).toEqual([
    [],
    'This row has just come here: look at it first.',
  ]);
  expect(doing(typing({ ...model, now: model.now + 700 }, 'e'), 'change')).toHaveLength(1);
  // What somebody did here themselves is no surprise.
  const own = { ...inboxOf(three), handled: { 'ticket 1': { mark: 'resolved', at: now } } };
  expect(Object.keys(own.handled)).toEqual([keyOf(rowOf(1))]);
  expect(doing(typing(after(own, [taken]).model, 'e'), 'change')).toHaveLength(1);
});

test.each([
  [['e'], 'change'],
  [['r'], 'compose'],
  [['z'], undefined],
  [['p'], undefined],
  [['enter', 'e'], 'change'],
  [['x', 'x', 'e'], undefined],
])(
  'a key is for rows that somebody has seen: in the moment in which the first come, %j does nothing to them',
  (keys, does) => {
    const rows: Event = { is: 'rows', ask: 1, offset: 0, rows: [rowOf(1), rowOf(2)], total: 2 };
    const { model } = after(begin({ size: { columns: 80, rows: 24 }, now, view: 'waiting', views }).model, [rows]);
    const early = typing(model, ...keys);
    const writes = early.effects.filter((effect) => effect.do !== 'open' && effect.do !== 'list');
    expect([writes, early.model.over, early.model.marked]).toEqual([[], undefined, []]);
    expect(early.model.jobs.at(-1)?.told).toBe('This row has just come here: look at it first.');
    const seen = typing({ ...model, now: model.now + 700 }, ...keys);
    expect(does ? doing(seen, does).length : seen.model.over !== undefined).toBeTruthy();
  },
);

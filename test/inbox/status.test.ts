/** The keys that work, and are named, go by the status that is shown: of the thread, and of what was done here. */
import { expect, test } from 'vitest';
import type { Event } from '../../src/inbox/event.ts';
import type { Model } from '../../src/inbox/model.ts';
import { firstLine, keyLine } from '../../src/inbox/view/around.ts';
import { desk, linear } from './desk.ts';
import { after, doing, inboxOf, keyEvent, rowOf, typing } from './models.ts';

const open = [rowOf(1), rowOf(2)];

const keysOf = (model: Model): string[] =>
  keyLine({ ...model, size: { columns: 300, rows: 30 } })
    .map(({ text }) => text.trim())
    .filter((text) => ['resolve', 'close', 'reopen'].includes(text));

const threadIs = (status: string): Event => ({
  ...{ is: 'opened', row: rowOf(1), thread: { title: '', facts: [status], status, fields: [], messages: [] } },
});

const ended = (job: number, mark: string): Event => ({
  ...{ is: 'ended-job', job, state: 'done', told: `Job ${job}.`, mark },
});

test.each([
  ['open', ['resolve', 'close']],
  ['resolved', ['close', 'reopen']],
  ['closed', ['reopen']],
])('a thread that is %s has its keys, whatever the list says', (status, names) => {
  const wide = after(inboxOf(open, { columns: 120, rows: 30 }), [threadIs(status)]).model;
  expect([keysOf(wide), keysOf(typing(wide, 'tab').model)]).toEqual([names, names]);
  const narrow = after(typing(inboxOf(open), 'enter').model, [threadIs(status)]).model;
  expect(keysOf(narrow)).toEqual(names);
  expect(doing(typing(narrow, 'o'), 'change')).toHaveLength(names.includes('reopen') ? 1 : 0);
});

test('what was done here counts until the copy shows it, and another change does not take it away', () => {
  const closed = after(typing(inboxOf(open), 'c').model, [ended(1, 'closed')]).model;
  expect(keysOf(closed)).toEqual(['reopen']);
  const urgent = after(typing(closed, 'p', '4', 'enter').model, [ended(2, 'P4')]).model;
  expect(keysOf(urgent)).toEqual(['reopen']);
  const again = after(typing(urgent, 'o').model, [ended(3, 'open')]).model;
  expect(keysOf(again)).toEqual(['resolve', 'close']);
  const copied = after(closed, [{ is: 'copy', copy: {}, isNew: true, began: closed.now + 1 }]).model;
  const rows = [rowOf(1, { status: 'resolved' }), rowOf(2)];
  const shown = after(copied, [{ is: 'rows', ask: copied.list.asked, offset: 0, rows, total: 2 }]).model;
  expect(keysOf(shown)).toEqual(['close', 'reopen']);
});

test('u opens again as it was shown, and a change that nobody knows of is settled by what the copy shows', () => {
  const resolved = after(typing(inboxOf(open), 'e').model, [ended(1, 'resolved')]).model;
  const closed = after(typing(resolved, 'c').model, [ended(2, 'closed')]).model;
  expect(doing(typing(closed, 'u'), 'change')).toMatchObject([{ change: { act: 'reopen', to: 'resolved' } }]);
  const lost: Event = { is: 'ended-job', job: 2, state: 'unknown', told: 'Lost.' };
  const unknown = after(typing(resolved, 'c').model, [lost]).model;
  const same = { ...{ is: 'rows' as const, ask: unknown.list.asked, offset: 0 }, rows: open, total: 2 };
  expect(after(unknown, [same]).model.handled['ticket 1']?.seen).toEqual({ status: 'open', priority: 2 });
});

test('a ticket that was closed here is opened again, and resolved, from its thread', { tags: ['long'] }, async () => {
  const world = await desk();
  const { stdout } = await linear(world, ['1', 'c', 'o', 'e', 'q'], { columns: 200 });
  expect(stdout).toMatch(/is closed\. u takes it back\.\n(?:.*\n)*.*is open again\.\n(?:.*\n)*.*is resolved\./u);
  expect(stdout).not.toContain('does nothing');
  expect(world.sent.filter((one) => one.startsWith('PATCH'))).toHaveLength(3);
});

test('of several that are marked each has the status that is shown', () => {
  const closed = after(typing(inboxOf(open), 'c').model, [ended(1, 'closed')]).model;
  const both = after(closed, ['g', 'x', 'x'].map(keyEvent)).model;
  expect(keysOf(both)).toEqual([]);
});

test('the first line tells the requests left, or that the service does not answer, until it is there again', () => {
  const words = (left: Model['left'], model = inboxOf(open)): [Model, string] => {
    const next = after(model, [{ is: 'left', left }]).model;
    return [
      next,
      firstLine(next)
        .map(({ text }) => text)
        .join('')
        .trim(),
    ];
  };
  const [some, first] = words(60);
  const [none, second] = words('no answer', some);
  expect([first, second]).toEqual(['waiting  2  60 requests left', 'waiting  2  the service does not answer']);
  expect([words(59, none)[1], words(undefined, none)[1]]).toEqual(['waiting  2  59 requests left', 'waiting  2']);
});

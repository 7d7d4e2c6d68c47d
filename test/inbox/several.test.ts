/** What the line above the keys tells of several rows that one answer changed. */
import { expect, test } from 'vitest';
import type { Event } from '../../src/inbox/event.ts';
import type { Model } from '../../src/inbox/model.ts';
import type { Row } from '../../src/inbox/row.ts';
import { json } from '../mirror/engines.ts';
import { desk, linear } from './desk.ts';
import { after, chatOf, doing, inboxOf, rowOf, typing } from './models.ts';

const three = [rowOf(1), rowOf(2), rowOf(3)];

const ended = (job: number, parts: Partial<Extract<Event, { is: 'ended-job' }>> = {}): Event => ({
  ...{ is: 'ended-job', job, state: 'done', told: `Job ${job}.` },
  ...parts,
});

const mark = (rows: readonly Row[], ...keys: string[]): Model =>
  typing(inboxOf(rows), ...rows.map(() => 'x'), ...keys).model;

/** What is told once the jobs of these numbers are over. */
const toldBy = (model: Model, ...ends: Event[]) => after(model, ends).model.jobs.at(-1)?.told;

const closed = rowOf(0, { status: 'closed' });

test.each([
  [['c', 'y'], three, 'T-1003 and 2 others are closed. u takes them back.'],
  [['e', 'y'], three, 'T-1003 and 2 others are resolved. u takes them back.'],
  [['p', '3', 'enter'], three, 'T-1003 and 2 others have priority 3.'],
  [['o', 'y'], three.map((row) => ({ ...row, status: closed.status })), 'T-1003 and 2 others are open again.'],
])('%j on three that are marked tells of all three', (keys, rows, told) => {
  expect(toldBy(mark(rows, ...keys), ended(1), ended(2), ended(3))).toBe(told);
});

test('one alone is told as it is', () => {
  expect(toldBy(typing(inboxOf(three), 'c').model, ended(1))).toBe('Job 1.');
  expect(toldBy(mark(three, 'c', 'y'), ended(1))).toBe('Job 1.');
});

test('what was refused, or was so already, is not among the others; a key that is pressed meanwhile takes none away', () => {
  const asked = mark(three, 'c', 'y');
  const isUnsent = true;
  expect(toldBy(asked, ended(1), ended(2, { state: 'refused' }), ended(3))).toBe(
    'T-1003 and 1 other are closed. u takes them back.',
  );
  expect(toldBy(asked, ended(1, { isUnsent }), ended(2), ended(3))).toBe(
    'T-1003 and 1 other are closed. u takes them back.',
  );
  const last = ended(3, { isUnsent, told: 'T-1003 is closed already. Nothing was sent.' });
  expect(toldBy(asked, ended(1), ended(2), last)).toBe(
    'T-1003 is closed already. Nothing was sent. 2 others are closed. u takes them back.',
  );
  expect(toldBy(asked, ended(1), ended(2, { state: 'refused' }), last)).toBe(
    'T-1003 is closed already. Nothing was sent. 1 other is closed. u takes it back.',
  );
  const moved = typing(after(asked, [ended(1), ended(2)]).model, 'k').model;
  expect(toldBy(moved, ended(3))).toBe('T-1003 and 2 others are closed. u takes them back.');
});

test('what u took back is told of all, as they were', () => {
  const back = (rows: readonly Row[]) => typing(after(mark(rows, 'c', 'y'), [ended(1), ended(2)]).model, 'u').model;
  const two = three.slice(0, 2);
  expect(toldBy(back(two), ended(3), ended(4))).toBe('T-1002 and 1 other are open again.');
  const mixed = back([rowOf(1, { status: 'pending' }), rowOf(2)]);
  expect(toldBy(mixed, ended(3), ended(4))).toBe('T-1002 and 1 other are as they were.');
});

test('conversations and tickets that are resolved together are told together, with what u takes back', () => {
  const answered = typing(inboxOf([chatOf(1), rowOf(2), rowOf(3)]), 'x', 'x', 'x', 'e', 'y');
  const [keep] = doing(answered, 'keep');
  const batch = keep?.do === 'keep' ? keep.batch : undefined;
  const items = [{ row: chatOf(1), draft: 7, digest: 'd', told: 'Draft 7' }];
  const kept: Event = {
    ...{ is: 'kept', means: 'resolve', ends: 'send', items, mode: 'allow', holdMs: 0, shown: '', isAgreed: true },
    ...(batch !== undefined && { batch }),
  };
  expect(toldBy(answered.model, ended(1), ended(2), kept, ended(3))).toBe(
    'conversation 1 and 2 others are resolved. u takes back the 2 tickets.',
  );
});

test('--linear says that three are closed, and u opens the three again', { tags: ['long'] }, async () => {
  const world = await desk();
  const { stdout } = await linear(world, ['x', 'x', 'x', 'c', 'y', 'u', 'q'], { columns: 200 });
  expect(stdout).toMatch(/^T-\d+ and 2 others are closed\. u takes them back\.$/mu);
  expect(stdout).toMatch(/^T-\d+ and 2 others are (?:open again|as they were)\.$/mu);
});

test('--linear says of two conversations that both are resolved', { tags: ['long'] }, async () => {
  const world = await desk();
  const rows: Row[] = await json(world, 'inbox');
  const [first, second] = rows.flatMap(({ kind }, at) => (kind === 'conversation' ? String(at + 1) : []));
  const lines = [first ?? '', 'x', 'esc', second ?? '', 'x', 'e', 'y', 'q'];
  const { stdout } = await linear(world, lines, { columns: 200 });
  expect(stdout).toMatch(/^conversation \d+ and 1 other are resolved\.$/mu);
});

/** Text that is longer than its line: all of it is read, on every width, by scrolling; and nothing of it obeys. */
import { expect, test } from 'vitest';
import type { Event } from '../../src/inbox/event.ts';
import { said } from '../../src/inbox/linear/said.ts';
import type { Model } from '../../src/inbox/model.ts';
import { threadOf } from '../../src/inbox/record.ts';
import { frameOf } from '../../src/inbox/view/frame.ts';
import { loadWidths } from '../../src/screen/width.ts';
import { cells } from '../../src/text/width.ts';
import { after, inboxOf, keyEvent, rowOf, sizes, typing } from './models.ts';

const look = { paint: (_: unknown, text: string) => text, selected: (text: string) => text };

const words = Array.from({ length: 120 }, (_, at) => `word${at}`);
const wide = '日本語のとても長い文章'.repeat(12);
const link = `https://example.com/${'0123456789'.repeat(30)}`;
const file = `${'an attached file with a long name '.repeat(8)}its end.pdf`;
const name = `${'A customer with a long name '.repeat(8)}and its end`;
const hostile = '\u001b[2J\u202Eevil\u0007';
const body = [words.join(' '), wide, link, `\tcolumn\tof a table`, hostile, 'The last line.'].join('\n');

const message = { sender_name: name, direction: 'in', created_at: '2026-03-01T10:00:00Z', body };
const record = { subject: 'A long one', messages: [{ ...message, attachments: [{ name: file }] }] };

const row = rowOf(1);
const thread = threadOf(row, record);

const opened = (size: Model['size'], shown = thread): Model =>
  after(inboxOf([row], size), [
    { is: 'select', at: 0 },
    keyEvent('enter'),
    { is: 'opened', row, thread: shown },
  ] as Event[]).model;

/** What the thread shows on the screen: beside the list, what stands behind the rule. */
const threadOn = (model: Model): string[] =>
  frameOf(model, look)
    .slice(1, -2)
    .map((line) => line.split(' │ ').at(-1) ?? '');

/** Every line that is seen on the way down, once. */
function read(model: Model): string[] {
  const lines = threadOn(model);
  let now = model;
  for (let turn = 0; turn < 500; turn++) {
    const next = typing(now, 'j').model;
    if (next.scroll === now.scroll) return lines;
    now = next;
    lines.push(threadOn(now).at(-1) ?? '');
  }
  return lines;
}

const bare = (text: string): string => text.replaceAll(/\s+/gu, '');

test('a thread that was drawn before its characters could be measured is laid out again', async () => {
  const bopomofo = 'ㄅㄆㄇㄈ'.repeat(40);
  const shown = threadOf(row, { subject: 'Wide', messages: [{ ...message, sender_name: 'Ada', body: bopomofo }] });
  const model = opened({ columns: 60, rows: 24 }, shown);
  frameOf(model, look);
  await loadWidths();
  const lines = frameOf(model, look);
  for (const line of lines) expect(cells(line), line).toBeLessThanOrEqual(60);
  expect(bare(lines.join(''))).toContain(bopomofo);
});

test.each(sizes)('at %i×%i scrolling shows every word of a thread, and no line is too wide', async (columns, rows) => {
  await loadWidths();
  const model = opened({ columns, rows });
  for (const line of frameOf(model, look)) expect(cells(line), line).toBeLessThanOrEqual(columns);
  const all = read(model);
  const text = bare(all.join('\n'));
  for (const part of [...words, wide, link, file, name, 'The last line.']) expect(text, part).toContain(bare(part));
  expect(all.join('\n')).toContain('column    of a table');
  expect(all.join('\n')).toContain('^[[2J<U+202E>evil^G');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
  expect(all.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/u);
});

test('words stay whole, and a long thread names its place and the keys that move it', () => {
  const model = opened({ columns: 60, rows: 16 });
  for (const line of read(model)) for (const word of line.match(/word\d+/gu) ?? []) expect(words).toContain(word);
  const [first, last] = [frameOf(model, look)[0], frameOf(model, look).at(-1)];
  expect(first).toMatch(/ lines 1-13 of \d+/u);
  expect(last).toMatch(/^ j k scroll /u);
  const end = frameOf(typing(model, 'G').model, look);
  expect(end[0]).toMatch(/ lines (\d+)-(\d+) of \2(?: |$)/u);
  const short = threadOf(row, { subject: 'Short', messages: [{ ...message, sender_name: 'Ada', body: 'Hello.' }] });
  expect(frameOf(opened({ columns: 60, rows: 16 }, short), look).join('\n')).not.toMatch(/scroll|lines \d/u);
});

test.each([20, 60, 80, 200])('without a screen the whole thread is said, at %i columns', async (columns) => {
  const { linearSize } = await import('../../src/inbox/linear/said.ts');
  await loadWidths();
  const size = linearSize(columns);
  const lines = said(inboxOf([row], size), opened(size));
  const text = bare(lines.join('\n'));
  for (const part of [...words, wide, link, file, name, 'The last line.']) expect(text, part).toContain(bare(part));
  for (const line of lines) expect(cells(line), line).toBeLessThanOrEqual(columns);
  // A line is full: none was broken twice, for another width first.
  const prose = lines.filter((line) => /^ {2}word/u.test(line));
  for (const line of prose.slice(0, -1)) expect(cells(line)).toBeGreaterThan(Math.min(80, columns) - 10);
});

test.each(sizes)('at %i×%i what happened is told whole, and the row under the cursor is seen', (columns, rows) => {
  const told = `Nothing was sent. ${'The reason is long. '.repeat(5)}Your text is in /home/ada/.local/state/svc/unsent/2026-03-01T12-00-00.000Z.md`;
  const many = Array.from({ length: 60 }, (_, at) => rowOf(at + 1));
  const model = after(inboxOf(many, { columns, rows }), [
    ...Array.from({ length: rows - 4 }, () => keyEvent('j')),
    { is: 'told', told, state: 'refused' },
  ]).model;
  const frame = frameOf(model, look);
  expect(frame.length).toBe(rows);
  expect(bare(frame.join('\n'))).toContain(bare(told));
  expect(frame.some((line) => line.startsWith('> '))).toBe(true);
  const read = frameOf(typing(model, 'escape').model, look).join('\n');
  expect(read).not.toContain('Nothing was sent');
});

test('what is typed into a prompt is seen to its end', () => {
  const typed: Event = {
    is: 'key',
    key: { name: 'paste', ctrl: false, alt: false, text: `${words.join(' ').slice(0, 300)} END` },
  };
  const frame = frameOf(after(typing(inboxOf([row], { columns: 60, rows: 16 }), '/').model, [typed]).model, look);
  expect(frame.join('\n')).toContain(' END▏');
});

test('a long question and the help end at their last line, from which each key up is seen', () => {
  const many = Array.from({ length: 60 }, (_, at) => rowOf(at + 1));
  const marked = typing(inboxOf(many, { columns: 80, rows: 24 }), ...many.map(() => 'x')).model;
  for (const over of [typing(marked, 'e').model, typing(marked, '?').model]) {
    const down = typing(over, ...Array.from({ length: 20 }, () => 'pagedown')).model;
    const [end, up] = [frameOf(down, look), frameOf(typing(down, 'k').model, look)];
    expect(up.slice(2, -4)).toEqual(end.slice(1, -5));
    expect(up).not.toEqual(end);
  }
});

test('where the screen is wide, why a row waits is read in the list', () => {
  const waits = rowOf(1, { subject: 'Import refuses our CSV', why: 'wrote again after the answer' });
  const list = frameOf(inboxOf([waits], { columns: 200, rows: 50 }), look).map((line) => line.split(' │ ')[0]);
  expect(list.join('\n')).toContain('Import refuses our CSV · wrote again after the answer');
});

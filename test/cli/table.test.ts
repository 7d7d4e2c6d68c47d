import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { localTime, settleColumns } from '../../src/output/cells.ts';
import { recordTable, table } from '../../src/output/table.ts';
import { cells, cut, pad, wrap } from '../../src/text/width.ts';

const plain = (_: unknown, text: string) => text;
const columns = settleColumns(['id', 'ticket_number', 'subject', 'status', 'contact.name', 'updated_at']);
const tickets = [
  {
    id: 44,
    ticket_number: 'T-1044',
    subject: 'Feature question: can the export be scheduled?',
    status: 'open',
    contact: { name: 'Ada' },
    updated_at: '2026-02-22T18:33:00Z',
  },
  {
    id: 7,
    ticket_number: 'T-1007',
    subject: '日本語の件名がここにあります',
    status: 'closed',
    contact: null,
    updated_at: '2026-02-21T08:57:00Z',
  },
];

describe('a table', () => {
  test('at 200 columns is whole', () => {
    expect(table(tickets, columns, 200, plain)).toBe(
      `ID  TICKET NUMBER  SUBJECT                                         STATUS  CONTACT  UPDATED
44  T-1044         Feature question: can the export be scheduled?  open    Ada      2026-02-22 18:33
7   T-1007         日本語の件名がここにあります                    closed           2026-02-21 08:57
`,
    );
  });

  test('at 80 columns cuts the widest cells, never an id or a time', () => {
    expect(table(tickets, columns, 80, plain)).toBe(
      `ID  TICKET…   SUBJECT                          STATUS  CONTACT  UPDATED
44  T-1044    Feature question: can the expo…  open    Ada      2026-02-22 18:33
7   T-1007    日本語の件名がここにあります     closed           2026-02-21 08:57
`,
    );
  });

  test('at 40 columns leaves out the last columns rather than make all unreadable', () => {
    expect(table(tickets, columns, 40, plain)).toBe(
      `ID  TICKET…   SUBJECT    STATUS  CONTACT
44  T-1044    Feature…   open    Ada
7   T-1007    日本語の…  closed
`,
    );
  });

  test('of one column is cut to the width', () => {
    expect(table([{ name: 'x'.repeat(50) }], settleColumns(['name']), 40, plain)).toBe(`NAME\n${'x'.repeat(39)}…\n`);
  });

  test('with many rows is laid out in one go', () => {
    const rows = Array.from({ length: 200_000 }, (_, id) => ({ id }));
    expect(table(rows, settleColumns(['id']), 80, plain).split('\n')).toHaveLength(200_002);
  });
});

test('a record names its fields as --fields takes them', () => {
  const record = { id: 7, contact: { name: 'Ada' }, tags: ['a', 'b'], description: 'x'.repeat(99), due_at: null };
  expect(recordTable(record, undefined, 40, plain)).toBe(
    `id            7\ncontact.name  Ada\ntags          a, b\ndescription   ${'x'.repeat(25)}…\ndue_at\n`,
  );
});

describe('width', () => {
  test.each([
    ['abc', 3],
    ['日本', 4],
    ['ｶﾅ', 2],
    ['é', 1],
    ['e\u0301', 1],
    ['👨‍👩‍👧', 2],
    ['👍🏽', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['1️⃣', 2],
    ['한국', 4],
    ['สวัสดี', 4],
    ['नमस्ते', 3],
    ['\u1100\u1161', 2],
    ['─│', 2],
    ['\x1b[31mred\x1b[39m', 3],
  ])('%s takes %i cells', (text, width) => {
    expect(cells(text)).toBe(width);
  });

  test.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdef', 5, 'abcd…'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['👨‍👩‍👧👨‍👩‍👧', 3, '👨‍👩‍👧…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
    ['abc', 1, '…'],
    ['abc', 0, ''],
  ])('%s cut to %i is %s', (text, width, shown) => {
    expect(cut(text, width)).toBe(shown);
  });

  test('no cut, no padding and no line is ever wider than asked, and nothing is lost by wrapping', () => {
    const text = fc
      .array(fc.constantFrom('a', ' ', '日', '👨‍👩‍👧', 'e\u0301', 'क्‍ष', 'word', '\n', 'ﷺ', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.integer({ min: 4, max: 60 }), (text, width) => {
        const line = text.replaceAll('\n', ' ');
        expect(cells(cut(line, width))).toBeLessThanOrEqual(width);
        expect(cells(pad(cut(line, width), width))).toBe(width);
        const lines = wrap(text, width);
        for (const one of lines) expect(cells(one)).toBeLessThanOrEqual(width);
        expect(lines.join('').replaceAll(/\s/gu, '')).toBe(text.replaceAll(/\s/gu, ''));
      }),
    );
  });
});

test.each([
  ['2026-11-20T14:05:33Z', '2026-11-20 14:05'],
  ['2026-11-20T14:05:33.123+02:00', '2026-11-20 12:05'],
  ['yesterday', 'yesterday'],
  ['2026-13-45T99:99:99Z', '2026-13-45T99:99:99Z'],
  ['\x1b[2J', '^[[2J'],
])('the time %j is shown as %j', (iso, shown) => {
  expect(localTime(iso)).toBe(shown);
});

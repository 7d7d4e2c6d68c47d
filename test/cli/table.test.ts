import { describe, expect, test } from 'vitest';
import { localTime, settleColumns } from '../../src/output/cells.ts';
import { recordTable, table } from '../../src/output/table.ts';
import type { Terminal } from '../../src/output/view.ts';
import { cells, cut, pad, wrap } from '../../src/text/width.ts';
import { fc } from '../chance.ts';

const terminal = (width: number, now?: Date): Terminal => ({ width, paint: (_, text) => text, now });
const columns = settleColumns([
  { path: 'id', header: 'ID', rank: 5 },
  { path: 'ticket_number', header: 'Ticket', as: 'id', rank: 1 },
  { path: 'subject', header: 'Subject', rank: 2 },
  { path: 'status', header: 'Status', rank: 3 },
  { path: 'contact.name', header: 'Contact', rank: 4, see: ({ contact }: { contact: unknown }) => contact },
  { path: 'updated_at', header: 'Updated', rank: 6 },
]);
test('the name of a column is shown as harmless as what is in it', () => {
  const [column] = settleColumns([{ path: 'x', header: 'a\x1b[8mb\u202Ec' }]);
  expect(column?.header).toBe('a^[[8mb<U+202E>c');
});

const tickets = [
  {
    id: 44,
    ticket_number: 'T-1044',
    subject: 'Feature question: can the export be scheduled?',
    status: 'open',
    contact: { name: 'Ada', last_name: 'Byron' },
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

test.each(['constructor', 'toString', '__proto__'])(
  'a status %j that the service does not have has no colour',
  (status) => {
    const painting: Terminal = { width: 80, paint: (style, text) => `[${String(style)}]${text}`, now: undefined };
    const shown = table(
      [{ status }],
      settleColumns([{ path: 'status', header: 'Status', as: 'status', rank: 1 }]),
      painting,
    );
    expect(shown.split('\n')[1]).toBe(status);
  },
);

describe('a table', () => {
  test('at 200 columns is whole', () => {
    expect(table(tickets, columns, terminal(200))).toBe(
      `ID  Ticket  Subject                                         Status  Contact    Updated
44  T-1044  Feature question: can the export be scheduled?  open    Ada Byron  2026-02-22 18:33
7   T-1007  日本語の件名がここにあります                    closed             2026-02-21 08:57
`,
    );
  });

  test('at 80 columns cuts the widest cells, never an id or a time', () => {
    expect(table(tickets, columns, terminal(80))).toBe(
      `ID  Ticket  Subject                          Status  Contact    Updated
44  T-1044  Feature question: can the expo…  open    Ada Byron  2026-02-22 18:33
7   T-1007  日本語の件名がここにあります     closed             2026-02-21 08:57
`,
    );
  });

  test('at 40 columns leaves out the least important columns, whatever their place, and cuts no header', () => {
    expect(table(tickets, columns, terminal(40))).toBe(
      `Ticket  Subject                   Status
T-1044  Feature question: can t…  open
T-1007  日本語の件名がここにあ…   closed
`,
    );
  });

  test('shows times of the last week as people say them, and others exactly', () => {
    const times = ['2026-02-22T18:32:40Z', '2026-02-22T18:00:00Z', '2026-02-22T16:00:00Z', '2026-02-20T16:00:00Z'];
    const rows = [...times, '2026-02-14T16:00:00Z', '2026-02-22T19:00:00Z', 'soon'].map((at) => ({ created_at: at }));
    expect(table(rows, settleColumns(['created_at']), terminal(80, new Date('2026-02-22T18:33:00Z')))).toBe(
      'Created\njust now\n33 min ago\n2 h ago\n2 days ago\n2026-02-14 16:00\n2026-02-22 19:00\nsoon\n',
    );
  });

  test('gives durations their units', () => {
    const rows = [0, 42, 60, 205, 3900].map((duration) => ({ duration }));
    expect(table(rows, settleColumns(['duration']), terminal(80))).toBe(
      'Duration\n0 s\n42 s\n1 min\n3 min 25 s\n1 h 5 min\n',
    );
  });

  test('puts an email that leaves the others no room on a line of its own, whole', () => {
    const rows = [
      { contact_id: 7, name: 'Ada', email: 'ada@example.com', company: 'Acme' },
      { contact_id: 8, name: 'Bob', email: `bob@${'long.'.repeat(8)}example.com`, company: 'Globex' },
      { contact_id: 9, name: 'Eve', email: `eve@${'long.'.repeat(20)}example.com`, company: 'Initech' },
    ];
    expect(table(rows, settleColumns(['contact_id', 'name', 'email', 'company']), terminal(60))).toBe(
      `Contact ID  Name  Email            Company
7           Ada   ada@example.com  Acme
8           Bob                    Globex
     bob@long.long.long.long.long.long.long.long.example.com
9           Eve                    Initech
eve@${'long.'.repeat(20)}example.com
`,
    );
  });

  test.each([20, 40, 60, 80, 120])(
    'at %i columns an id of any length is whole, and a list of ids one line with how many more',
    (width) => {
      for (const length of [8, 21, 24, 40, 90]) {
        const [id, ids] = ['x'.repeat(length), Array.from({ length }, (_, n) => n + 1)];
        const rows = [{ subject: 'long '.repeat(40), id, ids, event: 'conversation.message_received' }];
        const shown = settleColumns([
          { path: 'subject', rank: 2 },
          { path: 'event', as: 'whole', rank: 3 },
          { path: 'id', rank: 1 },
        ]);
        expect(table(rows, shown, terminal(width)).split(/\s+/u)).toContain(id);
        const list = table(rows, settleColumns(['subject', { path: 'ids', as: 'id', rank: -1 }]), terminal(width));
        const [, told = '', more] = /(1, 2, [\d, ]+)(?: and (\d+) more)?\n/u.exec(list) ?? [];
        expect(told).toBe(ids.slice(0, length - Number(more ?? 0)).join(', '));
        for (const line of list.split('\n')) expect(cells(line)).toBeLessThanOrEqual(width);
        if (more !== undefined) expect(cells(ids.join(', '))).toBeGreaterThan(width);
      }
    },
  );

  test('of one column is cut to the width', () => {
    expect(table([{ name: 'x'.repeat(50) }], settleColumns(['name']), terminal(40))).toBe(`Name\n${'x'.repeat(39)}…\n`);
  });

  test('with many rows is laid out in one go', { tags: ['long'] }, () => {
    const rows = Array.from({ length: 200_000 }, (_, id) => ({ id }));
    expect(table(rows, settleColumns(['id']), terminal(80)).split('\n')).toHaveLength(200_002);
  });
});

describe('a record', () => {
  test('names its fields as --fields takes them', () => {
    const record = { id: 7, contact: { name: 'Ada' }, tags: ['a', 'b'], description: 'x'.repeat(99), due_at: null };
    expect(recordTable(record, undefined, terminal(40))).toBe(
      `id            7\ncontact.name  Ada\ntags          a, b\ndescription   ${'x'.repeat(25)}…\ndue_at\n`,
    );
  });

  test('puts an email that does not fit beside its name on a line of its own', () => {
    const email = 'somebody.with.a.long.name@example.com';
    expect(recordTable({ id: 7, email }, undefined, terminal(40))).toBe(`id     7\nemail\n${email}\n`);
  });
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

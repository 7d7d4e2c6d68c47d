import { describe, expect, test } from 'vitest';
import { roadmapBoard } from '../../src/output/board.ts';
import { conversationThread, ticketThread } from '../../src/output/thread.ts';
import type { Terminal } from '../../src/output/view.ts';
import { fc } from '../chance.ts';
import { terminalCells } from './terminal-cells.ts';

const terminal = (width: number): Terminal => ({
  width,
  paint: (_, text) => text,
  now: new Date('2027-01-01T00:00:00Z'),
});

const ada = { contact_id: 12, name: 'Ada', last_name: 'Example', email: 'ada@example.com', phone: '+15550100100' };
const ticket = {
  id: 7,
  ticket_number: 'SUP-1007',
  subject: 'Export fails',
  status: 'open',
  priority: 3,
  source: 'email',
  contact: ada,
  due_at: '2026-11-30T09:00:00Z',
  first_response_at: null,
  resolved_at: null,
  created_at: '2026-11-19T14:02:00Z',
  description: 'It stops at row 200.\n\nEvery time.',
  reply_channel: 'email' as const,
  conversation_id: null,
  messages: [
    {
      direction: 'in' as const,
      sender_type: 'contact',
      sender_name: 'Ada Example',
      body: 'A screenshot, so that you can see where the export of this account stops.',
      attachments: [{ name: 'where.png', mime: 'image/png', size: 123_456 }],
      created_at: '2026-11-19T14:05:00Z',
    },
    {
      direction: 'out' as const,
      sender_type: 'user',
      sender_name: 'Sam',
      body: 'Thank you.',
      attachments: [],
      created_at: '2026-11-19T15:00:00Z',
    },
  ],
};

test('a ticket reads as a thread: what it is about, who asks, what was said', () => {
  expect(ticketThread(ticket, terminal(60))).toBe(
    `Export fails
SUP-1007

open · priority 3 · by email · opened 2026-11-19 14:02

Customer    Ada Example <ada@example.com> +15550100100
            (contact 12)
Replies go  by email
Due         2026-11-30 09:00

  It stops at row 200.

  Every time.

Ada Example customer · 2026-11-19 14:05
  A screenshot, so that you can see where the export of this
  account stops.
  + where.png (image/png, 123 kB)

Sam team · 2026-11-19 15:00
  Thank you.
`,
  );
});

test('a request that is also the first message is shown once', () => {
  const [first] = ticket.messages;
  const shown = ticketThread({ ...ticket, description: `${first?.body}\n` }, terminal(100));
  expect(shown.split('A screenshot')).toHaveLength(2);
});

test('fields that an answer lacks are left out', () => {
  const bare = { id: 7, status: 'open', created_at: '2026-11-19T14:02:00Z' };
  expect(ticketThread(bare, terminal(80))).toBe('#7\n\nopen · opened 2026-11-19 14:02\n');
});

test('a conversation says who answers: the AI or the team', () => {
  const conversation = {
    id: 3,
    status: 'open',
    handling_mode: 'ai' as const,
    channel: 'web',
    subject: null,
    priority: 'normal',
    contact: null,
    ticket_id: null,
    csat_rating: 5,
    created_at: '2026-11-19T14:02:00Z',
    messages: [
      { sender_type: 'visitor', sender_name: '', body: 'Hello?', attachments: [], created_at: '2026-11-19T14:02:00Z' },
      {
        sender_type: 'ai',
        sender_name: 'Assistant',
        body: 'Hello!',
        attachments: [],
        created_at: '2026-11-19T14:03:00Z',
      },
      { sender_type: 'operator', sender_name: 'Sam', body: 'Hi.', attachments: [], created_at: '2026-11-19T14:04:00Z' },
    ],
  };
  expect(conversationThread(conversation, terminal(80))).toBe(
    `Conversation
#3

open · on web · answered by the AI · priority normal · begun 2026-11-19 14:02

Customer    anonymous
Rating      5

customer 2026-11-19 14:02
  Hello?

Assistant AI · 2026-11-19 14:03
  Hello!

Sam team · 2026-11-19 14:04
  Hi.
`,
  );
});

const roadmap = [
  { name: 'Planned', posts: [{ title: 'Dark mode for the customer portal', vote_count: 42, comments_count: 1 }] },
  { name: 'In progress', posts: [] },
  {
    name: '完了',
    posts: [
      { title: 'Export', vote_count: 3, comments_count: 0 },
      { title: 'CSV', vote_count: 1, comments_count: 2 },
    ],
  },
];

describe('the roadmap', () => {
  test('is columns side by side', () => {
    expect(roadmapBoard(roadmap, terminal(80))).toBe(
      `Planned 1                  In progress 0              完了 2
─────────                  ─────────────              ──────
Dark mode for the          nothing yet                Export
customer portal                                       ▲ 3 · 0 comments
▲ 42 · 1 comment
                                                      CSV
                                                      ▲ 1 · 2 comments
`,
    );
  });

  test('is columns below each other where the terminal is narrow', () => {
    const narrow = roadmapBoard(roadmap, terminal(40));
    expect(narrow.split('\n').slice(0, 7)).toEqual([
      'Planned 1',
      '─────────',
      'Dark mode for the customer portal',
      '▲ 42 · 1 comment',
      '',
      'In progress 0',
      '─────────────',
    ]);
  });
});

test('whatever customers wrote, no line is wider than the terminal and nothing acts on it', { tags: ['long'] }, () => {
  const nasty = fc
    .array(
      fc.constantFrom(
        '\x1b[2J',
        '\x9b',
        '\u202E',
        '日本',
        '👨‍👩‍👧',
        'e\u0301',
        ' ',
        'word',
        '\n',
        '\r',
        'looooooooooooooong',
      ),
      { maxLength: 30 },
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.constantFrom(40, 80, 200), nasty, nasty, nasty, (width, subject, body, name) => {
      const person = { ...ada, name, email: body };
      const message = {
        ...ticket.messages[0],
        sender_type: 'x',
        sender_name: name,
        body,
        created_at: subject,
        attachments: [{ name, mime: body, size: 1 }],
      };
      const screens = [
        ticketThread(
          { ...ticket, subject, status: name, contact: person, description: body, messages: [message] },
          terminal(width),
        ),
        conversationThread(
          { id: 1, subject, status: body, created_at: name, contact: person, messages: [message] },
          terminal(width),
        ),
        roadmapBoard(
          [
            { name, posts: [{ title: subject }] },
            { name: body, posts: [{ title: body }] },
          ],
          terminal(width),
        ),
      ];
      for (const screen of screens) {
        expect(screen.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
        for (const line of screen.split('\n')) expect(terminalCells(line)).toBeLessThanOrEqual(width);
      }
    }),
  );
});

test('a thread of this week tells its times from now, and a due time exactly', () => {
  const bare = { id: 7, status: 'open', created_at: '2026-11-19T14:02:00Z', due_at: '2026-11-30T09:00:00Z' };
  const now = new Date('2026-11-20T12:00:00Z');
  expect(ticketThread(bare, { ...terminal(80), now })).toBe(
    '#7\n\nopen · opened 21 h ago\n\nDue         2026-11-30 09:00\n',
  );
});

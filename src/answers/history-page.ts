import { cellForPeople, kindOf, timeForPeople } from '../output/cells.ts';
import { headerOf } from '../output/headers.ts';
import { conversationThread, fields, ticketThread } from '../output/thread.ts';
import type { Terminal } from '../output/view.ts';
import { fullName } from '../text/full-name.ts';
import { readingWidth } from '../text/measure.ts';
import { counted } from '../text/number.ts';
import type { Fields } from '../text/record.ts';
import { sanitize } from '../text/sanitize.ts';
import { cells, wrap } from '../text/width.ts';
import { type Change, type History, timeOf } from './history.ts';

/** What is held about one person, as one reads it: who it is, and then everything in time. */
export function historyPage(history: History, terminal: Terminal): string {
  const { paint } = terminal;
  const blocks = [
    // The thread shows what it knows; what a record lacks is left out.
    ...dated(history.tickets, (one) => ticketThread(one as Parameters<typeof ticketThread>[0], terminal)),
    ...dated(history.conversations, (one) =>
      conversationThread(one as Parameters<typeof conversationThread>[0], terminal),
    ),
    ...dated(history.calls, (one) => callText(one, terminal)),
    ...history.changes.map((one) => ({ time: Date.parse(one.time), text: changeText(one, terminal) })),
  ];
  const rule = paint('dim', '─'.repeat(readingWidth(terminal.width)));
  const inTime = blocks.sort((a, b) => a.time - b.time).map(({ text }) => text.trimEnd());
  return `${[personText(history, terminal, blocks.length), ...inTime].join(`\n${rule}\n`)}\n`;
}

const dated = (records: readonly Fields[], text: (one: Fields) => string) =>
  records.map((one) => ({ time: timeOf(one), text: text(one) }));

/** Fields of a contact in the order in which people look for them. */
const facts = ['contact_id', 'email', 'phone', 'company', 'website', 'country', 'tags', 'lead_status', 'created_at'];

function personText({ contact, lists, ...others }: History, terminal: Terminal, below: number): string {
  const { width, paint, now } = terminal;
  const name = fullName(contact) || 'No name';
  const metadata = Object.entries(Object(contact.metadata));
  const listNames = lists.map((list) =>
    list.gone_at === undefined ? list.name : `${list.name} (until ${timeForPeople(String(list.gone_at), now)})`,
  );
  const values: readonly (readonly [field: string, value: unknown])[] = [
    ...[...facts, 'gone_at'].map((field) => [field, contact[field]] as const),
    ...metadata.map(([key, value]) => [`metadata.${key}`, value] as const),
    ['lists', listNames],
  ];
  const rows = values.map(([field, value]) => [nameOf(field), cellForPeople(value, kindOf(field), now)] as const);
  const { tickets, conversations, calls, changes } = others;
  const sums = [
    counted(tickets.length, 'ticket'),
    counted(conversations.length, 'conversation'),
    counted(calls.length, 'call'),
    counted(changes.length, 'change'),
  ].join(', ');
  const lines = (text: string) => wrap(text, readingWidth(width)).join('\n');
  return [
    lines(paint('bold', sanitize(name))),
    fields(terminal, rows, roomFor(rows, width)),
    '',
    lines(`${sums}${below === 0 ? '.' : ', in time:'}`),
  ].join('\n');
}

/** Behind the longest name that has a value; a key of the account's own may be of any length. */
function roomFor(rows: readonly (readonly [name: string, value: string])[], width: number): number {
  const longest = Math.max(0, ...rows.filter(([, value]) => value !== '').map(([name]) => cells(name)));
  return Math.max(2, Math.min(longest + 2, 24, width >> 1));
}

/** A key of the account's own stays as it was written. */
const nameOf = (field: string): string => (field.startsWith('metadata.') ? sanitize(field) : headerOf(field));

function callText(call: Fields, { now, paint }: Terminal): string {
  const ways = [call.from, call.to].filter(Boolean).join(' → ');
  const about = [
    call.status,
    typeof call.duration === 'number' && cellForPeople(call.duration, 'seconds'),
    call.interest_level,
    timeForPeople(String(call.start_time ?? call.created_at), now),
  ].filter(Boolean);
  return `${paint('bold', 'Call')} ${sanitize([ways, ...about].join(' · '))}`;
}

function changeText({ time, kind, record_id: id, change, fields }: Change, terminal: Terminal): string {
  const { now } = terminal;
  const heading = `${kind} ${id}: ${change} · seen ${timeForPeople(time, now)}`;
  const cellOf = (name: string, value: unknown) => cellForPeople(value, kindOf(name), now) || '(empty)';
  const lines = Object.entries(fields).map(
    ([name, { before, after }]) => `  ${headerOf(name)}: ${cellOf(name, before)} → ${cellOf(name, after)}`,
  );
  const room = readingWidth(terminal.width);
  return [sanitize(heading), ...lines.map((line) => sanitize(line))].flatMap((line) => wrap(line, room)).join('\n');
}

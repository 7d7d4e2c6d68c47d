import { describe, expect, test } from 'vitest';
import { printer } from '../../src/commands/webhooks/event-lines.ts';
import type { Terminal } from '../../src/output/view.ts';
import { cells } from '../../src/text/width.ts';
import type { EventLine, Line } from '../../src/webhooks/store/event-line.ts';
import type { Forwarding } from '../../src/webhooks/store/forwarding.ts';

const base: EventLine = {
  kind: 'event',
  time: '2026-03-01T12:00:00.000Z',
  event: 'conversation.message_received',
  id: 'evt_0123456789abcdef01234567',
  verdict: 'accepted',
  why: null,
  created_at: null,
  data: { conversation_id: 3, channel: 'web_chat', contact_id: 17, body: 'Where is my parcel? It should have come.' },
  forward: null,
};
const forward = (about: Partial<Forwarding>): Forwarding => ({
  ...{ to: 'http://localhost:3000/hooks', state: 'waiting', status: null, error: null, ms: null, tries: 1 },
  ...about,
});
const terminalOf = (width: number): Terminal => ({ width, paint: (_, plain) => plain, now: undefined });
const long = 'http://localhost:3000/hooks: the header content-length is not what was sent, so nothing was sent';
const lines: Readonly<Record<string, EventLine>> = {
  waiting: { ...base, forward: forward({ error: 'refused' }) },
  failed: { ...base, forward: forward({ state: 'failed', error: long }) },
  answered: { ...base, forward: forward({ state: 'answered', status: 503, ms: 12_345, tries: 17 }) },
  rejected: { ...base, id: null, verdict: 'rejected', why: 'no-match', data: null },
  unreadable: { ...base, verdict: 'unreadable', why: 'it is not JSON, although it says so in its header', data: null },
};
const reasons: Readonly<Record<string, string>> = {
  waiting: 'connection refused',
  failed: long,
  answered: '503 in 12345 ms, try 17',
  rejected: 'signed with another secret, or the body was changed on the way',
  unreadable: 'it is not JSON, although it says so in its header',
};

describe.each([60, 80, 200])('a line of listen on %d columns', (width) => {
  test.each(Object.keys(lines))('%s: the reason is whole, and no line is wider', (name) => {
    const line = lines[name] ?? base;
    const text = printer()(line, terminalOf(width));
    for (const each of text.split('\n')) expect(cells(each)).toBeLessThanOrEqual(width);
    expect(text.replaceAll(/\s+/gu, ' ')).toContain(reasons[name]);
  });
});

test('a tick stands beside nothing that has not worked', () => {
  const terminal = terminalOf(80);
  expect(printer()(lines.waiting ?? base, terminal)).toContain('… waiting');
  for (const line of Object.values(lines)) expect(printer()(line, terminal)).not.toContain('✓');
  expect(printer()({ ...base, forward: forward({ state: 'answered', status: 204, ms: 3 }) }, terminal)).toContain(
    '✓ 204',
  );
  expect(printer()(base, terminal)).toContain('✓ stored');
});

test('in a pipe a later try that failed is not called forwarded', () => {
  const verdictOf = (about: Partial<Forwarding>) =>
    printer()({ ...base, kind: 'forward', forward: forward(about) } as Line, undefined)
      .split('\t')
      .slice(4);
  expect(verdictOf({ state: 'answered', status: 204, ms: 3 })).toEqual(['forwarded', '204 in 3 ms']);
  expect(verdictOf({ state: 'failed', error: 'reset' })).toEqual(['failed', 'not forwarded (reset)']);
  expect(verdictOf({ error: 'reset' })).toEqual(['waiting', 'waiting (reset)']);
});

test('in a pipe it is one line whatever the reason', () => {
  for (const line of Object.values(lines)) expect(printer()(line, undefined)).not.toContain('\n');
});

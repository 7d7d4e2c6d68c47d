import { describe, expect, test } from 'vitest';
import type { HttpResponse, Lost } from '../../src/context.ts';
import { createWorld, type Ran, svc, virtualClock } from '../svc.ts';

type Row = Readonly<Record<string, unknown>>;

const lost: Lost = { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };
const at = '2026-03-01T12:00:00.000Z';

const ticket = {
  id: 8,
  ticket_number: 'T-8',
  subject: 'Printer',
  status: 'open',
  priority: 0,
  source: 'api',
  contact: null,
  due_at: null,
  first_response_at: null,
  resolved_at: null,
  created_at: at,
  updated_at: at,
  description: '',
  reply_channel: 'email',
  conversation_id: null,
};
const conversation = {
  id: 1,
  title: null,
  contact: null,
  handling_mode: 'human',
  status: 'open',
  last_message_at: at,
  created_at: at,
  updated_at: at,
};
const fromTeam = (id: number, body: string, more: Row = {}): Row => ({
  id,
  direction: 'out',
  sender_type: 'operator',
  sender_name: 'Ada',
  body,
  attachments: [],
  created_at: at,
  ...more,
});

/** A thread whose newest messages are last, as the service has them; our reply's answer is lost. */
function thread(kind: 'ticket' | 'conversation', messages: Row[] | undefined, onWrite: readonly Row[] = []) {
  const clock = virtualClock();
  const record = kind === 'ticket' ? ticket : conversation;
  return createWorld(
    async ({ method }): Promise<HttpResponse | Lost> => {
      if (method === 'POST') {
        messages?.push(...onWrite);
        return lost;
      }
      const headers = { 'content-type': 'application/json', date: clock.now().toUTCString() };
      return { status: 200, headers, body: JSON.stringify({ [kind]: { ...record, messages } }) };
    },
    { clock },
  );
}

const argvOf = {
  ticket: ['tickets', 'reply', '8', '--body', 'Hello', '--json', '--settle', '0'],
  conversation: ['conversations', 'reply', '1', '--body', 'Hello', '--json', '--settle', '0'],
};
const candidates = ({ stderr }: Ran): number[] =>
  JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error.candidates;

describe.each(['ticket', 'conversation'] as const)('a lost reply to a %s', (kind) => {
  test('is found as the service would have answered it', async () => {
    const ran = await svc(thread(kind, [fromTeam(3, 'Hello')], [fromTeam(4, 'Hello')]), argvOf[kind]);
    expect(ran.exitCode).toBe(0);
    const message =
      kind === 'ticket'
        ? { id: 4, channel: 'email', direction: 'out', body: 'Hello', created_at: at }
        : { id: 4, sender_type: 'operator', body: 'Hello', created_at: at };
    expect(JSON.parse(ran.stdout)).toEqual(kind === 'ticket' ? message : { message, handling_mode: 'human' });
  });

  test('is not what the customer wrote in the same words at the same moment', async () => {
    const theirs = fromTeam(4, 'Hello', { direction: 'in', sender_type: 'visitor' });
    const ran = await svc(thread(kind, [], [theirs]), argvOf[kind]);
    expect(ran.exitCode).toBe(9);
    expect(candidates(ran)).toEqual([]);
  });

  test('is in doubt where two new ones say the same: both are named', async () => {
    const ran = await svc(thread(kind, [], [fromTeam(4, 'Hello'), fromTeam(5, 'Hello')]), argvOf[kind]);
    expect(ran.exitCode).toBe(9);
    expect(new Set(candidates(ran))).toEqual(new Set([4, 5]));
    expect(ran.stderr).toContain('have the same content, and svc cannot tell which one is yours.');
  });

  test('is in doubt where the service shows no messages', async () => {
    const ran = await svc(thread(kind, undefined), argvOf[kind]);
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toContain('looked once and did not find it');
    expect(candidates(ran)).toEqual([]);
  });
});

describe('a lost batch of contacts', () => {
  const contact = (contact_id: number, more: Row): Row => ({
    contact_id,
    name: 'Ada',
    last_name: '',
    email: '',
    phone: '',
    company: '',
    website: null,
    country: '',
    tags: [],
    metadata: {},
    lead_status: 'new',
    created_at: at,
    ...more,
  });

  /** What the service has made of it. */
  async function sent(rows: unknown, made: readonly Row[]): Promise<Ran> {
    let contacts: readonly Row[] = [];
    const clock = virtualClock();
    const world = createWorld(
      async ({ method }): Promise<HttpResponse | Lost> => {
        if (method === 'POST') {
          contacts = made;
          return lost;
        }
        const headers = { 'content-type': 'application/json', date: clock.now().toUTCString() };
        const meta = { current_page: 1, last_page: 1, total: contacts.length };
        return { status: 200, headers, body: JSON.stringify({ contacts, meta }) };
      },
      { clock },
    );
    const stdin = JSON.stringify({ contacts: rows });
    return svc(world, ['api', '/contacts/create', '--input', '-', '--json', '--settle', '0'], { stdin });
  }

  test('is found though the service filled in what was not sent', async () => {
    const filled = contact(5, { email: 'a@example.com', last_name: '(none)', phone: '+12025550123' });
    const ran = await sent([{ name: 'Ada', email: 'a@example.com' }], [filled]);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toEqual({ contacts: [{ contact_id: 5, name: 'Ada' }] });
  });

  test('is answered in the order in which it was sent', async () => {
    const emails = ['a@example.com', 'b@example.com', 'c@example.com'];
    const made = emails.map((email, index) => contact(index + 5, { email })).reverse();
    const ran = await sent(
      emails.map((email) => ({ name: 'Ada', email })),
      made,
    );
    expect(JSON.parse(ran.stdout).contacts.map((one: Row) => one.contact_id)).toEqual([5, 6, 7]);
  });

  test('of which one is missing is not done, and the ids of the others are named', async () => {
    const rows = ['a@example.com', 'b@example.com'].map((email) => ({ name: 'Ada', email }));
    const ran = await sent(rows, [contact(6, { email: 'b@example.com' })]);
    expect(ran.exitCode).toBe(9);
    expect(candidates(ran)).toEqual([6]);
  });

  test.each([[5], [[null]], [['x']], [{ length: 1 }]])(
    'that is %j in place of rows is in doubt, not a crash',
    async (rows) => {
      const ran = await sent(rows, []);
      expect(ran.exitCode).toBe(9);
      expect(ran.stderr).toContain('looked once and did not find it');
    },
  );

  test.each([[[null, { name: 'Ada', email: 'a@example.com' }]], [['x', { name: 'Ada', email: 'a@example.com' }]]])(
    'that is %j is found by its row',
    async (rows) => {
      const ran = await sent(rows, [contact(5, { email: 'a@example.com' })]);
      expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    },
  );
});

import { describe, expect, test } from 'vitest';
import { createContacts } from '../../src/api/contacts.ts';
import { createContactList } from '../../src/api/lists.ts';
import type { Input, Operation } from '../../src/api/operation.ts';
import { createTicket, replyToTicket } from '../../src/api/tickets.ts';
import { createWebhook } from '../../src/api/webhooks.ts';
import type { Open } from '../../src/http/exchange/asking.ts';
import type { Before } from '../../src/http/look/before.ts';
import { prepareLook } from '../../src/http/look/look.ts';
import { likenessOf } from '../../src/http/look/looking.ts';
import { lookups, type Read } from '../../src/http/look/lookups.ts';

type Fields = Record<string, unknown>;

/** The service as a look sees it: what a list, or the record of an id, is answered with. */
const reading = (list: unknown, records: Record<number, unknown> = {}, asked: number[] = []): Read =>
  (async (_: Operation, { params }: { params?: { id: number } }) => {
    if (params === undefined) return list;
    asked.push(params.id);
    return records[params.id];
  }) as Read;

const nothingBefore: Before = { ids: [], upTo: 0, isWhole: true };

function looked<Op extends Operation>(
  operation: Op,
  input: Input<Op>,
  { read, before = nothingBefore, open = 1 }: { read: Read; before?: Before | undefined; open?: number },
) {
  const all = new Set<Open>(Array.from({ length: open }, () => ({ isLookedFor: true })));
  const [me = { isLookedFor: true }] = all;
  return prepareLook<Op>(() => read, operation, input, {
    own: new Map<number, number>(),
    mayBeAnew: () => false,
    open: all,
    me,
    before,
  });
}

describe('an answer that names another list than ours', () => {
  const body = { name: 'VIP', target_industry: 'Any', notes: 'n' };
  const ours = { contacts_list_id: 5, ...body };
  const other = { contacts_list_id: 6, ...body, name: 'Other' };
  const alike = { contacts_list_id: 7, ...body, target_industry: 'Steel' };
  const twin = { ...ours, contacts_list_id: 8 };
  const cases: [string, Fields[], number | undefined, boolean][] = [
    ['the list shows ours', [ours, other], 5, false],
    ['beside an equal one of somebody else', [twin, ours], 5, false],
    ['another record', [ours, other], 6, true],
    ['another one, and ours is not there yet', [other], 6, true],
    ['one that agrees in part, and ours is there', [alike, ours], 7, true],
    ['one that agrees in part, and nothing else does', [alike, other], 7, false],
    ['one that is not shown, and ours is there', [ours], 9, true],
    ['one that is not shown, and nothing is like ours', [other], 9, false],
    ['none at all, which is judged elsewhere', [ours], undefined, false],
  ];
  const answered = (id: number | undefined) => (id === undefined ? {} : { contact_list_id: id });

  test.each(cases)('is told by the list: %s', async (_, data, id, isContradicted) => {
    const { contradicts } = looked(createContactList, { body }, { read: reading({ data }) });
    expect(await contradicts?.(answered(id))).toBe(isContradicted);
  });

  test('is not told where nobody knows what was there', async () => {
    const { contradicts } = prepareLook(
      () => reading({ data: [ours, other] }),
      createContactList,
      { body },
      {
        own: new Map<number, number>(),
        mayBeAnew: () => false,
        open: new Set(),
        me: { isLookedFor: true },
        before: undefined,
      },
    );
    expect(await contradicts?.(answered(6))).toBe(false);
  });
});

describe('a record is ours by all that was sent', () => {
  const compare = (record: Fields, body: Input<typeof createContactList>['body']) =>
    lookups.createContactList.compare(record, { body });
  const body = { name: 'VIP', target_industry: 'Any', notes: 'n', metadata: { plan: 'free' } };

  test.each([
    ['the list leaves notes and metadata out', { name: 'VIP', target_industry: 'Any' }, 'whole'],
    ['it shows both', body, 'whole'],
    ['other notes', { ...body, notes: 'm' }, 'part'],
    ['other metadata', { ...body, metadata: { plan: 'paid' } }, 'part'],
    ['another industry', { ...body, target_industry: 'Steel' }, 'part'],
    ['another name', { ...body, name: 'VIPs' }, 'none'],
  ])('a list: %s', (_, record, agrees) => {
    expect(compare(record, body)).toBe(agrees);
  });

  test('a list that was sent without metadata has none', () => {
    const { metadata, ...bare } = body;
    expect(compare({ ...bare, metadata: {} }, bare)).toBe('whole');
    expect(compare({ ...bare, metadata }, bare)).toBe('part');
  });

  test('a subscription of the same URL to other events is like it only', () => {
    const body = { event_type: 'call.completed', target_url: 'https://a.example/b' } as const;
    const compare = (record: Fields) => lookups.createWebhook.compare(record, { body });
    expect(compare(body)).toBe('whole');
    expect(compare({ ...body, event_type: 'ticket.created' })).toBe('part');
    expect(compare({ ...body, target_url: 'https://a.example/c' })).toBe('none');
  });

  test('of a batch each row has a record of its own', () => {
    const person = { name: 'Ada', last_name: 'Byron', email: 'a@example.com', phone: '+12025550123' };
    const contacts = [person, { ...person, email: 'b@example.com' }];
    const held = (id: number, email: string) => ({ id, record: { ...person, email } });
    const answer = (...emails: string[]) =>
      lookups.createContacts.answer(
        { body: { contacts } },
        emails.map((email, i) => held(9 - i, email)),
      );
    expect(answer('b@example.com', 'a@example.com')).toEqual({
      found: { contacts: [8, 9].map((contact_id) => ({ contact_id, name: 'Ada' })) },
    });
    expect(answer('a@example.com', 'a@example.com')).toEqual({ candidates: [9, 8], because: 'in part' });
  });
});

describe('a ticket that the list does not show whole', () => {
  const body = { subject: 'Twice', description: 'The same' };
  const listed = (id: number, fields: Fields = {}) => ({ id, source: 'api', priority: 0, subject: 'Other', ...fields });
  const full = (id: number, fields: Fields = {}) => ({ ticket: { ...listed(id, fields), description: 'Other' } });

  async function look(tickets: Fields[], records: Record<number, unknown> = {}, sent: Fields = body) {
    const asked: number[] = [];
    const meta = { current_page: 1, last_page: 1, per_page: 100, total: tickets.length };
    const read = reading({ tickets, meta }, records, asked);
    const input = { body: sent } as Input<typeof createTicket>;
    return { findings: await looked(createTicket, input, { read }).look(1), asked };
  }

  test('is read where it agrees, and ours by its text', async () => {
    const ours = { ticket: { ...listed(9, { subject: 'Twice' }), description: 'The same' } };
    const tickets = [listed(9, { subject: 'Twice' }), listed(8, { subject: 'Twice' })];
    const { findings } = await look(tickets, { 9: ours, 8: full(8, { subject: 'Twice' }) });
    expect(findings).toEqual({ found: ours });
  });

  test('is read where its subject is another one, for the text may be ours', async () => {
    const { findings, asked } = await look([listed(9)], { 9: { ticket: { ...listed(9), description: 'The same' } } });
    expect(asked).toEqual([9]);
    expect(findings).toMatchObject({ candidates: [9], because: 'in part' });
  });

  test('is not read where it came another way, or no text was sent', async () => {
    expect((await look([listed(9, { source: 'email' })])).asked).toEqual([]);
    expect((await look([listed(9)], {}, { subject: 'Twice' })).asked).toEqual([]);
    // What agrees in part as the list shows it is told without.
    const { findings, asked } = await look([listed(9, { subject: 'Twice', priority: 3 })]);
    expect(asked).toEqual([]);
    expect(findings).toMatchObject({ candidates: [9] });
  });

  test.each([
    [20, false],
    [21, true],
  ])('of %d that differ no more than 20 are read, and what is left makes it no proof', async (count, isPartial) => {
    const tickets = Array.from({ length: count }, (_, at) => listed(100 - at));
    const records = Object.fromEntries(tickets.map(({ id }) => [id, full(id)]));
    const { findings, asked } = await look(tickets, records);
    expect(asked).toEqual(tickets.slice(0, 20).map(({ id }) => id));
    expect(findings).toMatchObject({ candidates: [], isPartial });
  });
});

describe('writes that one record may be taken for', () => {
  const params = { id: 8 };
  test.each<[string, Pick<Operation, 'id'>, Fields, Fields]>([
    ['lists', createContactList, { name: 'A', target_industry: 'x' }, { name: 'B', target_industry: 'x' }],
    ['tickets', createTicket, { subject: 'A', description: 'x' }, { subject: 'A', description: 'y' }],
    ['replies', replyToTicket, { body: 'A' }, { body: 'B' }],
    ['chats', { id: 'replyToConversation' }, { body: 'A' }, { body: 'B' }],
    ['entries', { id: 'createChangelogEntry' }, { title: 'A', version: '1' }, { title: 'A', version: '2' }],
    ['contacts', createContacts, { name: 'A', email: 'a@b.c' }, { name: 'A', email: 'b@b.c' }],
    ['subscriptions', createWebhook, { event_type: 'a', target_url: 'u' }, { event_type: 'b', target_url: 'u' }],
  ])('are those with the same text: %s', (_, operation, one, other) => {
    const like = (body: Fields) => likenessOf(operation, { params, body } as Input<Operation>);
    expect(like({ ...one })).toBe(like(one));
    expect(like(one)).not.toBe(like(other));
  });
});

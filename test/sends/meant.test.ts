// What is shown of a draft is what its requests do: one that somebody has changed in its place is never sent.
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { svc } from '../svc.ts';
import { desk, writesOf } from './drafting.ts';

type Fields = Readonly<Record<string, unknown>>;
type Stored = Fields & { readonly steps: readonly Fields[] };
type Change = (draft: Stored) => Fields;

const firstStep =
  (change: Fields): Change =>
  (draft) => ({
    steps: [{ ...draft.steps[0], ...change }, ...draft.steps.slice(1)],
  });

const more =
  (step: Fields): Change =>
  (draft) => ({
    steps: [...draft.steps, { body: null, sent_id: null, state: 'waiting', ...step }],
  });

/** Somebody who may write where drafts are kept puts another draft in the place of the newest one. */
function changeIn(folder: string, change: Change): void {
  const path = join(folder, 'state', 'drafts', 'drafts.jsonl');
  const { n, draft } = JSON.parse(readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? '');
  appendFileSync(path, `${JSON.stringify({ n: n + 1, draft: { ...draft, ...change(draft) } })}\n`);
}

const otherTicket = { path: '/tickets/9/replies' };
const note = { operation: 'addTicketNote', method: 'POST', path: '/tickets/8/notes', body: { body: 'x' } };

const changes: Readonly<Record<string, Change>> = {
  'a reply to another ticket': firstStep(otherTicket),
  'a reply to another ticket, under its id': (draft) => ({
    ...firstStep(otherTicket)(draft),
    operation: 'replyToConversation',
  }),
  'the deletion of a list': firstStep({ method: 'POST', path: '/contactslists/1/delete', body: null }),
  'the deletion of a list that says so': (draft) => ({
    ...firstStep({ operation: 'deleteContactList', method: 'POST', path: '/contactslists/1/delete' })(draft),
    operation: 'deleteContactList',
    record: { kind: 'lists', id: 1 },
  }),
  'a change of the ticket alone': (draft) => ({
    ...firstStep({ operation: 'updateTicket', method: 'PATCH', path: '/tickets/8', body: { status: 'closed' } })(draft),
    operation: 'updateTicket',
  }),
  'a path that svc does not know': firstStep({ path: '/evil' }),
  'no request': () => ({ steps: [] }),
  'a record of another id': () => ({ record: { kind: 'tickets', id: 9 } }),
  'another operation': () => ({ operation: 'replyToConversation' }),
  'a step on another ticket': more({ ...note, path: '/tickets/9/notes' }),
  'a reply that is called a note': more({ ...note, path: '/tickets/8/replies' }),
  'a step that reads': more({ operation: 'getTicket', method: 'GET', path: '/tickets/8' }),
};

test.each(Object.keys(changes))('%s in place of the draft that was made is neither shown nor sent', async (name) => {
  const { world, draft, run, ok } = desk();
  const { digest } = await draft('tickets reply 8 --body Fixed');
  changeIn(world.folder, changes[name] as Change);
  const refused = { exitCode: 1, stderr: expect.stringContaining('Draft 1 is damaged, or somebody has changed it') };
  expect(await run('drafts approve 1', { columns: 80, answers: [true] })).toMatchObject(refused);
  expect((await run(`drafts approve 1 --digest ${digest}`)).exitCode).not.toBe(0);
  expect(await run('drafts show 1')).toMatchObject(refused);
  expect(await run('drafts edit 1 --body Other')).toMatchObject(refused);
  expect((await ok('drafts list')).stderr).toContain('svc drafts reject 1');
  await ok('drafts reject 1');
  expect(writesOf(world)).toEqual([]);
});

test.each([
  ['number', { number: 'T-1009' }],
  ['to', { to: 'Somebody Else <else@x.test>' }],
])('a %s that is not the one of the thread keeps the draft back', async (_, change) => {
  const { world, draft, run, shown } = desk();
  await draft('tickets reply 8 --body Fixed');
  changeIn(world.folder, () => change);
  expect(await run('drafts approve 1', { columns: 80, answers: [true] })).toMatchObject({ exitCode: 11 });
  expect(writesOf(world)).toEqual([]);
  expect(await shown(1)).toMatchObject({
    to: 'Viktor Nakamura <viktor.nakamura@saltmarsh.test>',
    record: { number: 'T-1008' },
  });
});

test.each([
  ['another ticket', firstStep(otherTicket)],
  ['another text', firstStep({ body: { body: 'Another' } })],
  ['another number', () => ({ number: 'T-1009' })],
  ['another account', () => ({ account: 2 })],
  ['another service', () => ({ base_url: 'https://other.test' })],
] satisfies [string, Change][])('%s that is put in while a person is asked is not sent', async (_, change) => {
  const { world, draft, run } = desk();
  await draft('tickets reply 8 --body Fixed');
  const whileAsked = async () => changeIn(world.folder, change);
  expect((await run('drafts approve 1', { columns: 80, answers: [true], whileAsked })).exitCode).not.toBe(0);
  expect(writesOf(world)).toEqual([]);
});

test.each([
  ['another ticket', firstStep(otherTicket)],
  ['another text', firstStep({ body: { body: 'Another' } })],
] satisfies [string, Change][])('%s that is put in once it was agreed to is not sent', async (_, change) => {
  const { world, draft } = desk();
  const { digest } = await draft('tickets reply 8 --body Fixed');
  let hasChanged = false;
  const exchange: typeof world.exchange = async (request) => {
    if (!hasChanged && request.url.endsWith('/tickets/8')) {
      hasChanged = true;
      changeIn(world.folder, change);
    }
    return world.exchange(request);
  };
  const ran = await svc({ ...world, exchange }, ['drafts', 'approve', '1', '--digest', digest]);
  expect([ran.exitCode, hasChanged]).toEqual([1, true]);
  expect(writesOf(world)).toEqual([]);
});

const strangeWords = 'It also holds what svc does not know of such a request, and the service may leave out:';

const hidden: Readonly<Record<string, readonly [line: readonly string[], body: Fields, shown: string]>> = {
  'a status beside a text': [
    ['tickets', 'reply', '8', '--body', 'x'],
    { body: 'x', status: 'closed' },
    'status: closed',
  ],
  'a trigger of a reply': [['tickets', 'reply', '8', '--body', 'x'], { body: 'x', trigger: 'evil' }, 'trigger: evil'],
  'a field behind a key with a dot': [
    ['tickets', 'reply', '8', '--body', 'x'],
    { body: 'x', 'cc.to': 'shown@x.test', cc: { to: 'hidden@x.test' } },
    'cc.to: hidden@x.test',
  ],
  'a field without a name': [['tickets', 'reply', '8', '--body', 'x'], { body: 'x', '': 'hidden' }, ': hidden'],
  'the text of an entry behind another one': [
    ['changelog', 'update', '1', '--title', 'Better'],
    { body: 'Harmless', content: 'Something else' },
    'Something else',
  ],
  'an entry that is taken back': [
    ['changelog', 'update', '1', '--title', 'Better'],
    { status: 'draft' },
    'status: draft',
  ],
};

test.each(Object.keys(hidden))('%s is shown', async (name) => {
  const [line = [], body, shown] = hidden[name] ?? [];
  const { world, ok, run } = desk();
  await ok([...line, '--draft']);
  changeIn(world.folder, firstStep({ body }));
  expect((await ok('drafts show 1', { columns: 100 })).stdout).toContain(shown);
  expect((await run('drafts approve 1', { columns: 100, answers: [false] })).stderr).toContain(shown);
});

test('of what follows every field is shown, and what has no body is told by what it does', async () => {
  const { world, ok } = desk();
  await ok('tickets reply 8 --body Fixed --note Why --draft');
  changeIn(world.folder, ({ steps: [first, second] }) => ({
    steps: [first, { ...second, body: { body: 'Why', visible_to: 'everybody' } }],
  }));
  expect((await ok('drafts show 1', { columns: 100 })).stdout).toContain(
    `then note: Why\n${strangeWords}\n  visible_to: everybody`,
  );
  await ok('conversations reply 7 --body Bye --resolve --draft');
  changeIn(world.folder, ({ steps: [first, second] }) => ({
    steps: [first, { ...second, body: { status: 'pending' } }],
  }));
  expect((await ok('drafts show 2', { columns: 100 })).stdout).toContain('then resolve the conversation');
});

test('one line that is no draft as svc writes it damages the log', async () => {
  for (const change of [() => ({ steps: [null] }), () => ({ record: null }), () => ({ operation: 7 })]) {
    const { world, draft, run } = desk();
    await draft('tickets reply 8 --body Fixed');
    changeIn(world.folder, change);
    expect(await run('drafts list')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('damaged') });
  }
});

test('one that is said to be on its way is looked for nowhere, and stays unknown', async () => {
  const { world, draft, ok, shown } = desk();
  await draft('tickets reply 8 --body Fixed');
  changeIn(world.folder, (one) => ({
    ...firstStep({ ...otherTicket, state: 'left' })(one),
    ...{ state: 'sending', claim: { token: 'x', by: 'x', until: '2020-01-01T00:00:00.000Z' } },
  }));
  const before = world.sent.length;
  expect((await ok('drafts list')).stderr).toContain('Draft 1 was being sent when svc ended: it is unknown now.');
  expect(world.sent.slice(before).join()).not.toContain('/tickets');
  await expect(shown(1)).rejects.toThrow('damaged');
});

test('a draft of an older svc, which counted no messages, keeps its digest when it is read', async () => {
  const { world, draft, shown, run } = desk();
  await draft('tickets reply 8 --body Fixed');
  changeIn(world.folder, () => ({ messages: undefined }));
  const { digest } = (await shown(1)) as { digest: string };
  await shown(1);
  expect(await run(`drafts approve 1 --digest ${digest}`)).toMatchObject({ exitCode: 0 });
  expect(writesOf(world)).toHaveLength(1);
});

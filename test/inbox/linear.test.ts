/** The inbox line by line: everything that the screen can do, and what becomes of a text where something fails. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Failure } from '../../src/errors.ts';
import type { Event } from '../../src/inbox/event.ts';
import { eventsOf } from '../../src/inbox/linear/meant.ts';
import { isNew, placesSaid, questionOf, said } from '../../src/inbox/linear/said.ts';
import { begin } from '../../src/inbox/model.ts';
import { cells } from '../../src/text/width.ts';
import { json, sql } from '../mirror/engines.ts';
import { svc } from '../svc.ts';
import { desk, linear, through } from './desk.ts';
import { after, chatOf, inboxOf, now, rowOf, typing, views } from './models.ts';

type Draft = { id: number; state: string; body: string; operation: string; error: string | null };

const write = (text: string) => ({ edit: (initial: string) => `${text}\n${initial}` });
const writes = (sent: readonly string[]) => sent.filter((one) => !one.startsWith('GET'));
const drafts = async (world: Awaited<ReturnType<typeof desk>>): Promise<Draft[]> => json(world, 'drafts list --all');

test('the first ten are said with their numbers, and one is opened by its number', { tags: ['long'] }, async () => {
  const { stdout, exitCode } = await linear(await desk(), ['2', 'esc', 'q']);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^waiting, 23/u);
  expect(stdout).toContain('10. ');
  expect(stdout).toMatch(/2\. .*\n(?:.*\n)*T-\d+ {2}/u);
});

test('a reply is written above the scissors, with the thread below, and is sent once', { tags: ['long'] }, async () => {
  const world = await desk();
  let seed = '';
  const edit = (initial: string) => {
    seed = initial;
    return `It is fixed.\n${initial}`;
  };
  const { stdout } = await linear(world, ['1', 'r', 'q'], { edit });
  expect(seed).toMatch(/^\n# -+ >8 -+\n# Write above this line/u);
  expect(seed).toContain('# What is saved is sent once you quit the editor. An empty text sends nothing.\n');
  expect(seed).toContain('# To:     Ben Castro, by email');
  expect(seed).toMatch(/# > \S/u);
  expect(stdout).toContain('Sent: a reply to T-1005, Ben Castro');
  expect(writes(world.sent)).toEqual(['POST /tickets/5/replies']);
  const ticket: { messages: { body: string }[] } = await json(world, 'tickets get 5');
  expect(ticket.messages.at(-1)?.body).toBe('It is fixed.');
  expect(await drafts(world)).toMatchObject([{ state: 'sent', body: 'It is fixed.' }]);
});

test.each([
  ['ask', 'r', 'Once you quit the editor, svc asks before it sends what is saved.'],
  ['draft', 'r', 'What is saved becomes a draft once you quit the editor;'],
  ['draft', 'n', 'What is saved is sent once you quit the editor.'],
])('in mode %s the editor of %s says what becomes of the text', { tags: ['long'] }, async (mode, key, told) => {
  let seed = '';
  const edit = (initial: string) => {
    seed = initial;
    return initial;
  };
  await linear(await desk(), ['1', key, 'q'], { edit, env: { SVC_SENDS: mode } });
  expect(seed).toContain(`# ${told}`);
});

test('every write is in the record as one of the inbox', { tags: ['long'] }, async () => {
  const world = await desk();
  await linear(world, ['1', 'r', 'q'], write('It is fixed.'));
  expect(await json(world, 'audit list')).toMatchObject([
    {
      face: 'inbox',
      operation: 'replyToTicket',
      outcome: 'done',
      record: { kind: 'tickets', id: 5, number: 'T-1005' },
    },
  ]);
});

test('an editor that is left empty sends nothing', { tags: ['long'] }, async () => {
  const world = await desk();
  const { stdout } = await linear(world, ['1', 'r', 'q'], { edit: (initial) => initial });
  expect(stdout).toContain('The text is empty. Nothing was sent.');
  expect([writes(world.sent), await drafts(world)]).toEqual([[], []]);
});

test('where the customer wrote meanwhile that is said, and the text waits as a draft until somebody agrees', {
  tags: ['long'],
}, async () => {
  const world = await desk();
  const chat = async () => {
    const rows: { kind: string; id: number }[] = await json(world, 'inbox');
    const at = rows.findIndex(({ kind }) => kind === 'conversation');
    return { number: String(at + 1), id: rows[at]?.id };
  };
  const { number, id } = await chat();
  const whileTheyWrite = (text: string, body: string) => async (initial: string) => {
    await world.control('POST', 'act', { account_id: 1, kind: 'customer_message', conversation_id: id, body });
    return `${text}\n${initial}`;
  };
  const edit = whileTheyWrite('Hello.', 'And one more thing!');
  const left = await linear(world, [number, 'r', '', 'q'], { edit });
  expect(left.stdout).toContain('The customer has written again.');
  expect(left.stdout).toContain('And one more thing!');
  expect(left.stdout).toContain('Nothing was sent. Draft 1 waits.');
  expect(writes(world.sent)).toEqual([]);
  await json(world, 'mirror pull');
  const again = await chat();
  expect(again.id).toBe(id);
  // The first text waits as a draft, which is told before another is written.
  const agreed = await linear(world, [again.number, 'r', 'y', 'y', 'q'], {
    edit: whileTheyWrite('Hello again.', 'Hello?'),
  });
  expect(agreed.stdout).toContain('Sent: a message');
  expect(writes(world.sent)).toHaveLength(1);
});

test('of a note whose answer is lost it says where notes are to be seen', async () => {
  const world = await desk();
  const lost = through(world, async (request, go) =>
    request.method === 'POST' ? { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' } : go(),
  );
  const { stdout } = await linear(lost, ['1', 'n', 'q'], write('Look at the log.'));
  expect(stdout).toContain('Draft 1 may have been added: look at the ticket in the product.');
  expect(stdout).not.toContain('look in the thread');
});

test('where the answer of a reply is lost it is looked for; not found, its draft is unknown and in that view until it is opened', {
  tags: ['long'],
}, async () => {
  const world = await desk();
  const lost = through(world, async (request, go) =>
    request.method === 'POST' ? { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' } : go(),
  );
  const { stdout } = await linear(lost, ['1', 'r', 'v', 'unknown', 'q'], {
    ...write('It is fixed.'),
    argv: ['--settle', '1'],
  });
  expect(stdout).toContain('Draft 1 may have been sent: look in the thread.');
  expect(stdout).toMatch(/unknown, 1/u);
  expect(await drafts(world)).toMatchObject([{ state: 'unknown', body: 'It is fixed.' }]);
  expect(await json(world, 'inbox unknown')).toHaveLength(1);
  await linear(world, ['1', 'q'], { argv: ['unknown'] });
  expect(await json(world, 'inbox unknown')).toEqual([]);
});

test('where the network is away nothing is sent, and the text is a draft that waits', { tags: ['long'] }, async () => {
  const world = await desk();
  const away = through(world, async () => ({ lost: 'before-sending', reason: 'refused', detail: 'No connection.' }));
  const { stdout } = await linear(away, ['1', 'r', 'q'], write('It is fixed.'));
  expect(stdout).toContain('Draft 1 was not sent.');
  expect(await drafts(world)).toMatchObject([{ state: 'waiting', body: 'It is fixed.' }]);
});

test('what the editor had saved before it failed is a draft', { tags: ['long'] }, async () => {
  const world = await desk();
  const { stdout } = await linear(world, ['1', 'r', 'q'], { brokenEdit: 'Half of it' });
  expect(stdout).toContain('What the editor had saved is draft 1. The editor "vi" ended with code 1');
  expect([writes(world.sent), await drafts(world)]).toMatchObject([[], [{ state: 'waiting', body: 'Half of it' }]]);
});

test('a policy that forbids is named, and the text is a draft', { tags: ['long'] }, async () => {
  const world = await desk();
  mkdirSync(join(world.folder, 'config'), { recursive: true });
  writeFileSync(join(world.folder, 'config', 'policy.yaml'), 'sends:\n  deny: \'.body.body | test("refund"; "i")\'\n');
  const { stdout } = await linear(world, ['1', 'r', 'q'], write('We will refund you.'));
  expect(stdout).toMatch(/deny/u);
  expect([writes(world.sent), await drafts(world)]).toMatchObject([[], [{ state: 'waiting' }]]);
});

test('in mode draft a reply and the resolve of a conversation are drafts; a note and a ticket are written', {
  tags: ['long'],
}, async () => {
  const world = await desk();
  const env = { SVC_SENDS: 'draft' };
  const { stdout } = await linear(world, ['1', 'r', 'n', 'e', 'q'], { ...write('A text.'), env });
  expect(stdout).toContain('Draft 1: a reply to T-1005');
  expect(writes(world.sent)).toEqual(['POST /tickets/5/notes', 'PATCH /tickets/5']);
  expect((await drafts(world)).find(({ id }) => id === 1)).toMatchObject({ state: 'waiting' });
});

test('a note is for nobody outside: its draft names no customer and no channel, and can be approved later', {
  tags: ['long'],
}, async () => {
  const world = await desk();
  await linear(world, ['1', 'n', 'q'], write('Look at the log.'));
  expect((await drafts(world))[0]).toMatchObject({
    state: 'sent',
    operation: 'addTicketNote',
    to: null,
    channel: null,
  });
  const { stdout } = await svc(world, ['drafts', 'list', '--all']);
  expect(stdout).toContain('note on T-1005');
  expect(stdout).not.toMatch(/svc tickets note|Castro/u);
  await world.control('POST', 'faults', { method: 'POST', path: '/tickets/5/notes', action: 'status', status: 401 });
  await linear(world, ['1', 'n', 'q'], write('Once more.'));
  const { digest, state } = (await json(world, 'drafts show 2')) as { digest: string; state: string };
  expect(state).toBe('waiting');
  expect(await svc(world, ['drafts', 'approve', '2', '--digest', digest])).toMatchObject({ exitCode: 0 });
});

test('the view drafts says of each draft without a text what it does, as drafts list does', {
  tags: ['long'],
}, async () => {
  const world = await desk();
  for (const line of [
    'conversations resolve 7 --draft',
    'events send shipped --contact-name Eva --email e@x.test --draft',
    'changelog update 4 --title Better --draft',
  ])
    expect(await svc(world, line.split(' '))).toMatchObject({ exitCode: 0 });
  const rows = (await json(world, 'inbox drafts')) as unknown as { subject: string }[];
  expect(rows.map(({ subject }) => subject)).toEqual([
    'resolving of conversation 7',
    'event “shipped”',
    expect.stringMatching(/entry 4$/u),
  ]);
  const { stdout } = await linear(world, ['v', 'drafts', '1', 'q']);
  expect(stdout).toContain('Resolve conversation 7 of');
  expect(stdout).not.toContain('POST /');
});

test('a text that is too long for the service is kept as a draft that it refused', { tags: ['long'] }, async () => {
  const world = await desk();
  const { stdout } = await linear(world, ['1', 'r', 'q'], write('x'.repeat(16_001)));
  expect(stdout).toMatch(/16,?000/u);
  expect([writes(world.sent), await drafts(world)]).toMatchObject([[], [{ state: 'refused' }]]);
});

test('a template without a value is named, and nothing is sent', { tags: ['long'] }, async () => {
  const world = await desk();
  mkdirSync(join(world.folder, 'config', 'templates'), { recursive: true });
  writeFileSync(join(world.folder, 'config', 'templates', 'refund.md'), 'Dear {{contact.name}}, {{contact.nothing}}');
  const { stdout } = await linear(world, ['1', 't', 'refund', 'q']);
  expect(stdout).toContain('T-1005 has nothing for {{contact.nothing}}. Nothing was sent.');
  writeFileSync(join(world.folder, 'config', 'templates', 'refund.md'), 'Dear {{contact.name}}');
  const sent = await linear(world, ['1', 't', '1', 'y', 'q']);
  expect(sent.stdout).toContain('Dear Ben');
  expect(writes(world.sent)).toEqual(['POST /tickets/5/replies']);
});

test('ten are dealt with: answered, resolved, closed, put away, drafted, noted, and several at once', {
  tags: ['long'],
}, async () => {
  const world = await desk();
  const lines = [
    ...['1', 'r', 'esc'],
    ...['2', 'e', 'esc'],
    ...['3', 'c', 'esc'],
    ...['4', 'z', '4', '5', 'z', '5', 'in 2h'],
    // By name: how many have left the list by now is chance.
    ...['/', 'Double charge in May', '1', 'd', 'n', 'p', '4', 'esc'],
    ...['v', 'waiting', 'G', 'x', 'k', 'x', 'e', 'y'],
    ...['v', 'snoozed', 'v', 'drafts', '1', 'a', 'y', 'q'],
  ];
  const { stdout } = await linear(world, lines, write('A text.'));
  expect(stdout).not.toContain('There is no answer');
  for (const told of ['is resolved', 'is closed', 'until the customer writes', 'has priority 4', 'snoozed, 2'])
    expect(stdout, told).toContain(told);
  expect(writes(world.sent).length).toBeGreaterThanOrEqual(7);
});

test('what the customer writes brings back what was put away until then', { tags: ['long'] }, async () => {
  const world = await desk();
  const rows: { kind: string; id: number }[] = await json(world, 'inbox');
  const at = rows.findIndex(({ kind }) => kind === 'conversation');
  await linear(world, [String(at + 1), 'z', '4', 'q']);
  expect(((await json(world, 'inbox')) as unknown[]).length).toBe(rows.length - 1);
  expect(await json(world, 'inbox snoozed')).toMatchObject([{ id: rows[at]?.id, why: 'until the customer writes' }]);
  world.clock.advance(60_000);
  await world.control('POST', 'act', {
    account_id: 1,
    kind: 'customer_message',
    conversation_id: rows[at]?.id,
    body: 'Well?',
  });
  await json(world, 'mirror pull');
  expect(((await json(world, 'inbox')) as unknown[]).length).toBe(rows.length);
});

test('without a copy one is begun, and shown', async () => {
  const { sandboxWorld } = await import('../sandbox-world.ts');
  const world = sandboxWorld({ rateLimit: 'off' });
  const { stdout, exitCode } = await linear(world, ['R', 'g', 'R', 'g', 'R', 'g', 'q']);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('waiting');
});

test('a line that means nothing is told, and ends nothing', async () => {
  const { stdout } = await linear(await desk(), ['nonsense', 'q']);
  expect(stdout).toContain('There is no answer "nonsense" here. ? names the keys.');
});

test('a number that is not there opens nothing, and lines break between words', async () => {
  const { stdout } = await linear(await desk(), ['99', 'a page down', '\u001b[6~', 'q']);
  expect(stdout).toContain('There are 23.');
  expect(stdout).toContain('10 of 23; PgDn reads on.');
  expect(stdout).not.toContain('There is no answer');
  for (const line of stdout.split('\n')) expect(cells(line)).toBeLessThanOrEqual(80);
});

test('no question is broken within a word, however narrow the terminal', { tags: ['long'] }, async () => {
  const lines = ['x', 'x', 'e', 'n', 'z', '5', '', 'q'];
  for (const columns of [24, 60]) {
    const { stderr } = await linear(await desk(), lines, { columns });
    for (const line of stderr.split(/ > |\n/u)) expect(cells(line)).toBeLessThan(columns);
    expect(stderr).toMatch(/Return:\s+leave\s+it > /u);
  }
});

test('each question names what the next key is for, and how to end', () => {
  const rows = [rowOf(1), chatOf(2)];
  expect(questionOf(inboxOf(rows))).toMatch(/^T-1001: a number opens, .*, \? keys, q end > $/u);
  expect(questionOf(typing(inboxOf(rows), 'j').model)).toMatch(/^conversation 2: /u);
  expect(questionOf(typing(inboxOf(rows), 'x', 'x').model)).toMatch(/^2 that are marked: /u);
  expect(questionOf(inboxOf([]))).toMatch(/^(?!.*number opens).*\? keys, q end > $/u);
});

test('a reply by email to nobody whose address is known is asked about before the editor opens', {
  tags: ['long'],
}, async () => {
  const world = await desk();
  let edits = 0;
  const edit = (initial: string) => {
    edits++;
    return `It is fixed.\n${initial}`;
  };
  const { stdout } = await linear(world, ['2', 'r', '', 'q'], { edit });
  expect(stdout).toMatch(/No address is known for T-1007, and the reply goes by email: the service may\s+refuse it\./u);
  expect([edits, await drafts(world)]).toEqual([0, []]);
});

test('a text that is too long for a draft is in a file that is named, and nothing of it is lost', {
  tags: ['long'],
}, async () => {
  const world = await desk();
  const text = 'x'.repeat(1024 * 1024);
  const { stdout } = await linear(world, ['1', 'r', 'q'], { ...write(text), columns: 1000 });
  expect(stdout).toContain(
    'The text is 1.0 MB long, and a draft holds at most 1 MB. Nothing was sent. Your text is in ',
  );
  const [, path = ''] = /Your text is in (\S+)/u.exec(stdout) ?? [];
  expect(readFileSync(path, 'utf8')).toBe(`${text}\n`);
  expect([writes(world.sent), await drafts(world)]).toEqual([[], []]);
});

test('an editor that failed and saved nothing leaves no draft of a template, and a draft as it was', {
  tags: ['long'],
}, async () => {
  const world = await desk();
  mkdirSync(join(world.folder, 'config', 'templates'), { recursive: true });
  writeFileSync(join(world.folder, 'config', 'templates', 'hello.md'), 'Dear {{contact.name}}');
  const brokenEdit = () => {
    throw new Failure('failed', 'The editor "vi" ended with code 1, so nothing was sent.');
  };
  const { stdout } = await linear(world, ['1', 't', 'hello', 'e', 'q'], { edit: brokenEdit });
  expect(stdout).toContain('The editor "vi" ended with code 1, so nothing was sent.');
  expect(stdout).not.toContain('had saved');
  expect([writes(world.sent), await drafts(world)]).toEqual([[], []]);
});

test('the number of the view drafts is that of the drafts that wait and of those that were refused', {
  tags: ['long'],
}, async () => {
  const world = await desk();
  await linear(world, ['1', 'r', 'q'], write('x'.repeat(16_001)));
  const { stdout } = await linear(world, ['3', 'd', '4', 'd', 'v', 'drafts', 'q'], write('A text.'));
  const states = (await drafts(world)).map(({ state }) => state);
  expect(states).toEqual(['refused', 'waiting', 'waiting']);
  expect(stdout).toMatch(/drafts, 3, (?:.*, )?2 drafts wait, 1 is refused/u);
});

test('of several that are changed, each that was refused is named', async () => {
  const world = await desk();
  const away = through(world, async (request, go) =>
    request.method === 'PATCH' ? { lost: 'before-sending', reason: 'refused', detail: 'No connection.' } : go(),
  );
  const { stdout } = await linear(away, ['x', 'x', 'p', '3', 'q'], { columns: 200 });
  expect(stdout).toMatch(/^T-1005: \S/mu);
  expect(stdout).toMatch(/^T-1007: \S/mu);
});

/** An inbox beside which somebody else resolves ticket 5 while the first line is awaited; its own next pull shows it. */
async function besideSomebody() {
  const world = await desk();
  const asleep: (() => void)[] = [];
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    ms < 10_000
      ? world.clock.sleep(ms, signal)
      : Promise.race([world.clock.sleep(ms, signal), new Promise<void>((resolve) => asleep.push(resolve))]);
  const inbox = { ...world, clock: { ...world.clock, sleep } };
  let isFirst = true;
  const whileAsked = async () => {
    if (!isFirst) return;
    isFirst = false;
    expect(await svc(world, ['tickets', 'resolve', '5'])).toMatchObject({ exitCode: 0 });
    const shown = () => sql(world, 'SELECT status FROM tickets WHERE id = 5');
    await expect
      .poll(() => {
        for (const wake of asleep.splice(0)) wake();
        return shown();
      })
      .toEqual([{ status: 'resolved' }]);
    // The rows of the view are read after the copy.
    await svc(world, ['inbox', '--json']);
  };
  return { world, inbox, whileAsked };
}

test('a number means the row that it was said with, whatever the list has become since', {
  tags: ['long'],
}, async () => {
  const { inbox, whileAsked } = await besideSomebody();
  const { stdout } = await linear(inbox, ['1', 'q'], { whileAsked });
  expect(stdout).toContain('\n1. Ben Castro');
  expect(stdout).toMatch(/^T-1005 {2}/mu);
  expect(stdout).not.toMatch(/^T-10(?!05)\d\d {2}/mu);
});

test('a key is for the row that the question names', { tags: ['long'] }, async () => {
  const { world, inbox, whileAsked } = await besideSomebody();
  const before = writes(world.sent).length;
  const { stdout } = await linear(inbox, ['p', '', 'q'], { whileAsked });
  expect(stdout).toContain('Priority of T-1005');
  expect(writes(world.sent).slice(before)).toEqual(['PATCH /tickets/5']);
});

test('numbers that were said stay with their rows, and those of another list mean nothing', () => {
  const three = inboxOf([rowOf(1), rowOf(2), rowOf(3)]);
  const first = placesSaid(new Map(), undefined, three);
  const fewer = after(three, [{ is: 'rows', ask: 1, offset: 0, rows: [rowOf(2), rowOf(3)], total: 2 }]).model;
  expect(said(three, fewer)).toEqual(['waiting: 2', expect.stringMatching(/^1\. .*T-1002$/u)]);
  const places = placesSaid(first, three, fewer);
  const at = (typed: string) => {
    const events = eventsOf(typed, fewer, places);
    return typeof events === 'string' ? events : events[0];
  };
  expect(at('1')).toEqual({ is: 'select', at: 0 });
  expect(at('2')).toEqual({ is: 'select', at: 0 });
  expect(at('3')).toEqual({ is: 'select', at: 1 });
  expect(at('4')).toBe('There are 2.');
  expect(eventsOf('1', fewer, first)).toBe('T-1001 is not in this list any more.');
  const other = { ...fewer, view: 'open' };
  expect([...placesSaid(places, fewer, other).values()].map(({ id }) => id)).toEqual([2, 3]);
});

test('what was typed before a row was said is not for it, and a question is answered by who has read it', () => {
  const rows = Array.from({ length: 15 }, (_, at) => rowOf(at + 1));
  const coming: Event = { is: 'rows', ask: 1, offset: 0, rows, total: rows.length };
  const size = { columns: 80, rows: 13 };
  const first = after(begin({ size, now, view: 'waiting', views }).model, [coming]).model;
  const none = new Map();
  expect(isNew(first, none)).toBe(true);
  const places = placesSaid(none, undefined, first);
  const read = after(first, [{ is: 'said' }]).model;
  const next = typing(read, 'j').model;
  expect(isNew(next, places)).toBe(false);
  // Ten were said.
  expect(isNew(typing(read, 'G').model, places)).toBe(true);
  expect(isNew(typing(read, 'p').model, places)).toBe(false);
  // Opened by a number that was not said: it is named with the first question of its thread.
  const opened = after(read, eventsOf('15', read, places) as Event[]).model;
  expect(isNew(opened, places, read)).toBe(true);
  expect(isNew(typing(opened, 'pagedown').model, places, opened)).toBe(false);
  expect(isNew(typing(read, 'x', 'x', 'e').model, places)).toBe(true);
  const taken = after(read, [{ is: 'rows', ask: 1, offset: 0, rows: rows.slice(1), total: 14 }]).model;
  expect(isNew(taken, places)).toBe(true);
  expect(isNew(after(taken, [{ is: 'said' }]).model, places)).toBe(false);
});

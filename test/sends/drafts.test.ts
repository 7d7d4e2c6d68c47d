// Drafts: nothing leaves until a person approves what they have read, and then once.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/context.ts';
import { idOrders, withIds } from '../other-ids.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc, type World } from '../svc.ts';
import { atDesk, desk, type Shown, writesOf } from './drafting.ts';

test('a reply with --draft is stored with whom it reaches and what it answers, and nothing is sent', async () => {
  const { world, draft, json } = desk();
  const made = await draft('tickets reply 8 --body Fixed');
  expect(made).toMatchObject({
    ...{ id: 1, state: 'waiting', batch: null, operation: 'replyToTicket', channel: 'email', body: 'Fixed' },
    record: { kind: 'tickets', id: 8, number: 'T-1008' },
    to: 'Viktor Nakamura <viktor.nakamura@saltmarsh.test>',
    answers: { message_id: expect.any(Number), created_at: expect.any(String) },
    ...{ edited_by: null, decided_at: null, decided_by: null, reason: null, sent_id: null, error: null },
  });
  expect(writesOf(world)).toEqual([]);
  expect(await json('drafts list')).toEqual([made]);
});

test('a list of none says no more than was asked for', async () => {
  const { draft, ok } = desk();
  const said = async (line: string) => (await ok(line, { columns: 80 })).stderr.trim();
  expect(await said('drafts list')).toBe('No drafts wait.');
  expect(await said('drafts list --all')).toBe('There are no drafts.');
  await draft('tickets reply 8 --body Fixed');
  for (const flag of ['--batch nope', '--by nobody', '--state sent'])
    expect(await said(`drafts list ${flag}`)).toBe('There is no such draft. To see all of them: svc drafts list --all');
});

test.each([
  ['tickets reply 8 --body Fixed', '/tickets/8'],
  ['conversations reply 3 --body Fixed', '/conversations/3'],
  ['api /tickets/8/replies -f body=Fixed', '/tickets/8'],
])('%s --draft reads its thread once: nothing will be looked for', async (line, path) => {
  const { world, ok } = desk();
  await ok(`${line} --draft`);
  expect(world.sent.filter((one) => one === `GET ${path}`)).toHaveLength(1);
});

test('a draft for a ticket that is not there is refused', async () => {
  const { run } = desk();
  expect(await run('tickets reply 9999 --body Fixed --draft')).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining('Ticket 9999'),
  });
});

test('on a terminal one line names the draft and the command that sends it', async () => {
  const { ok } = desk();
  const { stdout } = await ok('tickets reply T-1008 --body Fixed --draft', { columns: 200, env: { NO_COLOR: '1' } });
  expect(stdout).toBe('✓ Draft 1: a reply to T-1008, Viktor Nakamura, by email. To send it: svc drafts approve 1\n');
});

test('in a pipe the command that sends it has the digest that it needs there', async () => {
  const { world, ok } = desk();
  const approveIn = ({ stderr }: { readonly stderr: string }) =>
    /: svc (drafts approve 1 --digest \w+)$/mu.exec(stderr)?.[1] ?? '';
  const made = await ok('tickets reply 8 --body Fixed --draft');
  const edited = await ok(['drafts', 'edit', '1', '--body', 'Mended']);
  expect(approveIn(edited)).not.toBe(approveIn(made));
  const { exitCode } = await atDesk(world).run(approveIn(made));
  expect([exitCode, writesOf(world)]).toEqual([11, []]);
  await ok(approveIn(edited));
  expect(writesOf(world)).toEqual(['POST /tickets/8/replies']);
});

test('in a pipe a draft is edited by a text that is given', async () => {
  const { draft, run } = desk();
  await draft('tickets reply 8 --body Fixed');
  expect(await run('drafts edit 1')).toMatchObject({
    exitCode: 2,
    stderr:
      'Error: --body is required. Draft 1 is as it was.\nGive --body TEXT or --body-file FILE, or name an editor in VISUAL or EDITOR.\n',
  });
});

test('a text that comes to nothing leaves the draft as it was, and nobody is told of a sending', async () => {
  const { draft, run, shown } = desk();
  const { digest } = await draft('tickets reply 8 --body Fixed');
  const blank = await run('drafts edit 1', { columns: 80, edit: () => ' ' });
  expect(blank).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('The text is empty. Draft 1 is as it was.'),
  });
  let otherwise: string | undefined;
  await run('drafts edit 1', {
    columns: 80,
    edit: (text, options) => {
      ({ otherwise } = options ?? {});
      return text;
    },
  });
  expect(otherwise).toBe('draft 1 is as it was');
  expect(await shown(1)).toMatchObject({ digest });
});

test('a draft that waits is shown on a terminal with what can be done with it', async () => {
  const { draft, ok } = desk();
  await draft('tickets reply 8 --body Fixed');
  await draft('conversations resolve 3');
  const next = (id: number, text: string) =>
    `To send it: svc drafts approve ${id}\n${text}To reject it: svc drafts reject ${id}\n`;
  expect((await ok('drafts show 1', { columns: 100 })).stdout).toContain(
    next(1, 'To change its text: svc drafts edit 1\n'),
  );
  expect((await ok('drafts show 2', { columns: 100 })).stdout).toContain(next(2, ''));
  expect((await ok('drafts show 1')).stdout).not.toContain('drafts approve');
  await ok('drafts reject 1');
  expect((await ok('drafts show 1', { columns: 100 })).stdout).not.toContain('drafts approve');
});

test('a draft that was decided on says so once', async () => {
  const { draft, ok, run } = desk();
  await draft('tickets reply 8 --body Fixed');
  await ok('drafts reject 1');
  expect(await run('drafts reject 1')).toMatchObject({ exitCode: 1, stderr: 'Error: Draft 1 is rejected already.\n' });
});

test('approve on a terminal shows recipient and text, asks, and sends it once', async () => {
  const { world, draft, run, shown } = desk();
  await draft('tickets reply 8 --body Fixed');
  const declined = await run('drafts approve 1', { columns: 80, answers: [false] });
  expect(declined.exitCode).toBe(1);
  expect(writesOf(world)).toEqual([]);
  const sent = await run('drafts approve 1', { columns: 80, answers: [true] });
  expect(sent.stderr).toContain('Viktor Nakamura');
  expect(sent.stderr).toContain('Fixed');
  expect(sent.exitCode).toBe(0);
  expect(writesOf(world)).toEqual(['POST /tickets/8/replies']);
  expect(await shown(1)).toMatchObject({ state: 'sent', sent_id: expect.any(Number), decided_by: expect.any(String) });
  const again = await run('drafts approve 1', { columns: 80, answers: [true] });
  expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('was sent already') });
  expect(writesOf(world)).toHaveLength(1);
});

test('several ids in mode draft are told as drafts, and never as done', async () => {
  const { run, world } = desk();
  const env = { SVC_SENDS: 'draft' };
  const ran = await run('conversations resolve 1 7', { env });
  expect(ran).toMatchObject({ exitCode: 0, stdout: '1\tdraft 1\n7\tdraft 2\n' });
  expect(ran.stderr).toContain('2 in all: 2 drafted, nothing sent, 0 rejected');
  expect(JSON.parse((await run('conversations resolve 1 7 --json', { env })).stdout)).toMatchObject({
    done: 2,
    drafted: 2,
  });
  expect(writesOf(world)).toEqual([]);
});

test('what may have been sent is not rejected, and a draft that was sent in part says so', async () => {
  const { world, draft, run, approve, shown, json } = desk();
  await draft('tickets reply 8 --body Fixed --note Why');
  await world.control('POST', 'faults', [
    { method: 'POST', path: '/tickets/8/notes', times: 1, action: 'status', status: 422 },
  ]);
  expect((await approve(1)).exitCode).not.toBe(0);
  expect(await shown(1)).toMatchObject({ state: 'refused', sent_id: expect.any(Number) });
  const edited = await run('drafts edit 1 --body Other');
  expect(edited.exitCode).toBe(0);
  expect((await shown(1)).steps.map(({ body, state }) => [body, state])).toEqual([
    [{ body: 'Fixed' }, 'done'],
    [{ body: 'Other' }, 'waiting'],
  ]);
  const rejected = await run('drafts reject 1');
  expect(rejected.stderr).toContain('1 of its 2 steps had been sent');
  expect(rejected.stderr).not.toContain('nothing was sent');
  await draft('tickets reply 9 --body Lost');
  await world.control('POST', 'faults', [
    { method: 'POST', path: '/tickets/9/replies', times: 9, action: 'drop-after' },
    { method: 'GET', path: '/tickets/9', nth: 3, times: 99, action: 'drop-before' },
  ]);
  expect((await approve(2)).exitCode).toBe(9);
  expect(await run('drafts reject 2')).toMatchObject({
    exitCode: 9,
    stderr: expect.stringContaining('may have been sent'),
  });
  expect(await json('drafts list --state unknown')).toHaveLength(1);
});

test('the draft of a publishing shows what would become public', async () => {
  const { draft, json, run } = desk();
  const [entry] = await json<readonly { id: number; title: string }[]>('changelog list --status draft');
  await draft(`changelog publish ${entry?.id}`);
  expect(await json('drafts show 1')).toMatchObject({ entry: { title: entry?.title } });
  const asked = await run('drafts approve 1', { columns: 100, answers: [false] });
  expect(asked.stderr).toContain(entry?.title);
});

test('what is once, however often it is done, has one draft while that waits; replies have as many as are made', async () => {
  const { draft, json, ok, approve } = desk();
  await draft('conversations resolve 1');
  expect(await draft('conversations resolve 1')).toMatchObject({ id: 1, state: 'waiting' });
  expect(await draft('conversations resolve 7')).toMatchObject({ id: 2 });
  await ok('drafts reject 1');
  expect(await draft('conversations resolve 1')).toMatchObject({ id: 3 });
  await draft('tickets reply 8 --body Fixed');
  await draft('tickets reply 8 --body Fixed');
  expect(await json('drafts list')).toHaveLength(4);
  await approve(2);
});

test('the record names the draft that a write has sent', async () => {
  const { draft, approve, ok, json } = desk();
  await ok('tickets note 8 --body Before');
  await draft('tickets reply 8 --body One');
  await draft('tickets reply 9 --body Two');
  await approve(2);
  const entries = await json<readonly { operation: string; draft: number | null }[]>('audit list');
  expect(entries.map(({ operation, draft: id }) => [operation, id])).toEqual([
    ['replyToTicket', 2],
    ['addTicketNote', null],
  ]);
});

test('in a pipe approve needs the digest of what was read, whatever --yes says', async () => {
  const { world, draft, run, approve } = desk();
  const { digest } = await draft('tickets reply 8 --body Fixed');
  expect(await run('drafts approve 1 --yes')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--digest'),
  });
  expect((await run('drafts approve --all --yes')).exitCode).toBe(2);
  const missing = await run('drafts approve 99');
  expect(missing).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('There is no draft 99.') });
  const wrong = await run('drafts approve 1 --digest 0000');
  expect(wrong).toMatchObject({ exitCode: 11, stderr: expect.stringContaining('svc drafts show 1') });
  // The one that is kept may be no longer right: the thread was not read.
  expect(wrong.stderr).not.toContain(digest);
  expect(writesOf(world)).toEqual([]);
  expect((await approve(1)).exitCode).toBe(0);
  expect(writesOf(world)).toHaveLength(1);
});

const changes: readonly (readonly [what: string, line: string, said: string])[] = [
  ['a reply that the team has sent meanwhile', 'tickets reply 8 --body Other', 'The team has answered since.'],
  ['a closed ticket', 'tickets close 8', 'It is closed now'],
  ['another address of the recipient', 'contacts update CONTACT --email new@saltmarsh.test', 'It would go to'],
];

test.each(changes)('%s keeps the draft back: exit 11, and it waits with a new digest', async (_, line, said) => {
  const { world, draft, run, ok, json, shown } = desk();
  const before = await draft('tickets reply 8 --body Fixed');
  const { contact } = await json<{ contact: { contact_id: number } }>('tickets get 8');
  await ok(line.replace('CONTACT', String(contact.contact_id)));
  const sent = writesOf(world).length;
  const ran = await run(`drafts approve 1 --digest ${before.digest} --json`);
  expect(ran).toMatchObject({ exitCode: 11, stderr: expect.stringContaining(said) });
  const after: Shown = JSON.parse(ran.stdout);
  expect(after.state).toBe('waiting');
  expect(after.digest).not.toBe(before.digest);
  expect(writesOf(world)).toHaveLength(sent);
  expect(await shown(1)).toMatchObject({ digest: after.digest });
  expect((await run(`drafts approve 1 --digest ${after.digest}`)).exitCode).toBe(0);
  expect(writesOf(world)).toHaveLength(sent + 1);
});

/** The service refuses the first write for a while; `meanwhile` happens in that time. */
function refusedOnce(world: SandboxWorld, meanwhile: () => Promise<unknown>) {
  let isFirst = true;
  const exchange: World['exchange'] = async (request) => {
    if (request.method === 'GET' || !isFirst) return world.exchange(request);
    isFirst = false;
    await meanwhile();
    const headers = { 'retry-after': '30', 'content-type': 'application/json', 'x-ratelimit-limit': '60' };
    return { status: 429, headers, body: '{"error":"Too many requests"}' };
  };
  return atDesk({ ...world, exchange });
}

test.each(changes)('%s while a rate limit is waited out keeps the draft back too', async (_, line, said) => {
  const { world, draft, ok, json, approve } = desk();
  const { digest } = await draft('tickets reply 8 --body Fixed');
  const { contact } = await json<{ contact: { contact_id: number } }>('tickets get 8');
  const busy = refusedOnce(world, () => ok(line.replace('CONTACT', String(contact.contact_id))));
  const ran = await busy.run(`drafts approve 1 --digest ${digest} --json`);
  expect(ran).toMatchObject({ exitCode: 11, stderr: expect.stringContaining(said) });
  expect(writesOf(world)).toHaveLength(1);
  const after: Shown = JSON.parse(ran.stdout);
  expect(after).toMatchObject({ state: 'waiting', steps: [{ state: 'waiting' }] });
  expect(after.digest).not.toBe(digest);
  expect(ran.stderr).toContain(after.digest);
  const entries = await json<readonly { draft: number | null; outcome: string }[]>('audit list');
  expect(entries.filter((entry) => entry.draft === 1)).toMatchObject([{ outcome: 'refused' }]);
  expect((await approve(1)).exitCode).toBe(0);
  expect(writesOf(world)).toHaveLength(2);
});

test('an entry that is changed while a rate limit is waited out does not become public', async () => {
  const { world, draft, ok, json } = desk();
  const [entry] = await json<readonly { id: number }[]>('changelog list --status draft');
  const { digest } = await draft(`changelog publish ${entry?.id}`);
  const busy = refusedOnce(world, () => ok(`changelog update ${entry?.id} --title Unread`));
  const ran = await busy.run(`drafts approve 1 --digest ${digest}`);
  expect(ran).toMatchObject({ exitCode: 11, stderr: expect.stringContaining('other than it was') });
  expect(await json(`changelog get ${entry?.id}`)).toMatchObject({ status: 'draft' });
});

test('a thread that cannot be read after a rate limit leaves the draft waiting', async () => {
  const { world, draft, shown } = desk();
  const { digest } = await draft('tickets reply 8 --body Fixed');
  const fault = { method: 'GET', path: '/tickets/8', times: 1, action: 'status', status: 404 };
  const busy = refusedOnce(world, () => world.control('POST', 'faults', [fault]));
  expect((await busy.run(`drafts approve 1 --digest ${digest}`)).exitCode).toBe(3);
  expect(writesOf(world)).toEqual([]);
  expect(await shown(1)).toMatchObject({ state: 'waiting', digest });
});

test('a draft of two steps of which nothing else changed is sent whole after a rate limit', async () => {
  const { world, draft } = desk();
  const { digest } = await draft('tickets reply 8 --body Fixed --note Why');
  const busy = refusedOnce(world, async () => {});
  expect((await busy.run(`drafts approve 1 --digest ${digest}`)).exitCode).toBe(0);
  expect(writesOf(world)).toEqual(['POST /tickets/8/replies', 'POST /tickets/8/notes']);
});

test('a newer message of the customer keeps the draft of a chat back', async () => {
  const { world, draft, run } = desk();
  const before = await draft('conversations reply 3 --body Hello');
  await world.control('POST', 'act', { kind: 'customer_message', account_id: 1, conversation_id: 3, body: 'And now?' });
  const ran = await run(`drafts approve 1 --digest ${before.digest}`);
  expect(ran).toMatchObject({ exitCode: 11, stderr: expect.stringContaining('The customer has written again.') });
  expect(writesOf(world)).toEqual([]);
});

describe.each(idOrders)('where ids of messages %s', (_, order) => {
  const chat = order(3);
  const customerWrites = (world: SandboxWorld) =>
    world.control('POST', 'act', { kind: 'customer_message', account_id: 1, conversation_id: 3, body: 'And now?' });

  test('a newer message of the customer keeps the draft of a chat back, and an older one does not', async () => {
    const { world } = desk();
    const { draft, run, shown } = atDesk(withIds(world, order));
    const before = await draft(`conversations reply ${chat} --body Hello`);
    await customerWrites(world);
    const ran = await run(`drafts approve 1 --digest ${before.digest}`);
    expect(ran).toMatchObject({ exitCode: 11, stderr: expect.stringContaining('The customer has written again.') });
    expect(writesOf(world)).toEqual([]);
    const { digest } = await shown(1);
    expect(digest).not.toBe(before.digest);
    expect((await run(`drafts approve 1 --digest ${digest}`)).exitCode).toBe(0);
    expect(writesOf(world)).toHaveLength(1);
  });

  test('a message that comes late, with an older time, keeps it back too', async () => {
    const { world } = desk();
    const ordered = withIds(world, order);
    let isLate = false;
    const exchange: World['exchange'] = async (request) => {
      const answer = await ordered.exchange(request);
      if (!isLate || request.method !== 'GET' || 'lost' in answer) return answer;
      const { conversation } = JSON.parse(answer.body);
      if (conversation === undefined) return answer;
      const [first] = conversation.messages;
      const late = { ...first, id: 7001, body: 'Sent yesterday.' };
      const messages = [late, ...conversation.messages];
      return { ...answer, body: JSON.stringify({ conversation: { ...conversation, messages } }) };
    };
    const { draft, run } = atDesk({ ...world, exchange });
    const before = await draft(`conversations reply ${chat} --body Hello`);
    isLate = true;
    const ran = await run(`drafts approve 1 --digest ${before.digest}`);
    expect(ran.exitCode, ran.stderr).toBe(11);
    expect(writesOf(world)).toEqual([]);
  });
});

test('an edit keeps who made it and the text before, and makes another digest', async () => {
  const { draft, ok, json, approve, run } = desk();
  const before = await draft('tickets reply 8 --body Fixed');
  await ok(['drafts', 'edit', '1', '--body', 'It is fixed.']);
  const after = await json<Shown & { edits: unknown }>('drafts show 1');
  expect(after).toMatchObject({ body: 'It is fixed.', edited_by: expect.any(String), edits: [{ before: 'Fixed' }] });
  expect((await run(`drafts approve 1 --digest ${before.digest}`)).exitCode).toBe(11);
  expect((await approve(1)).exitCode).toBe(0);
  expect(JSON.stringify(await json('tickets get 8'))).toContain('It is fixed.');
});

test('a rejected draft is never sent, and says why', async () => {
  const { world, draft, ok, run, json } = desk();
  const { digest } = await draft('tickets reply 8 --body Fixed');
  await ok(['drafts', 'reject', '1', '--reason', 'by phone']);
  expect((await run(`drafts approve 1 --digest ${digest}`)).exitCode).toBe(1);
  expect(await json('drafts list')).toEqual([]);
  expect(await json('drafts list --state rejected')).toMatchObject([{ id: 1, reason: 'by phone' }]);
  expect(writesOf(world)).toEqual([]);
});

test('reject takes --all and --batch for all that wait, asks once, and leaves what is decided', async () => {
  const { draft, ok, run, json } = desk();
  for (const id of [8, 9, 10]) await draft(`tickets reply ${id} --body Fixed`);
  await ok('drafts reject 1 --reason earlier');
  expect(await run('drafts reject --all')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--yes') });
  expect((await run('drafts reject --all', { columns: 80, answers: [false] })).exitCode).toBe(1);
  expect(await json('drafts list')).toHaveLength(2);
  expect((await run('drafts reject --batch none --yes')).exitCode).toBe(3);
  expect((await run('drafts reject 2 --all --yes')).exitCode).toBe(2);
  // Whose login it is decides which drafts are meant: the others are of somebody else, perhaps.
  const unset = { SVC_API_KEY: '', SVC_CONFIG_DIR: '/nowhere' };
  expect((await run('drafts reject --all --yes', { env: { SVC_API_KEY: 'key_of_nobody' } })).exitCode).toBe(4);
  expect((await run('drafts reject --batch none --yes', { env: unset })).exitCode).toBe(3);
  expect((await run('drafts reject --all --yes', { env: unset })).exitCode).toBe(4);
  expect(await json('drafts list')).toHaveLength(2);
  await ok('drafts reject --all --reason old', { columns: 80, answers: [true] });
  expect((await json<{ reason: string }[]>('drafts list --all')).map(({ reason }) => reason).sort()).toEqual([
    'earlier',
    'old',
    'old',
  ]);
});

test('what the service refuses is refused, with its error; what it must not do leaves the draft waiting', async () => {
  const { world, draft, approve, run, shown } = desk();
  await draft('conversations reply 3 --body Hello');
  await world.control('POST', 'faults', { method: 'POST', path: '/conversations', action: 'status', status: 403 });
  expect((await approve(1)).exitCode).toBe(5);
  expect(await shown(1)).toMatchObject({ state: 'waiting' });
  await world.control('POST', 'faults', { method: 'POST', path: '/conversations', action: 'status', status: 422 });
  expect((await approve(1)).exitCode).toBe(6);
  expect(await shown(1)).toMatchObject({ state: 'refused', error: expect.any(String) });
  expect((await run('drafts list')).stderr).toContain(
    '1 more draft was refused, and not sent: svc drafts list --state refused',
  );
});

test('an answer that is lost and cannot be found makes it unknown, which approve never sends again', async () => {
  const { world, draft, approve, run, shown } = desk();
  await draft('tickets reply 8 --body Fixed');
  await world.control('POST', 'faults', { method: 'POST', path: '/tickets', action: 'drop-before' });
  expect((await approve(1)).exitCode).toBe(9);
  expect(await shown(1)).toMatchObject({ state: 'unknown' });
  expect((await approve(1)).exitCode).toBe(9);
  expect(writesOf(world)).toHaveLength(1);
  const { digest } = await shown(1);
  const again = `drafts approve 1 --retry-unknown --digest ${digest}`;
  for (const line of [again, `${again} --no-input`])
    expect(await run(line)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^Error: Refusing to send draft 1 once more.*\nPass --yes\.$/mu),
    });
  expect(writesOf(world)).toHaveLength(1);
  expect(await shown(1)).toMatchObject({ state: 'unknown', digest });
  expect((await run(`${again} --yes`)).exitCode).toBe(0);
  expect(writesOf(world)).toHaveLength(2);
});

test('an answer that is lost after it was done is found: sent, once', async () => {
  const { world, draft, approve, shown } = desk();
  await draft('tickets reply 8 --body Fixed');
  await world.control('POST', 'faults', { method: 'POST', path: '/tickets', action: 'drop-after' });
  expect((await approve(1)).exitCode).toBe(0);
  expect(await shown(1)).toMatchObject({ state: 'sent' });
  expect(writesOf(world)).toHaveLength(1);
});

test('events, resolving and publishing are drafted and sent as they were', async () => {
  const { world, draft, approve, ok, json } = desk();
  await draft('events send order_create --contact-name Ada --email ada@lovelace.test');
  await draft('conversations resolve 3');
  await ok('changelog create --title Faster --content Seconds');
  const [entry] = await json<{ id: number }[]>('changelog list --status draft --limit 1');
  const publishing = await draft(`changelog publish ${entry?.id}`);
  expect(publishing).toMatchObject({ operation: 'updateChangelogEntry', to: 'the public' });
  const before = writesOf(world).length;
  for (const id of [1, 2, 3]) expect((await approve(id)).exitCode).toBe(0);
  expect(writesOf(world).slice(before)).toEqual([
    'POST /integrations/partner/events',
    'POST /conversations/3/resolve',
    `PATCH /changelog/${entry?.id}`,
  ]);
});

test('all rows of a file are one batch, done and drafted, and drafted once', async () => {
  const { world, run, json } = desk();
  const stdin = 'id,body\n8,One\n9,Two\n';
  const first = await run('tickets reply --from - --draft --json', { stdin });
  expect(first.exitCode).toBe(0);
  expect(JSON.parse(first.stdout)).toMatchObject({ rows: 2, done: 2, drafted: 2, rejected: 0, unknown: 0, unsent: 0 });
  const again = await run('tickets reply --from - --draft --json', { stdin });
  expect(JSON.parse(again.stdout)).toMatchObject({ rows: 2, done: 2, drafted: 2 });
  const drafts = await json<Shown[]>('drafts list');
  expect(drafts.map(({ id, body }) => [id, body])).toEqual([
    [1, 'One'],
    [2, 'Two'],
  ]);
  expect(new Set(drafts.map(({ batch }) => batch)).size).toBe(1);
  expect(writesOf(world)).toEqual([]);
  const answers = ['yes', 'yes'];
  expect((await run(`drafts approve --batch ${drafts[0]?.batch}`, { columns: 80, answers })).exitCode).toBe(0);
  expect(writesOf(world)).toHaveLength(2);
});

test('reject --batch leaves the drafts of other runs', async () => {
  const { run, ok, draft, json } = desk();
  await run('tickets reply --from - --draft', { stdin: 'id,body\n8,One\n9,Two\n' });
  await draft('tickets reply 10 --body Fixed');
  const [first] = await json<Shown[]>('drafts list');
  await ok(`drafts reject --batch ${first?.batch} --yes`);
  expect(await json('drafts list')).toMatchObject([{ id: 3 }]);
});

test('a draft of another account is not sent by this login', async () => {
  const { world, draft, run } = desk();
  const { digest } = await draft('events send order_create --contact-name Ada --email ada@lovelace.test');
  const ran = await run(`drafts approve 1 --digest ${digest}`, { env: { SVC_API_KEY: 'key_globex' } });
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('account') });
  expect(writesOf(world)).toEqual([]);
});

test('a login lists, shows, changes and sends the drafts of its own account alone', async () => {
  const { world, draft, run, json, shown } = desk();
  const other = { env: { SVC_API_KEY: 'key_globex' } };
  const { digest } = await draft('tickets reply 8 --body Secret');
  expect(await json('drafts list --all', other)).toEqual([]);
  expect((await run('drafts list', other)).stderr).toContain('1 draft of other accounts');
  await draft('tickets reply 9 --body Other');
  expect((await run('drafts reject 2 --yes')).exitCode).toBe(0);
  // One that was decided counts where such are listed.
  expect((await run('drafts list', other)).stderr).toContain('1 draft of other accounts');
  expect((await run('drafts list --all', other)).stderr).toContain('2 drafts of other accounts');
  for (const line of [
    'drafts show 1',
    'drafts edit 1 --body Changed',
    'drafts reject 1',
    `drafts approve 1 --digest ${digest}`,
  ]) {
    const ran = await run(line, other);
    expect(`${ran.exitCode} ${ran.stderr}`).toMatch(/^2 .*is for account \d+, and this login is for account \d+/su);
    expect(ran.stderr).not.toContain('Secret');
  }
  expect((await run('drafts approve --all', { ...other, columns: 80, answers: [true] })).exitCode).toBe(3);
  expect(await shown(1)).toMatchObject({ state: 'waiting', digest });
  expect(writesOf(world)).toEqual([]);
});

test('all that follow are agreed to as they are then: one that is changed meanwhile stays', async () => {
  const { world, draft, ok, shown } = desk();
  await draft('tickets reply 8 --body One');
  await draft('tickets reply 9 --body Two');
  // While the first is on its way somebody changes the second.
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    if (request.method === 'POST') await ok('drafts edit 2 --body Swapped');
    return answer;
  };
  const ran = await svc({ ...world, exchange }, ['drafts', 'approve', '--all'], { columns: 100, answers: ['all'] });
  expect(ran.exitCode).not.toBe(0);
  expect(await shown(1)).toMatchObject({ state: 'sent' });
  expect(await shown(2)).toMatchObject({ state: 'waiting', body: 'Swapped' });
  expect(writesOf(world)).toEqual(['POST /tickets/8/replies']);
});

test('of several, one that somebody else has sent meanwhile is told as sent already, not as sent in part', async () => {
  const { world, draft, approve } = desk();
  await draft('tickets reply 8 --body One');
  await draft('tickets reply 9 --body Two');
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    if (request.method === 'POST') expect(await approve(2)).toMatchObject({ exitCode: 0 });
    return answer;
  };
  const ran = await svc({ ...world, exchange }, ['drafts', 'approve', '--all'], { columns: 100, answers: ['all'] });
  expect(ran.stderr).toContain('2 drafts: 1 sent, 1 sent already.');
  expect(writesOf(world)).toHaveLength(2);
});

test('an edit that changes nothing leaves the draft as it was, and says so', async () => {
  const { draft, run, shown } = desk();
  const { digest } = await draft('tickets reply 8 --body Same');
  const ran = await run('drafts edit 1', { columns: 80, edit: (text) => text });
  expect(`${ran.exitCode} ${ran.stdout}${ran.stderr}`).toContain('Draft 1 is as it was.');
  expect(await shown(1)).toMatchObject({ digest, edited_by: null, edits: [] });
});

const twoAtOnce: readonly (readonly [what: string, first: string, second: string])[] = [
  ['one ticket', 'tickets reply 8', 'tickets reply 8'],
  ['a ticket and its chat', 'tickets reply 37', 'conversations reply 5'],
];

test.each(twoAtOnce)(
  'of two drafts for %s that are approved at one moment, one is sent, and the other is shown what is new',
  { tags: ['long'] },
  async (_, first, second) => {
    const { world, draft, json } = desk({ seed: 'demo' });
    const drafts = [
      await draft(`${first} --body First`),
      await draft(`${second} --body Second`),
      await draft('tickets reply 9 --body Elsewhere'),
    ];
    // Who waits gives the other the time that it takes.
    const clock: Clock = { now: () => new Date(), ticks: () => performance.now(), sleep: (ms) => setTimeout(ms) };
    const ran = await Promise.all(
      drafts.map(({ id, digest }) => svc({ ...world, clock }, ['drafts', 'approve', String(id), '--digest', digest])),
    );
    expect(ran.map(({ exitCode }) => exitCode).sort()).toEqual([0, 0, 11]);
    expect(ran[2]?.exitCode).toBe(0);
    expect(ran.map(({ stderr }) => stderr).join('')).toContain('The team has answered since.');
    expect(writesOf(world)).toHaveLength(2);
    const states = (await json<Shown[]>('drafts list --all')).map(({ state }) => state);
    expect(states.sort()).toEqual(['sent', 'sent', 'waiting']);
  },
);

test('a draft for a ticket that another is being sent for all the time stays, and says which', {
  tags: ['long'],
}, async () => {
  const { world, draft, run, json } = desk();
  const { digest } = await draft('tickets reply 8 --body Mine');
  await draft('tickets reply 8 --body Stuck');
  const path = join(world.folder, 'state', 'drafts', 'drafts.jsonl');
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  const { draft: other } = JSON.parse(lines.at(-1) ?? '');
  const claim = { token: 'x', by: 'somebody', until: new Date(world.clock.now().getTime() + 90_000).toISOString() };
  await writeFile(
    path,
    `${[...lines, JSON.stringify({ n: 3, draft: { ...other, state: 'sending', claim } })].join('\n')}\n`,
  );
  const ran = await run(`drafts approve 1 --digest ${digest}`);
  expect(ran).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('Draft 2, to the same person, is being sent by somebody'),
  });
  expect(writesOf(world)).toEqual([]);
  expect(await json<Shown>('drafts show 1')).toMatchObject({ state: 'waiting', digest });
});

test.each([
  ['Ctrl-C', 0, 130, /^Error: 2 drafts: 1 not known, 1 not tried\.$/mu],
  ['Ctrl-C', 1, 130, /^Error: 2 drafts: 1 sent, 1 not known\.$/mu],
  ['a network that is gone', 0, 10, /^Error: 2 drafts: 1 not sent, 1 not tried\.$/mu],
  ['a network that is gone', 1, 8, /^Error: 2 drafts: 1 sent, 1 not sent\.$/mu],
] as const)(
  'of several, approving ended by %s at the one at %i: exit %i tells how, and each what is so',
  async (why, at, exitCode, told) => {
    const end = new AbortController();
    const { world } = desk();
    let writes = 0;
    const exchange: typeof world.exchange = async (request) => {
      if (request.method === 'GET' || writes++ < at) return world.exchange(request);
      if (why !== 'Ctrl-C') return { lost: 'before-sending', reason: 'refused', detail: 'Nobody listens.' };
      await world.exchange(request);
      end.abort('SIGINT');
      return { lost: 'after-sending', reason: 'aborted', detail: 'Aborted.' };
    };
    const { draft, run } = atDesk({ ...world, exchange });
    const drafts = [await draft('tickets reply 8 --body One'), await draft('tickets reply 9 --body Two')];
    const digests = drafts.flatMap(({ digest }) => ['--digest', digest]);
    const line = ['drafts', 'approve', ...drafts.map(({ id }) => String(id)), ...digests, '--max-wait', '5'];
    const ran = await run(line, { signal: end.signal });
    expect(ran, ran.stderr).toMatchObject({ exitCode, stderr: expect.stringMatching(told) });
  },
);

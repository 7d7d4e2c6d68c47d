// Drafts: nothing leaves until a person approves what they have read, and then once.
import { expect, test } from 'vitest';
import { desk, type Shown, writesOf } from './drafting.ts';

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

test('on a terminal one line names the draft and the command that sends it', async () => {
  const { ok } = desk();
  const { stdout } = await ok('tickets reply T-1008 --body Fixed --draft', { columns: 200, env: { NO_COLOR: '1' } });
  expect(stdout).toBe('✓ Draft 1: a reply to T-1008, Viktor Nakamura, by email. To send it: svc drafts approve 1\n');
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

test('in a pipe approve needs the digest of what was read, whatever --yes says', async () => {
  const { world, draft, run, approve } = desk();
  await draft('tickets reply 8 --body Fixed');
  expect(await run('drafts approve 1 --yes')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--digest'),
  });
  expect((await run('drafts approve --all --yes')).exitCode).toBe(2);
  expect((await run('drafts approve 1 --digest 0000')).exitCode).toBe(11);
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

test('a newer message of the customer keeps the draft of a chat back', async () => {
  const { world, draft, run } = desk();
  const before = await draft('conversations reply 3 --body Hello');
  await world.control('POST', 'act', { kind: 'customer_message', account_id: 1, conversation_id: 3, body: 'And now?' });
  const ran = await run(`drafts approve 1 --digest ${before.digest}`);
  expect(ran).toMatchObject({ exitCode: 11, stderr: expect.stringContaining('The customer has written again.') });
  expect(writesOf(world)).toEqual([]);
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

test('what the service refuses is refused, with its error; what it must not do leaves the draft waiting', async () => {
  const { world, draft, approve, shown } = desk();
  await draft('conversations reply 3 --body Hello');
  await world.control('POST', 'faults', { method: 'POST', path: '/conversations', action: 'status', status: 403 });
  expect((await approve(1)).exitCode).toBe(5);
  expect(await shown(1)).toMatchObject({ state: 'waiting' });
  await world.control('POST', 'faults', { method: 'POST', path: '/conversations', action: 'status', status: 422 });
  expect((await approve(1)).exitCode).toBe(6);
  expect(await shown(1)).toMatchObject({ state: 'refused', error: expect.any(String) });
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
  expect((await run(`drafts approve 1 --retry-unknown --digest ${digest}`)).exitCode).toBe(0);
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

test('a draft of another account is not sent by this login', async () => {
  const { world, draft, run } = desk();
  const { digest } = await draft('events send order_create --contact-name Ada --email ada@lovelace.test');
  const ran = await run(`drafts approve 1 --digest ${digest}`, { env: { SVC_API_KEY: 'key_globex' } });
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('account') });
  expect(writesOf(world)).toEqual([]);
});

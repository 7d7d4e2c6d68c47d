// A reply and what follows, in one go: each only after the one before is surely done.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { desk, type Shown, writesOf } from './drafting.ts';

const reply = [
  'tickets',
  'reply',
  '8',
  '--body',
  'Fixed',
  '--note',
  'Shipped in 2.1',
  '--status',
  'resolved',
  '--priority',
  '1',
];
const all = ['POST /tickets/8/replies', 'POST /tickets/8/notes', 'PATCH /tickets/8'];

test('the reply, the note and the status go in this order', async () => {
  const { world, ok, json } = desk();
  const { stdout } = await ok(reply, { columns: 200, env: { NO_COLOR: '1' } });
  expect(stdout).toBe(
    '✓ Sent on ticket 8 by email. The note is added. The ticket is changed: status is resolved, priority is 1.\n',
  );
  expect(writesOf(world)).toEqual(all);
  expect(await json('tickets get 8')).toMatchObject({ status: 'resolved', priority: 1 });
});

test('a conversation is resolved after the message', async () => {
  const { world, ok } = desk();
  await ok('conversations reply 3 --body Bye --resolve');
  expect(writesOf(world)).toEqual(['POST /conversations/3/messages', 'POST /conversations/3/resolve']);
});

test('--dry-run shows all of them and sends none', async () => {
  const { world, ok } = desk();
  const shown: { method: string; path: string }[] = JSON.parse((await ok([...reply, '--dry-run', '--json'])).stdout);
  expect(shown.map(({ method, path }) => `${method} ${path}`)).toEqual(all);
  expect(writesOf(world)).toEqual([]);
});

test('what would be refused is told before anything is sent', async () => {
  const { world, run } = desk();
  expect((await run('tickets reply 8 --body Fixed --priority 9')).exitCode).toBe(2);
  expect((await run('tickets reply 8 --body Fixed --status unresolved')).exitCode).toBe(2);
  expect(writesOf(world)).toEqual([]);
});

test('where the reply is refused nothing follows', async () => {
  const { world, run } = desk();
  await world.control('POST', 'faults', { method: 'POST', path: '/tickets/8/replies', action: 'status', status: 422 });
  expect((await run(reply)).exitCode).toBe(6);
  expect(writesOf(world)).toEqual(all.slice(0, 1));
});

test('where the reply is not known nothing follows: exit 9 with the commands for the rest', async () => {
  const { world, run } = desk();
  await world.control('POST', 'faults', { method: 'POST', path: '/tickets/8/replies', action: 'drop-before' });
  const ran = await run(reply);
  expect(ran.exitCode).toBe(9);
  expect(ran.stderr).toContain(
    "svc tickets note 8 --body 'Shipped in 2.1' && svc tickets update 8 --status resolved --priority 1",
  );
  expect(writesOf(world)).toEqual(all.slice(0, 1));
});

test('where the note is not known the status stays: exit 9 says what was done, and the command for the rest', async () => {
  const { world, run } = desk();
  await world.control('POST', 'faults', { method: 'POST', path: '/tickets/8/notes', action: 'drop-after' });
  const ran = await run(reply);
  expect(ran.exitCode).toBe(9);
  expect(ran.stderr).toContain('reply was sent');
  expect(ran.stderr).toContain('To do the rest: svc tickets update 8 --status resolved --priority 1');
  expect(writesOf(world)).toEqual(all.slice(0, 2));
});

test('where the status is refused: exit 8, the reply and the note stay done', async () => {
  const { world, run } = desk();
  await world.control('POST', 'faults', { method: 'PATCH', path: '/tickets/8', action: 'status', status: 422 });
  const ran = await run(reply);
  expect(ran.exitCode).toBe(8);
  expect(ran.stderr).toContain('To do the rest: svc tickets update 8 --status resolved --priority 1');
});

test('each command in advice about several writes ends its line', async () => {
  const { world, ok, run, shown } = desk();
  await ok([...reply, '--draft']);
  await world.control('POST', 'faults', { method: 'POST', path: '/tickets/8/notes', action: 'drop-after' });
  const { stderr } = await run(`drafts approve 1 --digest ${(await shown(1)).digest}`);
  expect(stderr).toContain('svc tickets get 8');
  expect(stderr).not.toMatch(/svc tickets get 8[ ]/u);
  expect(stderr.replaceAll(/\s+/gu, ' ')).toContain('svc tickets get 8 The API shows no notes');
});

test('with --draft it is one draft with its steps, and approving does them in order', async () => {
  const { world, ok, approve, json } = desk();
  const made: Shown = JSON.parse((await ok([...reply, '--draft', '--json'])).stdout);
  expect(made.steps.map(({ operation }) => operation)).toEqual(['replyToTicket', 'addTicketNote', 'updateTicket']);
  expect(writesOf(world)).toEqual([]);
  expect((await approve(1)).exitCode).toBe(0);
  expect(writesOf(world)).toEqual(all);
  expect(await json('tickets get 8')).toMatchObject({ status: 'resolved' });
});

test('a draft of which one step is not known is unknown, with what was done before it', async () => {
  const { world, ok, approve, shown } = desk();
  await ok([...reply, '--draft']);
  await world.control('POST', 'faults', { method: 'POST', path: '/tickets/8/notes', action: 'drop-after' });
  expect((await approve(1)).exitCode).toBe(9);
  const after = await shown(1);
  expect(after.state).toBe('unknown');
  expect(after.steps.map(({ state }) => state)).toEqual(['done', 'left', 'waiting']);
  expect(writesOf(world)).toEqual(all.slice(0, 2));
});

const rows = 'id,body,note,status,priority\n8,Fixed,Shipped,resolved,low\n9,Soon,,,\n';

test('the columns note, status and priority of a file do the same for each row, once', async () => {
  const { world, run } = desk();
  const line = 'tickets reply --from - --yes --json --concurrency 1';
  expect(JSON.parse((await run(line, { stdin: rows })).stdout)).toMatchObject({ rows: 2, done: 2, errors: [] });
  expect(writesOf(world)).toEqual([...all, 'POST /tickets/9/replies']);
  await run(line, { stdin: rows });
  expect(writesOf(world)).toHaveLength(4);
});

test('a row of which the note is not known says so, and no later run adds it again', async () => {
  const { world, run } = desk();
  const line = 'tickets reply --from - --yes --json --concurrency 1';
  await world.control('POST', 'faults', { method: 'POST', path: '/tickets/8/notes', action: 'drop-after' });
  const results = join(world.folder, 'results.csv');
  for (const more of ['', '', ' --retry-unknown']) {
    const ran = await run(`${line} --results ${results}${more}`, { stdin: rows });
    expect(ran.exitCode).toBe(9);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      ...{ rows: 2, done: 1, unknown: 1, rejected: 0, unsent: 0 },
      errors: [{ line: 2, error: expect.stringContaining('may or may not') }],
    });
    expect(ran.stderr).toContain('The error of each of them says what may be missing');
    expect(ran.stderr).not.toContain('--restart');
    expect(readFileSync(results, 'utf8')).toMatch(/^8,.*,2,unknown,\d*,"?it is sent, but /mu);
  }
  expect(writesOf(world)).toEqual([...all.slice(0, 2), 'POST /tickets/9/replies']);
});

test('three rows in a row of which the note is not known end the run', async () => {
  const { world, run } = desk();
  const faults = { method: 'POST', action: 'drop-after', times: 9 };
  await world.control(
    'POST',
    'faults',
    [8, 9, 10, 11].map((id) => ({ ...faults, path: `/tickets/${id}/notes` })),
  );
  const four = ['id,body,note', ...[8, 9, 10, 11].map((id) => `${id},Fixed,Shipped`)].join('\n');
  const ran = await run('tickets reply --from - --yes --json --concurrency 1', { stdin: four });
  expect(ran.exitCode).toBe(9);
  expect(JSON.parse(ran.stdout)).toMatchObject({ done: 0, unknown: 3, unsent: 1 });
});

test('a status that may not be set after a new ticket is unknown, too, and the ticket stays known by its id', {
  tags: ['long'],
}, async () => {
  const { world, run } = desk();
  await world.control('POST', 'faults', { method: 'PATCH', path: '/tickets/', action: 'drop-before', times: 99 });
  const results = join(world.folder, 'results.csv');
  const stdin = 'old,subject,description,status\nA,One,Two,closed\n';
  const ran = await run(`tickets create --from - --yes --json --results ${results}`, { stdin });
  expect(ran.exitCode).toBe(9);
  expect(JSON.parse(ran.stdout)).toMatchObject({ rows: 1, done: 0, unknown: 1 });
  const note = `tickets note --from - --yes --json --map ticket=id --id-map ${results}:old`;
  expect((await run(note, { stdin: 'ticket,body\nA,Seen\n' })).exitCode).toBe(0);
});

test('an export beside which a text was written sets no status and no priority of then, unless --map says so', async () => {
  const { world, run } = desk();
  const exported = 'id,status,priority,created_at,body\n8,open,low,2026-01-01T00:00:00Z,Soon\n';
  const line = 'tickets reply --from - --yes --json';
  expect((await run(line, { stdin: exported })).exitCode).toBe(0);
  expect(writesOf(world)).toEqual(['POST /tickets/8/replies']);
  const other = exported.replace('Soon', 'Done');
  expect((await run(`${line} --map status=status`, { stdin: other })).exitCode).toBe(0);
  expect(writesOf(world)).toEqual(['POST /tickets/8/replies', 'POST /tickets/8/replies', 'PATCH /tickets/8']);
});

test('a value that the service refused is not in the advice for the rest, which has its name in its place', async () => {
  const { run } = desk();
  const alone = await run('tickets reply 8 --body Fixed --status erledigt --priority 1');
  expect(alone.exitCode).toBe(8);
  expect(alone.stderr).toContain('To do the rest: svc tickets update 8 --status STATUS --priority 1');
  const ran = await run('tickets reply --from - --yes', { stdin: 'id,body,Status\n9,Done,erledigt\n' });
  expect(ran.stdout).toContain('To do the rest: svc tickets update 9 --status STATUS');
});

test('a status of another system comes with the flag that reads it, before anything is sent', async () => {
  const { run, world } = desk();
  const line = 'tickets reply --from - --dry-run';
  const { stderr } = await run(line, { stdin: 'id,body,Status\n9,Done,erledigt\n' });
  const [, flag = ''] = /the service decides \(to read it: --map-value "(.+)"\)\./u.exec(stderr) ?? [];
  expect(flag).toBe('Status:erledigt=resolved');
  const sent = [...line.replace('--dry-run', '--yes').split(' '), '--map-value', flag];
  expect((await run(sent, { stdin: 'id,body,Status\n9,Done,erledigt\n' })).exitCode).toBe(0);
  expect(writesOf(world)).toEqual(['POST /tickets/9/replies', 'PATCH /tickets/9']);
});

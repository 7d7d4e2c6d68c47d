// What had to wait for the limit, or is sent again since its answer was lost, is judged as it is then: an entry may be public by now, and a stricter mode may be set.
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HttpResponse } from '../../src/context.ts';
import { svc } from '../svc.ts';
import { desk, writesOf } from './drafting.ts';

const refused: HttpResponse = { status: 429, headers: { 'retry-after': '40' }, body: '{"error":"Too many requests"}' };

const lost: HttpResponse = { status: 503, headers: {}, body: 'upstream is gone' };

/** The first attempt is answered so, and does nothing; `meanwhile` is done before the second. */
function refusedOnce({ world }: ReturnType<typeof desk>, meanwhile: () => Promise<unknown>, answer = refused) {
  let isFirst = true;
  const exchange: typeof world.exchange = async (request) => {
    if (request.method === 'GET' || !isFirst) return world.exchange(request);
    isFirst = false;
    await meanwhile();
    return answer;
  };
  return { ...world, exchange };
}

async function setRules({ world }: ReturnType<typeof desk>, rules: string): Promise<void> {
  const folder = join(world.folder, 'config');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'policy.yaml'), `sends: { ${rules} }\n`);
}

type Entry = { readonly id: number; readonly content_html: string };

async function hiddenEntry(at: ReturnType<typeof desk>): Promise<Entry> {
  const [{ id }] = await at.json<[Entry]>('changelog list --status draft');
  return at.json<Entry>(`changelog get ${id}`);
}

const ways = [
  ['mode draft', { SVC_SENDS: 'draft' }, [], refused, 0],
  ['mode ask, in a pipe,', { SVC_SENDS: 'ask' }, [], refused, 2],
  ['--draft', {}, ['--draft'], refused, 0],
  ['mode draft, its answer lost,', { SVC_SENDS: 'draft' }, [], lost, 9],
  ['mode ask, in a pipe, its answer lost,', { SVC_SENDS: 'ask' }, [], lost, 9],
  ['--draft, its answer lost,', {}, ['--draft'], lost, 9],
] as const;

test.each(ways)('%s holds a change of an entry that was published meanwhile', async (...way) => {
  const [, env, flags, answer, exitCode] = way;
  const at = desk();
  const { id, content_html } = await hiddenEntry(at);
  const service = refusedOnce(at, () => at.ok(`changelog publish ${id} --yes`), answer);
  const ran = await svc(service, ['changelog', 'update', String(id), '--content', 'Plans', ...flags], { env });
  expect(ran, ran.stderr).toMatchObject({ exitCode });
  if (answer === lost) expect(ran.stderr).toContain('Look at it with: svc changelog get');
  expect((await at.json<Entry>(`changelog get ${id}`)).content_html).toBe(content_html);
});

test('a change of an entry that nobody can read yet is sent once the wait is over', async () => {
  const at = desk();
  const { id } = await hiddenEntry(at);
  const service = refusedOnce(at, async () => {});
  const env = { SVC_SENDS: 'draft' };
  const ran = await svc(service, ['changelog', 'update', String(id), '--content', 'Plans'], { env });
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  expect((await at.json<Entry>(`changelog get ${id}`)).content_html).toContain('Plans');
});

test('a stricter mode that is set meanwhile holds a reply', async () => {
  const at = desk();
  const service = refusedOnce(at, () => at.ok('config set sends draft'));
  const ran = await svc(service, ['conversations', 'reply', '7', '--body', 'Hi', '--yes']);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Draft 1') });
  expect(writesOf(at.world)).toEqual([]);
});

test('a reply that is asked about once more after its wait has its place in the hour already', async () => {
  const at = desk();
  await setRules(at, 'max_per_hour: 1');
  const service = refusedOnce(at, () => at.ok('config set sends ask'));
  const reply = ['conversations', 'reply', '7', '--body', 'Hi'];
  const ran = await svc(service, reply, { columns: 100, answers: [true, true] });
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  expect(writesOf(at.world)).toHaveLength(1);
  expect((await svc(at.world, reply, { columns: 100, answers: [true] })).exitCode).toBe(5);
});

test('a rule that is set after an answer was lost holds what would be sent again', async () => {
  const at = desk();
  const forbid = () => setRules(at, 'deny: "true"');
  const ran = await svc(refusedOnce(at, forbid, lost), ['conversations', 'resolve', '7', '--yes']);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 9, stderr: expect.stringContaining('sends.deny') });
  expect(writesOf(at.world)).toEqual([]);
});

test('so does one that is set once the service has failed and a look showed nothing: then nothing is in doubt', async () => {
  const at = desk();
  const failed: HttpResponse = { status: 500, headers: {}, body: '{"error":"Server error"}' };
  const service = refusedOnce(at, () => setRules(at, 'deny: "true"'), failed);
  const create = ['changelog', 'create', '--title', 'Late', '--content', 'Plans', '--status', 'published'];
  const ran = await svc(service, create);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('sends.deny') });
  expect(writesOf(at.world)).toEqual([]);
});

test('what was sent once a limit was set counts, though it came before', async () => {
  const at = desk();
  const limit = () => setRules(at, 'max_per_hour: 1');
  const reply = ['conversations', 'reply', '7', '--body', 'Hi', '--yes'];
  const ran = await svc(refusedOnce(at, limit), reply);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  expect((await svc(at.world, [...reply, '--dry-run'])).exitCode).toBe(0);
  expect((await svc(at.world, reply)).exitCode).toBe(5);
});

const waiting = ['conversations', 'reply', '7', '--body', 'Hi', '--yes', '--max-wait', '5000'];
const another = ['conversations', 'reply', '8', '--body', 'Hello', '--yes'];
const minuteMs = 60_000;

/** A limit of one an hour, and a service that makes the first send wait. */
async function waitingFor(minutes: number) {
  const at = desk();
  await setRules(at, 'max_per_hour: 1');
  const headers = { 'x-ratelimit-limit': '60', 'retry-after': String(minutes * 60) };
  return { at, service: refusedOnce(at, async () => {}, { ...refused, headers }) };
}

test('a send that had to wait counts for an hour from when it was sent', async () => {
  const { at, service } = await waitingFor(40);
  await expect(svc(service, waiting)).resolves.toMatchObject({ exitCode: 0 });
  at.world.clock.advance(30 * minuteMs);
  await expect(svc(at.world, another)).resolves.toMatchObject({ exitCode: 5 });
  at.world.clock.advance(31 * minuteMs);
  await expect(svc(at.world, another)).resolves.toMatchObject({ exitCode: 0 });
});

test('one that waited longer than an hour is not sent where another took its place', async () => {
  const { at, service } = await waitingFor(70);
  const { clock } = at.world;
  // As another process with another login counts it.
  const sleep: typeof clock.sleep = async (ms, signal) => {
    await clock.sleep(ms, signal);
    await writeFile(join(at.world.folder, 'state', 'sends', 'last-hour'), `${clock.now().toISOString()}\n`);
  };
  const ran = await svc({ ...service, clock: { ...clock, sleep } }, waiting);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('sends.max_per_hour') });
  expect(writesOf(at.world)).toEqual([]);
});

const counts = ({ world }: ReturnType<typeof desk>) =>
  readFile(join(world.folder, 'state', 'sends', 'last-hour'), 'utf8');

test('one whose clock is set back while it waits has one place in the hour', async () => {
  const at = desk();
  await setRules(at, 'max_per_hour: 3');
  const { clock } = at.world;
  let backMs = 0;
  const setBack = async () => {
    backMs = 10 * minuteMs;
  };
  const now = () => new Date(clock.now().getTime() - backMs);
  const ran = await svc({ ...refusedOnce(at, setBack), clock: { ...clock, now } }, waiting);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  expect(await counts(at)).toBe(`${now().toISOString()}\n`);
});

test('one that may be done keeps its place in the hour where it is not sent again', async () => {
  const at = desk();
  await setRules(at, 'max_per_hour: 3');
  const { clock, folder } = at.world;
  const first = clock.now().toISOString();
  const other = '2026-03-01T12:00:00.001Z';
  const lower = async () => {
    await appendFile(join(folder, 'state', 'sends', 'last-hour'), `${other}\n`);
    await setRules(at, 'max_per_hour: 1');
  };
  const ran = await svc(refusedOnce(at, lower, lost), ['conversations', 'resolve', '7', '--yes']);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 9, stderr: expect.stringContaining('sends.max_per_hour') });
  expect(await counts(at)).toBe(`${first}\n${other}\n`);
});

test('one that is held after its wait, for the limit is lower by then, gives back its own place in the hour and no other', async () => {
  const at = desk();
  const exitUnder = async (most: number) => {
    await setRules(at, `max_per_hour: ${most}`);
    return (await svc(at.world, another)).exitCode;
  };
  expect(await exitUnder(2)).toBe(0);
  const service = refusedOnce(at, () => setRules(at, 'max_per_hour: 1'));
  const ran = await svc(service, waiting);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('sends.max_per_hour') });
  expect([await exitUnder(1), await exitUnder(2)]).toEqual([5, 0]);
});

const ask = { columns: 100, env: { SVC_SENDS: 'ask' } };

test('what became another text while a person was asked is shown and asked about once more', async () => {
  const at = desk();
  const { id } = await hiddenEntry(at);
  let questions = 0;
  const whileAsked = async () => {
    if (questions++ === 0) await at.ok(`changelog update ${id} --content Plans`);
  };
  const ran = await svc(at.world, ['changelog', 'publish', String(id)], { ...ask, whileAsked, answers: [true, false] });
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/has changed since you read it.*Plans/su) });
  expect(questions).toBe(2);
  expect(await at.json<object>(`changelog get ${id}`)).toMatchObject({ status: 'draft' });
});

test.each([refused, lost])('so is what became one after an answer $status', async (answer) => {
  const at = desk();
  const { id } = await hiddenEntry(at);
  const service = refusedOnce(at, () => at.ok(`changelog update ${id} --content Plans`), answer);
  const ran = await svc(service, ['changelog', 'publish', String(id)], { ...ask, answers: [true, true] });
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/you read it.*Plans/su) });
  expect(await at.json<object>(`changelog get ${id}`)).toMatchObject({ status: 'published' });
});

test('an approved draft of a publishing is not sent once more where its entry got another text', async () => {
  const at = desk();
  const { id } = await hiddenEntry(at);
  const { digest } = await at.draft(`changelog publish ${id}`);
  const service = refusedOnce(at, () => at.ok(`changelog update ${id} --content Plans`), lost);
  const ran = await svc(service, ['drafts', 'approve', '1', '--digest', digest]);
  expect(ran).toMatchObject({ exitCode: 9, stderr: expect.stringContaining('What would be published is other') });
  expect(await at.json<object>(`changelog get ${id}`)).toMatchObject({ status: 'draft' });
  expect(await at.shown(1)).toMatchObject({ state: 'unknown' });
});

test('it is sent once more where its entry has the same text', async () => {
  const at = desk();
  const { id } = await hiddenEntry(at);
  const { digest } = await at.draft(`changelog publish ${id}`);
  const service = refusedOnce(at, async () => {}, lost);
  const ran = await svc(service, ['drafts', 'approve', '1', '--digest', digest]);
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  expect(await at.json<object>(`changelog get ${id}`)).toMatchObject({ status: 'published' });
});

const customerWrites = ({ world }: ReturnType<typeof desk>) =>
  world.control('POST', 'act', { kind: 'customer_message', account_id: 1, conversation_id: 7, body: 'It fails again' });

const resolving = async (meanwhile: (at: ReturnType<typeof desk>) => Promise<unknown>) => {
  const at = desk();
  const { digest } = await at.draft('conversations resolve 7');
  const service = refusedOnce(at, () => meanwhile(at), lost);
  return { at, ran: await svc(service, ['drafts', 'approve', '1', '--digest', digest]) };
};

test('an approved resolving is not sent once more after a lost answer where the customer has written meanwhile', async () => {
  const { at, ran } = await resolving(customerWrites);
  expect(ran).toMatchObject({ exitCode: 9, stderr: expect.stringContaining('The customer has written again') });
  expect(await at.json<object>('conversations get 7')).not.toMatchObject({ status: 'resolved' });
  expect(await at.shown(1)).toMatchObject({ state: 'unknown' });
});

test('it is where nobody, or the team alone, has', async () => {
  for (const meanwhile of [
    async () => {},
    (at: ReturnType<typeof desk>) => at.ok('conversations reply 7 --body Done'),
  ]) {
    const { at, ran } = await resolving(meanwhile);
    expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
    expect(await at.json<object>('conversations get 7')).toMatchObject({ status: 'resolved' });
  }
});

test('what has changed is not asked about for ever where all that follow were agreed to meanwhile', async () => {
  const at = desk();
  const ticket = await at.json<{ contact: { contact_id: number } }>('tickets get 8');
  const { contact_id: id } = ticket.contact;
  const service = refusedOnce(at, () => at.ok(`contacts update ${id} --name Other`));
  const stdin = 'id,body\n8,One\n9,Two\n10,Three\n';
  const ran = await svc(service, ['tickets', 'reply', '--from', '-'], { ...ask, stdin, answers: ['yes', 'all'] });
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  expect(writesOf(at.world)).toHaveLength(4);
});

test('an approved reply is held against the thread once more where that was long in coming', async () => {
  const at = desk();
  const { digest } = await at.draft('conversations reply 7 --body Hi');
  const service = answeredLate(at, '/conversations/7', () => customerWrites(at));
  const ran = await svc(service, ['drafts', 'approve', '1', '--digest', digest]);
  expect(ran).toMatchObject({ exitCode: 11, stderr: expect.stringContaining('The customer has written again') });
  expect(writesOf(at.world)).toEqual([]);
  expect(await at.shown(1)).toMatchObject({ state: 'waiting' });
});

/** The first read of that path is six seconds on its way; `meanwhile` is done once the service has answered. */
function answeredLate({ world }: ReturnType<typeof desk>, path: string, meanwhile: () => Promise<unknown>) {
  let isFirst = true;
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    if (!isFirst || request.method !== 'GET' || new URL(request.url).pathname !== path) return answer;
    isFirst = false;
    await meanwhile();
    world.clock.advance(6000);
    return answer;
  };
  return { ...world, exchange };
}

test('what a person has agreed to is held against the entry once more where that was long in coming', async () => {
  const at = desk();
  const { id } = await hiddenEntry(at);
  let service = at.world;
  const whileAsked = async () => {
    service = answeredLate(at, `/changelog/${id}`, () => at.ok(`changelog update ${id} --content Plans`));
  };
  const late = {
    ...at.world,
    exchange: (request: Parameters<typeof service.exchange>[0]) => service.exchange(request),
  };
  const ran = await svc(late, ['changelog', 'publish', String(id)], { ...ask, whileAsked, answers: [true, false] });
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/has changed since you read it.*Plans/su) });
  expect(await at.json<object>(`changelog get ${id}`)).toMatchObject({ status: 'draft' });
});

// The policy: what a rule forbids is not sent by any face, and can still be drafted.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { svc, type World } from '../svc.ts';
import { atDesk, desk, writesOf } from './drafting.ts';

/** A desk with a policy in the configuration folder. */
function deskUnder(rules: string) {
  const at = desk();
  const folder = join(at.world.folder, 'config');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'policy.yaml'), rules);
  return at;
}

const reply = ['tickets', 'reply', '8', '--body', 'A refund of 100 EUR'];

/** The clock of these tests stands at noon UTC on Sunday, 2026-03-01. */
const forbidding: readonly (readonly [rule: string, text: string])[] = [
  ['quiet', "quiet: { from: '20:00', to: '13:30', zone: Europe/Berlin }"],
  ['quiet', 'quiet: { days: [sat, sun] }'],
  ['deny', 'deny: \'.body.body | test("refund")\''],
  ['deny', "deny: '.nonsense |'"],
  ['allow', 'allow: \'.contact.email | endswith("@example.com")\''],
  ['allow', "allow: '.record.status'"],
  ['max_per_hour', 'max_per_hour: 0'],
  // Exactly one false of the one, exactly one true of the other.
  ['deny', "deny: 'empty'"],
  ['deny', "deny: 'halt'"],
  ['deny', "deny: 'false, false'"],
  ['deny', "deny: 'null'"],
  ['allow', 'allow: \'"true"\''],
  ['allow', "allow: 'true, true'"],
  ['allow', "allow: 'empty'"],
];

test.each(forbidding)('%s forbids with exit 5 and its own name: %s', async (rule, text) => {
  const { world, run, ok } = deskUnder(`sends:\n  ${text}\n`);
  const ran = await run([...reply, '--json']);
  expect(ran.exitCode).toBe(5);
  expect(JSON.parse(ran.stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({
    error: { kind: 'policy', exit_code: 5 },
  });
  expect(ran.stderr).toContain(`sends.${rule}`);
  expect(writesOf(world)).toEqual([]);
  await ok([...reply, '--draft']);
});

test.each([...forbidding.filter(([rule]) => rule !== 'max_per_hour'), ['cannot be used', 'max_per_hr: 3'] as const])(
  '--dry-run is refused as the send would be, %s: %s',
  async (rule, text) => {
    const { world, run, ok } = deskUnder(`sends:\n  ${text}\n`);
    const ran = await run([...reply, '--dry-run']);
    expect(ran).toMatchObject({ exitCode: 5, stdout: '', stderr: expect.stringContaining(rule) });
    await ok([...reply, '--dry-run', '--draft']);
    await ok(['tickets', 'note', '8', '--body', 'A refund', '--dry-run']);
    expect(writesOf(world)).toEqual([]);
  },
);

test('the seconds of a rule begin once its record is read, and jq is loaded', async () => {
  const { world } = deskUnder('sends:\n  deny: \'.record.status == "closed"\'\n');
  const events: string[] = [];
  const begin = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    events.push('begun');
    return new AbortController().signal;
  });
  onTestFinished(() => begin.mockRestore());
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    events.push(request.method);
    return answer;
  };
  await atDesk({ ...world, exchange }).ok([...reply, '--yes']);
  expect(events).toEqual(['GET', 'GET', 'begun', 'POST']);
});

test('--dry-run of a file leaves out the rows that the policy forbids, and is refused where it forbids all', async () => {
  const { world, run } = deskUnder('sends:\n  deny: \'.body.body | test("refund")\'\n');
  const dry = ['tickets', 'reply', '--from', '-', '--dry-run', '--json'];
  const some = await run(dry, { stdin: 'id,body\n8,A refund\n9,Hello\n' });
  expect(some.exitCode).toBe(8);
  expect(JSON.parse(some.stdout)).toMatchObject({
    would_send: 1,
    errors: [{ line: 2, error: expect.stringContaining('sends.deny') }],
    sample: [{ line: 3 }],
  });
  expect((await run(dry, { stdin: 'id,body\n8,A refund\n' })).exitCode).toBe(5);
  writeFileSync(join(world.folder, 'config', 'policy.yaml'), 'sends: [');
  const broken = await run(dry, { stdin: 'id,body\n9,Hello\n' });
  expect(broken).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('cannot be used') });
  expect((await run([...dry, '--draft'], { stdin: 'id,body\n9,Hello\n' })).exitCode).toBe(0);
  expect(writesOf(world)).toEqual([]);
});

test('--dry-run of a file with forbidden rows says so, and nothing of earlier runs or --max-sends', async () => {
  const { run } = deskUnder('sends:\n  deny: \'.body.body | test("refund")\'\n');
  const dry = ['tickets', 'reply', '--from', '-', '--dry-run'];
  const stdin = 'id,body\n8,A refund\n9,Hello\n10,Hello\n';
  const told: string[] = [];
  const progress = (text?: string) => text !== undefined && told.push(text);
  const piped = await run(dry, { stdin, progress });
  expect(piped).toMatchObject({ exitCode: 8, stderr: 'The policy forbids 1 row for now (exit 8).\n' });
  expect(told).toContain('Weighing by the policy: 3 of 3 rows');
  const shown = await run(dry, { stdin, columns: 100 });
  expect(shown.stdout).toMatch(/\n2 of 3 rows would be sent; .*\n.*The policy forbids 1 row for now\./u);
  const capped = await run([...dry, '--max-sends', '1'], { stdin, columns: 100 });
  expect(capped.stdout).toContain('1 of 3 rows would be sent, because of --max-sends;');
});

test('--dry-run with a forbidden row beside one that an earlier run left in doubt ends as one without', async () => {
  const { world, run } = desk();
  await world.control('POST', 'faults', {
    method: 'POST',
    path: '/tickets/8/replies',
    action: 'drop-before',
    times: 1,
  });
  const send = ['tickets', 'reply', '--from', '-', '--yes', '--settle', '1'];
  expect(await run(send, { stdin: 'id,body\n8,One\n' })).toMatchObject({ exitCode: 9 });
  mkdirSync(join(world.folder, 'config'), { recursive: true });
  writeFileSync(join(world.folder, 'config', 'policy.yaml'), 'sends:\n  deny: \'.body.body | test("refund")\'\n');
  const ran = await run(['tickets', 'reply', '--from', '-', '--dry-run'], { stdin: 'id,body\n8,One\n9,A refund\n' });
  expect(ran.exitCode).toBe(8);
  expect(ran.stderr).toMatch(/1 row may or may not .*\(exit 9\)\. The policy forbids 1 row for now \(exit 8\)\.\n$/u);
});

const letting: readonly string[] = [
  "quiet: { from: '20:00', to: '12:30', zone: Europe/Berlin, days: [sat] }",
  'deny: \'.body.body | test("Bitcoin")\'',
  'allow: \'.operation == "replyToTicket" and .record.status == "open" and (.contact.email | length > 3) and (.by | length > 0)\'',
  'max_per_hour: 1',
  'mode: allow',
];

test.each(letting)('what no rule forbids is sent: %s', async (text) => {
  const { world, ok } = deskUnder(`sends:\n  ${text}\n`);
  await ok(reply);
  expect(writesOf(world)).toHaveLength(1);
});

test('max_per_hour counts over commands and files, and an hour later there is room again', async () => {
  const { world, ok, run } = deskUnder('sends: { max_per_hour: 2 }\n');
  await ok(reply);
  const file = await run('tickets reply --from - --yes --json', { stdin: 'id,body\n8,One\n9,Two\n10,Three\n' });
  expect(JSON.parse(file.stdout)).toMatchObject({ rows: 3, done: 1, unsent: 2 });
  expect(writesOf(world)).toHaveLength(2);
  expect((await run(reply)).exitCode).toBe(5);
  world.clock.advance(61 * 60 * 1000);
  await ok(reply);
});

test('a file of which a rule forbids every row ends as one send does, and 8 tells of a part', async () => {
  const { world, ok, run } = deskUnder('sends: { max_per_hour: 1 }\n');
  await ok(reply);
  const rows = 'id,body\n8,One\n9,Two\n';
  const from = (stdin: string) => run('tickets reply --from - --yes --json', { stdin });
  const none = await from(rows);
  expect(none.exitCode).toBe(5);
  expect(JSON.parse(none.stdout)).toMatchObject({ rows: 2, done: 0, unsent: 2 });
  expect(JSON.parse(none.stderr.trim().split('\n').at(-1) ?? '').error).toMatchObject({
    kind: 'policy',
    exit_code: 5,
    message: expect.stringMatching(/sends\.max_per_hour in .* 0 of 2 rows are done\.$/u),
    hint: expect.stringMatching(/\nRun the same command again once the policy allows these rows\.$/u),
  });
  // A row that is wrong is told of as everywhere.
  expect((await from('id,body\n8,One\n9,\n')).exitCode).toBe(8);
  expect(writesOf(world)).toHaveLength(1);
  world.clock.advance(61 * 60 * 1000);
  expect((await from(rows)).exitCode).toBe(8);
  // One of them is done, if not by this run.
  expect((await from(rows)).exitCode).toBe(8);
  expect(writesOf(world)).toHaveLength(2);
});

test('a row behind one that is forbidden is forbidden with it, and no cap is blamed for it', async () => {
  const { run, world } = deskUnder('sends: { deny: \'.body.body != "Good"\' }\n');
  const twice = await run('conversations resolve --from - --yes --json', { stdin: 'id\n1\n1\n' });
  expect([twice.exitCode, JSON.parse(twice.stdout)]).toMatchObject([5, { rows: 2, unsent: 2 }]);
  const argv = 'tickets reply --from - --yes --json --max-sends';
  const two = 'id,body\n8,Good\n9,Bad\n';
  const within = await run(`${argv} 10`, { stdin: two });
  expect([within.exitCode, JSON.parse(within.stdout)]).toMatchObject([8, { done: 1, unsent: 1 }]);
  expect(within.stderr).not.toContain('--max-sends');
  const capped = await run(`${argv} 1`, { stdin: 'id,body\n10,Good\n11,Good\n12,Good\n' });
  expect(capped.stderr).toContain('2 rows are left, because of --max-sends 1.');
  expect(writesOf(world)).toHaveLength(2);
});

test('what the service refuses does not count as sent, and what may be sent does', async () => {
  const { world, ok, run } = deskUnder('sends: { max_per_hour: 1 }\n');
  await world.control('POST', 'faults', { path: '/tickets/8/replies', action: 'status', status: 422 });
  expect((await run(reply)).exitCode).toBe(6);
  await ok(reply);
  // A note that is refused behind a reply takes nothing back of the reply.
  world.clock.advance(61 * 60 * 1000);
  await world.control('POST', 'faults', { path: '/tickets/8/notes', action: 'status', status: 422 });
  expect((await run([...reply, '--note', 'Look'])).exitCode).toBe(8);
  expect((await run(reply)).exitCode).toBe(5);
  world.clock.advance(61 * 60 * 1000);
  await world.control('POST', 'faults', { path: '/tickets/8/replies', action: 'drop-after' });
  await run(reply);
  expect(await run(reply)).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('1 an hour are allowed') });
});

test('a send of which nobody knows whether it was done counts as sent', async () => {
  const { world, run } = deskUnder('sends: { max_per_hour: 1 }\n');
  await world.control('POST', 'faults', { path: '/tickets/8/replies', action: 'drop-before' });
  expect((await run(reply)).exitCode).toBe(9);
  expect(await run(reply)).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('1 an hour are allowed') });
});

test('so does one at which svc itself failed once it had left', async () => {
  const { world, run } = deskUnder('sends: { max_per_hour: 1 }\n');
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    if (request.method === 'GET') return answer;
    throw new TypeError('a mistake');
  };
  expect(await svc({ ...world, exchange }, reply)).toMatchObject({ exitCode: 1 });
  expect(await run(reply)).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('1 an hour are allowed') });
});

test('a draft that a rule forbids is kept, with no advice to draft it', async () => {
  const { run, draft, world } = deskUnder('sends: { deny: \'.body.body == "Two"\' }\n');
  const one = await draft('tickets reply 8 --body One');
  const two = await draft('tickets reply 9 --body Two');
  const ran = await run(`drafts approve 1 2 --digest ${one.digest} --digest ${two.digest}`);
  expect(ran.stderr).toContain('1 sent, 1 not sent');
  expect(ran.stderr).not.toMatch(/Nothing was sent|--draft/u);
  expect(writesOf(world)).toHaveLength(1);
});

const broken = ['sends: { quiet: { form: 20 } }', 'sends: [', 'send: {}', 'sends: { mode: strict }'];
// What is left of a file that was cut.
const cut = ['', '# rules', 'sends:', 'sends: {}', 'sends: []', '---'];

test.each([...broken, ...cut])(
  'a policy that does not check forbids every send, and doctor says so: %s',
  async (text) => {
    const { world, run, ok } = deskUnder(`${text}\n`);
    expect(await run(reply)).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('policy.yaml') });
    expect(writesOf(world)).toEqual([]);
    expect(await run('doctor')).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('policy.yaml') });
    await ok('tickets close 8');
    await ok([...reply, '--draft']);
  },
);

test.each(['SVC_POLICY', 'SVC_DRAFTS_DB'])(
  '%s with a ~ that no shell has read is exit 2, and nothing leaves',
  async (name) => {
    const { world, run } = desk();
    const ran = await run(
      ['tickets', 'reply', '8', '--body', 'Hello', ...(name === 'SVC_DRAFTS_DB' ? ['--draft'] : [])],
      {
        env: { [name]: '~/svc' },
      },
    );
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`${name} cannot be used`) });
    expect(writesOf(world)).toEqual([]);
  },
);

test('SVC_POLICY holds beside the file of the configuration, and one that is not there forbids', async () => {
  const { world, run, ok } = deskUnder('sends: { mode: allow }\n');
  const other = join(world.folder, 'other.yaml');
  expect((await run(reply, { env: { SVC_POLICY: other } })).exitCode).toBe(5);
  writeFileSync(other, 'sends: { mode: draft }\n');
  await ok(reply, { env: { SVC_POLICY: other } });
  expect(writesOf(world)).toEqual([]);
});

test('approve is bound by the policy, its mode aside', async () => {
  const { world, draft, approve, shown } = deskUnder('sends: { mode: draft }\n');
  await draft('tickets reply 8 --body Hello');
  writeFileSync(join(world.folder, 'config', 'policy.yaml'), 'sends: { mode: draft, quiet: { days: [sun] } }\n');
  expect((await approve(1)).exitCode).toBe(5);
  expect(await shown(1)).toMatchObject({ state: 'waiting' });
  writeFileSync(join(world.folder, 'config', 'policy.yaml'), 'sends: { mode: draft }\n');
  expect((await approve(1)).exitCode).toBe(0);
  expect(writesOf(world)).toHaveLength(1);
});

/** A desk whose service refuses the first write for 90 seconds; `meanwhile` happens in that time. */
function refusedUnder(rules: string, meanwhile: () => unknown = () => {}) {
  const { world } = deskUnder(rules);
  let isFirst = true;
  const exchange: World['exchange'] = async (request) => {
    if (request.method === 'GET' || !isFirst) return world.exchange(request);
    isFirst = false;
    meanwhile();
    const headers = { 'retry-after': '90', 'content-type': 'application/json', 'x-ratelimit-limit': '60' };
    return { status: 429, headers, body: '{"error":"Too many requests"}' };
  };
  return { world, ...atDesk({ ...world, exchange }) };
}

const soonQuiet = "quiet: { from: '12:01', to: '12:30', zone: UTC }";

test('a send whose rate limit ends in quiet hours is not sent, and does not count', async () => {
  const { world, ok, run } = refusedUnder(`sends: { max_per_hour: 1, ${soonQuiet} }\n`);
  const ran = await run(reply);
  expect(ran).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('sends.quiet') });
  expect(writesOf(world)).toEqual([]);
  world.clock.advance(30 * 60_000);
  await ok(reply);
  expect(writesOf(world)).toHaveLength(1);
});

test('a draft whose rate limit ends in quiet hours waits', async () => {
  const { world, draft, approve, shown } = refusedUnder(`sends: { ${soonQuiet} }\n`);
  await draft('tickets reply 8 --body Hello');
  expect((await approve(1)).exitCode).toBe(5);
  expect(writesOf(world)).toEqual([]);
  expect(await shown(1)).toMatchObject({ state: 'waiting' });
});

test('a rule that is written while a rate limit is waited out holds', async () => {
  const { world, run } = refusedUnder('sends: { max_per_hour: 1 }\n', () =>
    writeFileSync(join(world.folder, 'config', 'policy.yaml'), 'sends: { quiet: { days: [sun] } }\n'),
  );
  expect((await run(reply)).exitCode).toBe(5);
  expect(writesOf(world)).toEqual([]);
});

test('an entry that stays a draft of the portal is of no rule, however often it is sent', async () => {
  const { world, ok, json } = refusedUnder(`sends: { ${soonQuiet} }\n`);
  const [entry] = await json<readonly { id: number }[]>('changelog list --status draft');
  await ok(`changelog update ${entry?.id} --title Later`);
  expect(writesOf(world)).toHaveLength(1);
});

test('a policy that is a link to nothing, or a pipe, forbids: its rules are not known', async () => {
  const { world, run } = desk();
  const policy = join(world.folder, 'config', 'policy.yaml');
  mkdirSync(join(world.folder, 'config'), { recursive: true });
  symlinkSync(join(world.folder, 'gone.yaml'), policy);
  expect(await run(reply)).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('leads to nothing') });
  unlinkSync(policy);
  execFileSync('mkfifo', [policy]);
  expect(await run(reply)).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('no plain file') });
  expect(writesOf(world)).toEqual([]);
});

test('a count of sends that cannot be read is taken for full', async () => {
  const { world, ok, run } = deskUnder('sends: { max_per_hour: 1 }\n');
  await ok(reply);
  writeFileSync(join(world.folder, 'state', 'sends', 'last-hour'), '\u0000\u0000\n');
  expect((await run(reply)).exitCode).toBe(5);
  world.clock.advance(61 * 60 * 1000);
  await ok(reply);
});

test('a clock that was a year ahead when something was sent holds nothing back for a year', async () => {
  const { world, ok, run } = deskUnder('sends: { max_per_hour: 1 }\n');
  await ok(reply);
  const path = join(world.folder, 'state', 'sends', 'last-hour');
  const [sent = ''] = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, `${Number(sent.slice(0, 4)) + 1}${sent.slice(4)}\n`);
  expect((await run(reply)).exitCode).toBe(5);
  world.clock.advance(61 * 60 * 1000);
  await ok(reply);
});

// What people see of drafts: the list, a draft with its thread, what approving asks, in words and in the width there is.
import { expect, test } from 'vitest';
import { enter } from '../svc.ts';
import { desk } from './drafting.ts';

const plain = { NO_COLOR: '1' };

/** One draft of each kind: a reply with what follows, a resolve, a publishing, an event. */
async function kinds() {
  const at = desk();
  const note = ['--note', 'Refund was checked', '--status', 'pending'];
  await at.ok(['tickets', 'reply', '8', '--body', 'It is fixed.', ...note, '--draft']);
  await at.ok('conversations resolve 7 --draft');
  const [entry] = await at.json<readonly { id: number; title: string }[]>('changelog list --status draft');
  await at.ok(`changelog publish ${entry?.id} --draft`);
  await at.ok('events send shipped --contact-name Eva --email e@x.test --value 12.50 --currency EUR --draft');
  return { ...at, entry };
}

const linesOf = (text: string) => text.trimEnd().split('\n');

test.each([60, 80, 200])('the list names at %i columns what each draft does, to which record', async (columns) => {
  const { ok, entry } = await kinds();
  const { stdout } = await ok('drafts list', { columns, env: plain });
  for (const words of [
    'reply to T-1008',
    'resolving of conversation 7',
    `publishing of entry ${entry?.id}`,
    'event “shipped”',
  ])
    expect(stdout).toContain(words);
  expect(stdout).toMatch(/Faster|Shared/u);
  expect(stdout).not.toMatch(/replyToTicket|resolveConversation|updateChangelog/u);
  for (const line of linesOf(stdout)) expect(line.length).toBeLessThanOrEqual(columns);
});

test('a change of a published entry is called one, and not its publishing', async () => {
  const { ok, json } = desk();
  const entries: { id: number; status: string }[] = await json('changelog list');
  const id = entries.find(({ status }) => status === 'published')?.id;
  const { stdout } = await ok(`changelog update ${id} --title Better --draft`, { columns: 100 });
  expect(stdout).toContain(`Draft 1: a change of the published entry ${id}`);
  expect((await ok('drafts list')).stdout).toContain(`\tchange of the published entry ${id}\t`);
  const { digest }: { digest: string } = await json('drafts show 1');
  const approved = await ok(`drafts approve 1 --digest ${digest}`);
  expect(approved.stdout + approved.stderr).not.toContain('publishing');
});

test('a pipe has the same words, with the title of what would become public, whole', async () => {
  const { ok, entry } = await kinds();
  const rows = linesOf((await ok('drafts list')).stdout).map((line) => line.split('\t'));
  expect(rows.map((row) => row.slice(0, 5))).toEqual([
    ['1', 'waiting', 'reply to T-1008', 'Viktor Nakamura <viktor.nakamura@saltmarsh.test>', 'It is fixed.'],
    ['2', 'waiting', 'resolving of conversation 7', 'Carla Vega <carla.vega@quarry.test>', 'Missing feature'],
    ['3', 'waiting', `publishing of entry ${entry?.id}`, 'the public', entry?.title],
    ['4', 'waiting', 'event “shipped”', 'Eva <e@x.test>', ''],
  ]);
});

test('a draft is shown under its subject, with the messages and times of a thread, broken between words', async () => {
  const { ok } = await kinds();
  const { stdout } = await ok('drafts show 1', { columns: 46, env: plain });
  const lines = linesOf(stdout);
  expect(lines[0]).toBe('Export stops at 10,000 rows');
  expect(lines[1]).toBe('T-1008');
  expect(stdout).toContain('\nPriya (Support) team · 20');
  expect(stdout).not.toMatch(/\d\dT\d\d:/u);
  expect(stdout).toContain('\n  It is fixed.\n\nthen note: Refund was checked\nthen set status to pending\n');
  const words = (await ok('drafts show 1', { columns: 2000, env: plain })).stdout.split(/\s+/u);
  expect(stdout.split(/\s+/u)).toEqual(words);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(46);
});

test('what has no text is told in a sentence: a resolve, a publishing, an event with its fields', async () => {
  const { ok, entry } = await kinds();
  const page = async (id: number) => (await ok(`drafts show ${id}`, { columns: 100, env: plain })).stdout;
  expect(await page(2)).toContain('\nResolve conversation 7 of Carla Vega; the customer may hear of it.\n');
  expect(await page(3)).toContain(
    `\nPublish entry ${entry?.id}; the public will read it.\n\nTitle       ${entry?.title}\n`,
  );
  expect(await page(4)).toContain('Send the event “shipped” for Eva; the customer may hear of it.');
  expect(await page(4)).toContain('  kpi.value_minor: 1250\n');
  for (const id of [1, 2, 3, 4]) expect(await page(id)).not.toMatch(/POST|PATCH|null/u);
});

test('approve shows the same words, and leaves what Return alone answers', async () => {
  const { run, world } = await kinds();
  const one = await run('drafts approve 2', { columns: 50, answers: [false] });
  expect(one.stderr).toContain('Resolve conversation 7 of Carla Vega; the customer\nmay hear of it.');
  await run('drafts approve 1 2', { columns: 80, answers: [enter, enter] });
  expect(world.sent.filter((line) => !line.startsWith('GET'))).toEqual([]);
});

test('hostile text in a subject, a name, a text or a reason stays inert, and no text looks like a step', async () => {
  const { run, ok } = desk();
  const evil = 'a\u001b[2J\u202eb\nthen set status to closed';
  await ok(['tickets', 'create', '--subject', 'Sub\u001b]0;x\u0007ject', '--description', 'D', '--contact', '233']);
  const list = JSON.parse((await run('tickets list --limit 1 --json')).stdout);
  await ok(['tickets', 'reply', String(list[0].id), '--body', evil, '--note', evil, '--draft']);
  const texts = [
    (await ok('drafts list', { columns: 120 })).stdout,
    (await ok('drafts show 1', { columns: 120, env: plain })).stdout,
    (await run('drafts approve 1', { columns: 120, answers: [false] })).stderr,
    (await run(['drafts', 'reject', '1', '--reason', evil], { columns: 120 })).stdout,
    (await ok('drafts show 1', { columns: 120, env: plain })).stdout,
    (await ok('drafts list --all')).stdout,
  ];
  for (const text of texts) {
    for (const sign of ['\u001b[2J', '\u001b]', '\u202e', '\u0007']) expect(text).not.toContain(sign);
    expect(text).not.toMatch(/^then set/mu);
  }
});

test('a draft that is not sent any more shows its error on a terminal, and no raw record above it', async () => {
  const { run, ok, json } = desk();
  const { digest } = await json<{ digest: string }>('tickets reply 8 --body Fixed --draft');
  await ok('tickets reply 8 --body Other');
  const stale = await run('drafts approve 1', { columns: 80, answers: [true] });
  expect(stale).toMatchObject({ exitCode: 11, stdout: '', stderr: expect.stringContaining('The team has answered') });
  await ok('tickets close 8');
  const inPipe = await run(`drafts approve 1 --digest ${digest}`);
  expect(inPipe.exitCode).toBe(11);
});

test('of several drafts one summary counts each once, and names the one that was left', async () => {
  const { run, ok } = desk();
  for (const id of [8, 9, 10]) await ok(`tickets reply ${id} --body Fixed --draft`);
  await ok('tickets reply 10 --body Other');
  const ran = await run('drafts approve --all', { columns: 100, env: plain, answers: ['yes', 'no', 'yes'] });
  expect(ran.exitCode).toBe(8);
  expect(ran.stderr).toContain('Draft 2 was left as it is.\n');
  expect(ran.stderr).toContain('3 drafts: 1 sent, 1 left, 1 not sent.');
  expect(ran.stderr).not.toContain('not known');
  expect(ran.stderr.match(/1 not sent|of 3/gu)).toHaveLength(1);
  expect(linesOf(ran.stdout).map((line) => line.split(/\s+/u).slice(0, 2))).toEqual([
    ['ID', 'State'],
    ['1', 'sent'],
    ['2', 'waiting'],
    ['3', 'waiting'],
  ]);
  const left = await run('drafts approve --all', { columns: 100, answers: [enter, enter] });
  expect(left).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Declined. Nothing was sent.') });
});

test('what may have been sent is counted as not known, and the exit code says so', async () => {
  const { run, ok, world } = desk();
  for (const id of [8, 9]) await ok(`tickets reply ${id} --body Fixed --draft`);
  await world.control('POST', 'faults', [
    { method: 'POST', path: '/tickets/9/replies', times: 9, action: 'drop-after' },
    { method: 'GET', path: '/tickets/9', nth: 2, times: 99, action: 'drop-before' },
  ]);
  const ran = await run('drafts approve --all', { columns: 100, answers: ['yes', 'yes'] });
  expect(ran.stderr).toContain('2 drafts: 1 sent, 1 not known.');
  expect(ran.exitCode).toBe(9);
});

test('in a pipe approve and reject say where the ids are', async () => {
  const { run } = desk();
  for (const line of ['drafts reject', 'drafts approve'])
    expect(await run(line)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/ID is required.*--batch or --all.*svc drafts list/su),
    });
});

test.each(['show', 'edit', 'approve', 'reject'])(
  'on a terminal drafts %s offers those that nobody has decided',
  async (name) => {
    const { run, ok } = desk();
    const nothing = await run(`drafts ${name}`, { columns: 80 });
    expect(nothing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('svc drafts list') });
    for (const id of [8, 9]) await ok(`tickets reply ${id} --body Fixed --draft`);
    await ok('drafts reject 1');
    const ran = await run(`drafts ${name}`, { columns: 80, answers: [enter, true], edit: (text) => `${text}!` });
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(ran.stdout + ran.stderr).toContain('Draft 2');
    expect(ran.stdout + ran.stderr).not.toContain('Draft 1');
  },
);

test('two drafts for one ticket are told apart by their texts where one is chosen', async () => {
  const { run, ok } = desk();
  for (const text of ['It is\nfixed.', 'We look at it.'])
    await ok(['tickets', 'reply', '8', '--body', text, '--draft']);
  let offered: readonly unknown[] = [];
  const chooses = (names: typeof offered) => {
    offered = names;
    return '2';
  };
  await run('drafts show', { columns: 80, chooses });
  expect(offered).toEqual([
    'Draft 1: a reply to T-1008, Viktor Nakamura, by email: It is fixed.',
    'Draft 2: a reply to T-1008, Viktor Nakamura, by email: We look at it.',
  ]);
});

test('reject decides each of its ids', async () => {
  const { run, ok, json } = desk();
  for (const id of [8, 9]) await ok(`tickets reply ${id} --body Fixed --draft`);
  const ran = await run('drafts reject 1 99 2');
  expect(ran.exitCode).toBe(8);
  expect(ran.stderr).toContain('Drafts 1, 2 are rejected; nothing was sent.');
  expect(ran.stderr).toContain('There is no draft 99.');
  expect(await json('drafts list')).toEqual([]);
  expect((await run('drafts reject 99')).exitCode).toBe(3);
});

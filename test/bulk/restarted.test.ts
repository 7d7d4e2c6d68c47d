// A run with --restart that was stopped: what goes on with it, and what does not.
import { expect, test } from 'vitest';
import { atOnce, type Meets, own, reply, runs, unknown } from './restarting.ts';

test.each<[what: string, met: readonly Meets[], flags: readonly string[]]>([
  ['a person rejects its drafts', [], ['--draft']],
  ['the service rejects a row', ['is done', 'HTTP 422'], []],
])('is no more where a later one has ended and %s', async (_, met, flags) => {
  const { run, ok } = runs();
  expect((await run(reply, 't.csv', own)).exitCode).toBe(0);
  expect((await run(reply, 't.csv', own, ['--restart'], atOnce)).exitCode).toBe(10);
  await run(reply, 't.csv', own, ['--restart', ...flags], met);
  if (flags.length > 0) await ok('drafts reject 1 2');
  expect(await run(reply, 't.csv', own)).toMatchObject({ exitCode: 8, sent: [] });
});

test('sends what is in doubt with --retry-unknown alone, as its messages say', async () => {
  const { run } = runs();
  expect((await run(reply, 't.csv', own, [], unknown)).exitCode).toBe(9);
  const restart = await run(reply, 't.csv', own, ['--restart', '--max-sends', '1']);
  expect(restart).toMatchObject({ exitCode: 9, stderr: expect.stringContaining('--retry-unknown alone sends it') });
  expect(await run(reply, 't.csv', own)).toMatchObject({ exitCode: 9, sent: [] });
  expect((await run(reply, 't.csv', own, ['--retry-unknown'])).sent).toHaveLength(1);
});

test('goes on with the requests that it was told of, not with those of another map', async () => {
  const both = 'id,body,more\n8,Hello Ann,Bye Ann\n9,Hello Bob,Bye Bob\n';
  const [hello, bye] = [
    ['--map', 'more=ignore'],
    ['--map', 'body=ignore', '--map', 'more=body'],
  ];
  const { run } = runs();
  expect((await run(reply, 't.csv', both, hello)).exitCode).toBe(0);
  expect((await run(reply, 't.csv', both, [...hello, '--restart'], atOnce)).exitCode).toBe(10);
  expect(await run(reply, 't.csv', both, bye)).toMatchObject({ exitCode: 2, sent: [] });
  expect((await run(reply, 't.csv', both, hello)).sent).toHaveLength(2);
});

test('frees no run of another template for a third one', async () => {
  const { run, put } = runs();
  const names = 'id,name\n8,Ann\n9,Bob\n11,Cy\n';
  const by = (text: string) => ['--template', put(`${text}.md`, `${text} {{name}}`)];
  expect((await run(reply, 'n.csv', names, [...by('A'), '--max-sends', '1'])).exitCode).toBe(8);
  expect((await run(reply, 'n.csv', names, [...by('B'), '--restart'], atOnce)).exitCode).toBe(10);
  expect(await run(reply, 'n.csv', names, by('C'))).toMatchObject({ exitCode: 2, sent: [] });
});

test('is over once its file has come to its end without the rows that were left', async () => {
  const { run } = runs();
  expect((await run(reply, 't.csv', own)).exitCode).toBe(0);
  expect((await run(reply, 't.csv', own, ['--restart', '--max-sends', '1'])).exitCode).toBe(8);
  expect((await run(reply, 't.csv', 'id,body\n8,Hello Ann\n')).exitCode).toBe(0);
  expect(await run(reply, 'copy.csv', own)).toMatchObject({ exitCode: 0, sent: [] });
});

test('leaves a row in doubt in doubt that cannot be sent as it reads now', async () => {
  const gap = 'id,body,alt\n8,Hello Ann,Hello Ann\n9,Hello Bob,\n';
  const { run } = runs();
  expect((await run(reply, 't.csv', gap, ['--map', 'alt=ignore'], unknown)).exitCode).toBe(9);
  const flags = ['--restart', '--map', 'body=ignore', '--map', 'alt=body'];
  expect((await run(reply, 't.csv', gap, flags)).exitCode).toBe(9);
});

test('that made drafts of a file in other columns: nothing is sent beside them, however often it is asked for', async () => {
  const { run, ok } = runs();
  const mapped = 'id,text\n8,Hello Ann\n9,Hello Bob\n';
  expect((await run(reply, 't.csv', own)).exitCode).toBe(0);
  expect((await run(reply, 't.csv', mapped, ['--map', 'text=body', '--restart', '--draft'])).exitCode).toBe(0);
  for (let times = 0; times < 3; times++)
    expect(await run(reply, 't.csv', own)).toMatchObject({ exitCode: 0, sent: [] });
  await ok('drafts reject 1');
  for (let times = 0; times < 3; times++) expect((await run(reply, 't.csv', own)).sent).toEqual([]);
});

const hooks = 'event,url\nticket.created,https://a.test/1\nticket.created,https://a.test/2\n';

async function hookRuns() {
  const scopes = ['webhooks:manage', 'identity'];
  const env: Record<string, string | undefined> = { SVC_API_KEY: undefined };
  const at = runs(env);
  env.SVC_ACCESS_TOKEN = ((await at.control(scopes)) as { access_token: string }).access_token;
  const create = (file: string, text: string, flags: readonly string[] = [], met: readonly Meets[] = []) =>
    at.run('webhooks create', file, text, ['--results', at.put('results.csv', ''), ...flags], met);
  expect((await create('h.csv', hooks)).exitCode).toBe(0);
  return create;
}

test('goes on also where its journal was rewritten without the secrets', async () => {
  const create = await hookRuns();
  expect((await create('h.csv', hooks, ['--restart', '--max-sends', '1'])).exitCode).toBe(8);
  const plain = await create('h.csv', hooks);
  expect([plain.exitCode, plain.sent.length]).toEqual([0, 1]);
});

test.each([
  ['--restart', 'h.csv', hooks, unknown],
  ['--again', 'more.csv', `event,url\nticket.created,https://a.test/3\n${hooks.slice(10)}`, ['is done', ...unknown]],
] as const)(
  'a row of it, or of %s, is unknown also in a journal without the secrets',
  async (flag, file, text, met) => {
    const create = await hookRuns();
    expect((await create(file, text, [flag], met)).exitCode).toBe(9);
    expect((await create(file, text)).exitCode).toBe(9);
  },
);

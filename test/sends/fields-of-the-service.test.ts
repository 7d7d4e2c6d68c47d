// What the service makes itself is none of what a request says: what a person reads is what becomes of it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { svc } from '../svc.ts';
import { desk, writesOf } from './drafting.ts';

const plain = { NO_COLOR: '1' };
const strange = 'the service may leave out:';

type Entry = { readonly id: number; readonly title: string; readonly content_html: string };

/** The desk, an entry that is a draft of the portal, and the words of its text. */
async function portal() {
  const at = desk();
  const [{ id } = { id: 0 }] = await at.json<readonly Entry[]>('changelog list --status draft');
  const entry = await at.json<Entry>(`changelog get ${id}`);
  return { ...at, entry, text: entry.content_html.replaceAll(/<[^>]+>/gu, '').slice(0, 30) };
}

const publishing = (id: number, ...fields: readonly string[]) => [
  ...['api', '-X', 'PATCH', `/changelog/${id}`, '-f', 'status=published'],
  ...fields.flatMap((field) => ['-f', field]),
];

test('an HTML that a publishing brings is not shown as the text of the entry, which is', async () => {
  const { ok, run, json, entry, text } = await portal();
  const line = publishing(entry.id, 'content_html=<p>Harmless words</p>');
  await ok([...line, '--draft']);
  const pages = [
    (await ok('drafts show 1', { columns: 100, env: plain })).stdout,
    (await run('drafts approve 1', { columns: 100, env: plain, answers: [false] })).stderr,
    (await run(line, { columns: 100, env: { ...plain, SVC_SENDS: 'ask' }, answers: [false] })).stderr,
  ];
  for (const page of pages) {
    expect(page).toContain(text);
    expect(page).toContain(strange);
    expect(page).toContain('  content_html: <p>Harmless words</p>\n');
    expect(page.match(/Harmless/gu)).toHaveLength(1);
  }
  const shown = await json<{ entry: { content: string } }>('drafts show 1');
  expect(shown.entry.content).toBe(entry.content_html);
  await run('drafts approve 1', { columns: 100, answers: [true] });
  expect(await json(`changelog get ${entry.id}`)).toMatchObject({
    status: 'published',
    content_html: entry.content_html,
  });
});

test('labels and a title that are none are shown as they are sent', async () => {
  const { run, entry } = await portal();
  const line = [...publishing(entry.id), '-F', 'title=5', '-F', 'labels[]=1', '-f', 'slug=evil'];
  const { stderr } = await run(line, { columns: 100, env: { ...plain, SVC_SENDS: 'ask' }, answers: [false] });
  for (const shown of [`Title       ${entry.title}`, '  title: 5\n', '  labels: [1]\n', `${strange}\n  slug: evil\n`])
    expect(stderr).toContain(shown);
});

test.each([
  ['an entry', ['/changelog', '-f', 'title=Faster', '-f', 'status=published', '-f', 'content=The words'], 'body'],
  ['a reply', ['/tickets/8/replies', '-f', 'body=The words'], 'content'],
] as const)('the text of %s is not what another field says', async (_, line, other) => {
  const { ok, json } = desk();
  await ok(['api', ...line, '-f', `${other}=Harmless`, '--draft']);
  const { stdout } = await ok('drafts show 1', { columns: 100, env: plain });
  expect(stdout).toMatch(/\n {2}The words\n/u);
  expect(stdout).toContain(`${strange}\n  ${other}: Harmless\n`);
  expect(await json('drafts list')).toMatchObject([{ body: 'The words' }]);
});

test('an event has no text, and what looks like one is one of its fields', async () => {
  const { ok } = desk();
  const event = ['-f', 'trigger=shipped', '-f', 'contact[name]=Eva', '-f', 'contact[email]=e@x.test'];
  await ok(['api', '/integrations/partner/events', ...event, '-f', 'body=Harmless', '--draft']);
  const { stdout } = await ok('drafts show 1', { columns: 100, env: plain });
  expect(stdout).toContain('Send the event “shipped” for Eva');
  expect(stdout).toContain(`${strange}\n  body: Harmless\n`);
});

test('of a ticket that may not be read nobody takes the contact from the request', async () => {
  const { world } = desk();
  const exchange: typeof world.exchange = async (request) =>
    request.method === 'GET'
      ? { status: 403, headers: { 'content-type': 'application/json' }, body: '{"error":"insufficient_scope"}' }
      : world.exchange(request);
  mkdirSync(join(world.folder, 'config'), { recursive: true });
  const policy = join(world.folder, 'policy.yaml');
  writeFileSync(policy, `sends:\n  allow: '.contact.email | endswith("@example.com")'\n`);
  const line = [
    'api',
    '/tickets/8/replies',
    '-f',
    'body=x',
    '-f',
    'contact[name]=Boss',
    '-f',
    'contact[email]=b@example.com',
  ];
  const held = await svc({ ...world, exchange }, line, { env: { ...world.env, SVC_POLICY: policy } });
  expect(held, held.stderr).toMatchObject({ exitCode: 5 });
  const asked = await svc({ ...world, exchange }, line, {
    ...{ columns: 100, answers: [false] },
    env: { ...world.env, SVC_SENDS: 'ask', NO_COLOR: '1' },
  });
  expect(asked.stderr).toContain('a reply to ticket 8\n');
  expect(asked.stderr).toContain('  contact.name: Boss\n');
  expect(writesOf(world)).toEqual([]);
});

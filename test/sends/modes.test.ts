// Modes: what becomes of a send, whichever face it comes by.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connected } from '../mcp/connected.ts';
import { desk, type Shown, writesOf } from './drafting.ts';

const inMode = (mode: string) => ({ env: { SVC_SENDS: mode } });

const sends = [
  ['tickets', 'reply', '8', '--body', 'Hello'],
  ['conversations', 'reply', '3', '--body', 'Hello'],
  ['conversations', 'resolve', '3', '5'],
  ['events', 'send', 'order_create', '--contact-name', 'Ada', '--email', 'ada@lovelace.test'],
  ['changelog', 'create', '--title', 'Faster', '--content', 'Seconds', '--status', 'published'],
  ['changelog', 'publish', '32'],
  ['changelog', 'update', '1', '--title', 'Changed where all read it'],
  ['api', '/tickets/8/replies', '-f', 'body=Hello'],
  ['api', 'conversations/3/resolve', '-X', 'POST'],
  ['tickets', 'reply', '--from', '-'],
];

const rows = 'id,body\n8,One\n9,Two\n';

test.each(sends.map((line) => [line.join(' '), line] as const))(
  'in mode draft nothing of `svc %s` leaves',
  async (_, line) => {
    const { world, ok, json } = desk();
    await ok(line, { ...inMode('draft'), stdin: rows });
    expect(writesOf(world)).toEqual([]);
    expect((await json<Shown[]>('drafts list')).length).toBeGreaterThan(0);
  },
);

test.each(sends.map((line) => [line.join(' '), line] as const))(
  'in mode ask `svc %s` in a pipe ends with 2 and names --draft',
  async (_, line) => {
    const { world, run } = desk();
    const ran = await run(line, { ...inMode('ask'), stdin: rows });
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--draft') });
    expect(writesOf(world)).toEqual([]);
  },
);

test.each(['published ', 'PUBLISHED', ['published'], 'live'])(
  'an entry whose status is %j may be public for a server that reads it kindly: in mode draft nothing of it leaves',
  async (status) => {
    const { world, run } = desk();
    const stdin = JSON.stringify({ title: 'Faster', content: 'Seconds', status });
    await run(['api', '/changelog', '-X', 'POST', '--input', '-'], { ...inMode('draft'), stdin });
    await run(['api', '/changelog/31', '-X', 'PATCH', '--input', '-'], { ...inMode('draft'), stdin });
    expect(writesOf(world)).toEqual([]);
  },
);

test.each([
  ['in mode draft', inMode('draft')],
  ['in mode allow', inMode('allow')],
])(
  'a body with a key twice is judged by one and may be done by the other: %s nothing of it leaves',
  async (_, given) => {
    const { world, run } = desk();
    const stdin = '{"title":"Faster","content":"Seconds","status":"published","status":"draft"}';
    for (const argv of [
      ['/changelog', '-X', 'POST'],
      ['/changelog/31', '-X', 'PATCH'],
      ['/elsewhere', '-X', 'POST', '--dry-run'],
    ]) {
      const ran = await run(['api', ...argv, '--input', '-'], { ...given, stdin });
      expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('has the key "status" twice') });
    }
    expect(world.sent).toEqual([]);
  },
);

test('a path that a server may take for a send is refused in mode draft, however it is spelled', async () => {
  const { world, run } = desk();
  const spelled = [
    '/tickets/8//replies',
    '/tickets/8/replies/',
    '/Tickets/8/Replies',
    '/tickets/%38/replies',
    '/tickets/08/replies.json',
    '/tickets/8/x/../replies',
  ];
  for (const path of spelled) await run(['api', path, '-X', 'POST', '-f', 'body=x'], inMode('draft'));
  await run(['api', '/tickets/8/replies', '-X', 'PUT', '-f', 'body=x'], inMode('draft'));
  await run(
    ['api', '/tickets/8/replies', '-X', 'POST', '--base-url', 'https://service.test/tickets', '-f', 'body=x'],
    inMode('draft'),
  );
  await run(
    ['api', '/8/replies', '-X', 'POST', '--base-url', 'https://service.test/tickets', '-f', 'body=x'],
    inMode('draft'),
  );
  expect(writesOf(world)).toEqual([]);
});

const form = 'Content-Type: application/x-www-form-urlencoded';

test.each([
  ['X-HTTP-Method-Override: POST', ['/conversations/7/messages', '-X', 'GET', '-H', 'X-HTTP-Method-Override: POST']],
  ['x-http-method', ['/conversations/7/messages', '-H', 'x-http-method: POST']],
  ['X_Method_Override', ['/conversations/7/messages', '-H', 'X_Method_Override: post']],
  ['_method in the query', ['/conversations/7/messages?per_page=2&_method=POST']],
  ['%5FMETHOD in the query', ['/conversations/7/messages?%5FMETHOD=POST']],
  ['_method among the fields of a read', ['/conversations/7/messages', '-X', 'GET', '-f', '_method=POST']],
  ['_method in the path', ['/conversations/7/messages;_method=POST']],
  ['_method in a body', ['/tickets', '-f', 'subject=x', '-f', '_method=DELETE']],
  ['_method in a form', ['/tickets', '--input', '-', '-H', form], 'a=1&_method=DELETE'],
  ['_method in what is JSON and a form', ['/tickets', '--input', '-', '-H', form], '{"a":"&_method=DELETE&"}'],
  ['_method in a body of parts', ['/tickets', '--input', '-'], 'content-disposition: form-data; name="_method"'],
  ['another path', ['/contacts', '-X', 'POST', '-H', 'X-Original-URL: /tickets/8/replies', '-f', 'body=x']],
  ['another length', ['/contacts', '-X', 'GET', '-H', 'Content-Length: 0', '--input', '-'], 'POST /tickets HTTP/1.1'],
  ['another encoding', ['/contacts', '-X', 'POST', '-H', 'Transfer-Encoding: chunked', '--input', '-'], '0'],
])(
  'svc api: a request that tells a server %s is exit 2 in every mode, and nothing leaves',
  async (_, argv, stdin = '') => {
    const { world, run } = desk();
    for (const mode of ['draft', 'allow']) {
      const ran = await run(['api', ...argv], { ...inMode(mode), stdin });
      expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/othing was sent/u) });
    }
    expect(world.sent).toEqual([]);
  },
);

test('svc api: a header, a query and a field that only look like it are sent', async () => {
  const { world, run } = desk();
  const headers = [
    'X-Request-Id: 7',
    'X-Payment-Method: card',
    'Access-Control-Request-Method: POST',
    'X-Script-Name: x',
  ];
  const argv = ['/contacts?method=email&search=_method%3DPOST', ...headers.flatMap((header) => ['-H', header])];
  expect(await run(['api', ...argv])).toMatchObject({ exitCode: 0 });
  expect(await run(['api', '/contacts', '-X', 'GET', '-f', 'x_method=1', '-f', 'httpMethod=x'])).toMatchObject({
    exitCode: 0,
  });
  expect(world.sent).toHaveLength(2);
});

test('what reaches nobody is done in mode draft as ever', async () => {
  const { world, ok } = desk();
  await ok('tickets close 8', inMode('draft'));
  await ok('changelog create --title Faster --content Seconds', inMode('draft'));
  await ok('tickets note 8 --body Look', inMode('draft'));
  expect(writesOf(world)).toHaveLength(3);
});

test('in mode ask a person at a terminal sees the text and agrees, whatever --yes says', async () => {
  const { world, run } = desk();
  const line = 'tickets reply 8 --body Hello --yes';
  const no = await run(line, { ...inMode('ask'), columns: 80, answers: [false] });
  expect(no).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Viktor Nakamura') });
  expect(writesOf(world)).toEqual([]);
  expect((await run(line, { ...inMode('ask'), columns: 80, answers: [true] })).exitCode).toBe(0);
  expect(writesOf(world)).toHaveLength(1);
});

type Meanwhile = (at: ReturnType<typeof desk>, config: string) => void;

const policy = (rules: string): Meanwhile => {
  return (_, config) => writeFileSync(join(config, 'policy.yaml'), `sends: { ${rules} }\n`);
};

test.each<[string, Meanwhile, number]>([
  ['a rule that forbids it', policy("deny: 'true'"), 5],
  ['a policy with a mistake', policy('modus: ask'), 5],
  ['another rule that lets it through', policy("deny: 'false'"), 0],
  [
    'the mode of the configuration',
    (_, config) => writeFileSync(join(config, 'config.json'), '{"profiles":{"default":{"sends":"draft"}}}'),
    0,
  ],
])('what is set while "Send this?" stands open holds: %s', async (what, set, exitCode) => {
  const at = desk();
  const config = join(at.world.folder, 'config');
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, 'config.json'), '{"profiles":{"default":{"sends":"ask"}}}');
  const seen = (_: string, text: string) => {
    if (text.includes('Viktor Nakamura')) set(at, config);
  };
  const ran = await at.run('tickets reply 8 --body Hello', { columns: 80, answers: [true], seen });
  expect(ran.exitCode).toBe(exitCode);
  expect(writesOf(at.world)).toHaveLength(what.startsWith('another') ? 1 : 0);
  if (what.startsWith('the mode')) expect(await at.json('drafts list')).toMatchObject([{ state: 'waiting' }]);
});

test('quiet hours that begin while "Send this?" stands open hold', async () => {
  const { world, run } = desk();
  const config = join(world.folder, 'config');
  mkdirSync(config, { recursive: true });
  // The clock of these tests stands at noon UTC.
  writeFileSync(
    join(config, 'policy.yaml'),
    "sends: { mode: ask, quiet: { from: '12:30', to: '20:00', zone: UTC } }\n",
  );
  const seen = (_: string, text: string) => {
    if (text.includes('Viktor Nakamura')) world.clock.advance(45 * 60_000);
  };
  const ran = await run('tickets reply 8 --body Hello', { columns: 80, answers: [true], seen });
  expect([ran.exitCode, ran.stderr]).toEqual([5, expect.stringContaining('quiet time')]);
  expect(writesOf(world)).toEqual([]);
});

test('the rows of a file are agreed to one by one, or all that follow at once', async () => {
  const { world, run } = desk();
  const more = { ...inMode('ask'), stdin: 'id,body\n8,One\n9,Two\n10,Three\n', columns: 80, answers: ['yes', 'all'] };
  expect((await run('tickets reply --from -', more)).exitCode).toBe(0);
  expect(writesOf(world)).toHaveLength(3);
});

test('the stricter of the profile and the environment holds, and the default profile holds for a credential of the environment', async () => {
  const { world, ok, run } = desk();
  await ok('config set sends draft');
  await ok('tickets reply 8 --body Hello', inMode('allow'));
  await ok('config set base_url https://service.test -p other');
  await ok('tickets reply 8 --body Hello -p other');
  expect(writesOf(world)).toEqual([]);
  expect((await run('tickets reply 8 --body Hello', inMode('alow'))).exitCode).toBe(2);
});

test('changing the mode back asks at a terminal, whatever --yes says', async () => {
  const { ok, run } = desk();
  await ok('config set sends draft');
  for (const line of ['config set sends allow', 'config set sends ask --yes', 'config unset sends --yes'])
    expect(await run(line)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('at a terminal') });
  expect((await run('config set sends allow', { columns: 80, answers: [false] })).exitCode).toBe(1);
  expect((await ok('config get sends')).stdout).toBe('draft\n');
  await ok('config set sends allow', { columns: 80, answers: [true] });
  expect((await ok('config get sends')).stdout).toBe('allow\n');
});

type Told = {
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent: { readonly drafts?: unknown };
};

test('an assistant with --draft-sends makes drafts, sees what became of them, and cannot approve', async () => {
  const { world, approve } = desk();
  const { client, end } = await connected(world, ['--draft-sends']);
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['replyToTicket', 'resolveConversation', 'sendEvent', 'listDrafts']));
  expect(names.filter((name) => /approve|reject|edit/iu.test(name))).toEqual([]);
  const drafted = (await client.callTool({
    name: 'replyToTicket',
    arguments: { id: 8, body: 'Hello' },
  })) as unknown as Told;
  expect(drafted.content[0]?.text).toContain('Draft 1 waits for a person; nothing was sent');
  expect(writesOf(world)).toEqual([]);
  expect((await approve(1)).exitCode).toBe(0);
  const listed = (await client.callTool({ name: 'listDrafts', arguments: {} })) as unknown as Told;
  expect(listed.structuredContent.drafts).toMatchObject([
    { id: 1, state: 'sent', by: expect.stringContaining('test') },
  ]);
  await end();
});

test('in mode draft --allow-send means --draft-sends, and says so; in mode ask a send is refused and names it', async () => {
  const { world } = desk();
  const drafting = await connected({ ...world, env: { ...world.env, SVC_SENDS: 'draft' } }, [
    '--allow-send',
    '--allow-write',
  ]);
  for (const [name, input] of [
    ['sendEvent', { trigger: 'x', contact: { name: 'Ada', email: 'ada@lovelace.test' } }],
    ['createChangelogEntry', { title: 'Faster', content: 'Seconds', status: 'published' }],
  ] as const) {
    const told = (await drafting.client.callTool({ name, arguments: input })) as unknown as Told;
    expect(told.content[0]?.text).toContain('waits for a person');
  }
  expect((await drafting.end()).stderr).toContain('--allow-send means --draft-sends');
  const asking = await connected({ ...world, env: { ...world.env, SVC_SENDS: 'ask' } }, ['--allow-send']);
  const told = (await asking.client.callTool({
    name: 'replyToTicket',
    arguments: { id: 8, body: 'Hello' },
  })) as unknown as Told;
  expect(told).toMatchObject({ isError: true });
  expect(told.content[0]?.text).toContain('--draft-sends');
  await asking.end();
  expect(writesOf(world)).toEqual([]);
});

test('a release in mode draft leaves the draft of the portal and a draft of its publishing', async () => {
  const { world, ok, json, approve } = desk();
  const file = join(world.folder, 'CHANGELOG.md');
  writeFileSync(file, '# Changelog\n\n## 9.9.9 - 2026-02-01\n\n- Exports take seconds.\n');
  await ok(['changelog', 'release', '--from', file], inMode('draft'));
  expect(writesOf(world)).toEqual(['POST /changelog']);
  expect(await json('drafts list')).toMatchObject([{ operation: 'updateChangelogEntry', to: 'the public' }]);
  const drafts = await json<{ version: string }[]>('changelog list --status draft');
  expect(drafts.map(({ version }) => version)).toContain('9.9.9');
  expect((await approve(1)).exitCode).toBe(0);
  const live = await json<{ version: string }[]>('changelog list --status published');
  expect(live.map(({ version }) => version)).toContain('9.9.9');
});

test('svc api --draft keeps what reaches a customer, and sends nothing else either', async () => {
  const { world, run, draft } = desk();
  expect(await draft('api -X POST /tickets/8/replies -f body=Hello')).toMatchObject({ id: 1, state: 'waiting' });
  for (const path of ['/tickets/8/notes', '/nobody/knows'])
    expect(await run(`api -X POST ${path} -f body=Hello --draft`)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Nothing was sent'),
    });
  expect(writesOf(world)).toEqual([]);
});

test.each([
  ...['/tickets/8/replies;a=b', '/tickets/8/replies%00', '/tickets/8/replies%3fx', '/tickets/8/%252e%252e/8/replies'],
  ...['/tickets/8/replies.json', '/tickets//8/replies', '/TICKETS/8/replies', '/tickets/8/replies?x=1'],
  ...['/tickets/8/replies.', '/tickets/8/replies.ndjson', '/tickets/8/replies%2e%2e', '/tickets/8/replies:8'],
  ...[
    '/tickets/8/replies,',
    '/tickets/8/replies/,',
    '/tickets/8/(replies)',
    '/tickets/8,/replies~',
    '/tickets/%EF%BC%98/replies',
  ],
  ...['/tickets/9007199254740993/replies', '/tickets/99999999999999999999/replies'],
])('in mode draft svc api does not let out what a server may take for a reply: %s', async (path) => {
  const { world, run } = desk();
  const ran = await run(`api -X POST ${path} -f body=Hello`, { env: { SVC_SENDS: 'draft' } });
  expect(ran.exitCode).toBe(2);
  expect(writesOf(world)).toEqual([]);
});

test('a configuration folder that is a link to nothing stops a send: what it says is not known', async () => {
  const { world, run } = desk();
  symlinkSync(join(world.folder, 'gone'), join(world.folder, 'config'));
  const ran = await run('tickets reply 8 --body Hello --yes');
  expect(ran.exitCode).not.toBe(0);
  expect(ran.stderr).toContain('leads to nothing');
  expect(writesOf(world)).toEqual([]);
});

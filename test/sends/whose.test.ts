// A draft meets a login whose account is not known: it is shown and sent where it is surely of the same account, or of the
// very same credential, and nowhere else.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { connected } from '../mcp/connected.ts';
import { pulledWorld } from '../mirror/engines.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import type { RunOptions } from '../svc.ts';
import { atDesk, desk, type Shown, writesOf } from './drafting.ts';

const scopes = ['changelog:read', 'changelog:write', 'tickets:read', 'tickets:write', 'conversations:read'];

/** A token that may not ask whose it is. */
async function mute({ control }: SandboxWorld, account: number, more: readonly string[] = []): Promise<RunOptions> {
  const told = await control('POST', 'tokens', { account_id: account, scopes: [...scopes, ...more] });
  const { access_token: token } = told as { access_token: string };
  return { env: { SVC_API_KEY: '', SVC_ACCESS_TOKEN: token } };
}

const envOf = ({ env = {} }: RunOptions) => env;

const entry = 'changelog create --title Secret --content Canary --status published';

describe('a draft and a login, of which one does not say its account', () => {
  test.each(['the login', 'the draft', 'either'])(
    '%s: it is counted, not shown, not changed, and not sent',
    async (unsaid) => {
      const { world, draft, run, shown, json } = desk();
      const key: RunOptions = { env: { SVC_API_KEY: 'key_globex', SVC_ACCESS_TOKEN: '' } };
      const makers = { 'the login': {}, 'the draft': await mute(world, 1), either: await mute(world, 1) };
      const maker: RunOptions = makers[unsaid as keyof typeof makers];
      const other = unsaid === 'the draft' ? key : await mute(world, 2);
      const { digest } = await draft(entry, maker);
      expect(await json<Shown[]>('drafts list --all', other)).toEqual([]);
      expect((await run('drafts list', other)).stderr).toContain('1 draft may be of another account');
      for (const line of [
        'drafts show 1',
        'drafts edit 1 --body Changed',
        'drafts reject 1',
        `drafts approve 1 --digest ${digest}`,
      ]) {
        const ran = await run(line, other);
        expect(`${ran.exitCode} ${ran.stderr}`).toMatch(/^2 .*Draft 1 may be of another account.*Nothing was sent/su);
        expect(`${ran.stdout}${ran.stderr}`).not.toMatch(/Canary|Secret/u);
      }
      expect(await shown(1, maker)).toMatchObject({ state: 'waiting', digest });
      expect(writesOf(world)).toEqual([]);
    },
  );

  test('the very credential that made it shows it and sends it', async () => {
    const { world, draft, approve, json } = desk();
    const own = await mute(world, 1);
    await draft(entry, own);
    expect(await json<Shown[]>('drafts list', own)).toMatchObject([{ id: 1 }]);
    expect((await approve(1, own)).exitCode).toBe(0);
    expect(writesOf(world)).toEqual(['POST /changelog']);
  });

  test('a login that says its account shows and sends what another one of that account made', async () => {
    const { world, draft, approve } = desk();
    await draft(entry, await mute(world, 1, ['identity']));
    expect((await approve(1)).exitCode).toBe(0);
    expect(writesOf(world)).toEqual(['POST /changelog']);
  });

  test('where the service cannot be asked whose the login is, that is said, and not that a draft is of another account', async () => {
    const { world, draft } = desk();
    await draft(entry, await mute(world, 1, ['identity']));
    const { run } = atDesk({
      ...world,
      exchange: async () => ({ lost: 'before-sending', reason: 'refused', detail: 'Nobody listens there.' }),
    });
    for (const line of ['drafts list', 'drafts show 1', 'drafts reject 1', 'drafts approve 1 --digest any']) {
      const ran = await run(line);
      expect([line, ran.exitCode, ran.stdout]).toEqual([line, 10, '']);
      expect(ran.stderr).not.toContain('another account');
    }
    const asked: string[] = [];
    const busy = atDesk({
      ...world,
      exchange: async ({ url }) => {
        asked.push(url);
        return { status: 429, headers: { 'retry-after': '120', 'x-ratelimit-limit': '60' }, body: '{"error":"slow"}' };
      },
    });
    expect((await busy.run('drafts list --max-wait 1')).exitCode).toBe(7);
    expect(asked).toHaveLength(1);
  });

  test.each(['expired', 'unknown'])(
    'a login that is not valid (%s) is exit 4, and not one without an account',
    async (why) => {
      const { world, draft, run, shown } = desk();
      const { digest } = await draft(entry);
      await draft(entry, await mute(world, 1));
      const sending = await mute(world, 1, ['identity', 'sequences:trigger']);
      await draft('changelog create --title Other --content Text --status published', sending);
      const login = why === 'expired' ? sending : { env: { SVC_API_KEY: 'nokey' } };
      await world.control('POST', 'clock', { advance_seconds: 4000 });
      for (const line of [
        'events send signup --contact-name Ada --email a@example.com --draft',
        'drafts list --json',
        'drafts list --all',
        'drafts show 1',
        'drafts show 2',
        'drafts edit 1 --body Changed',
        'drafts reject 1',
        'drafts reject --all --yes',
        `drafts approve 1 --digest ${digest}`,
      ]) {
        const ran = await run(line, login);
        expect([line, ran.exitCode, ran.stdout]).toEqual([line, 4, '']);
      }
      expect(await shown(1)).toMatchObject({ state: 'waiting', digest });
      expect((await run('drafts show 4')).exitCode).toBe(3);
      expect(writesOf(world)).toEqual([]);
    },
  );

  test('all that the very credential made are rejected at once, and no others', async () => {
    const { world, draft, ok, shown, run } = desk();
    const own = await mute(world, 1);
    await draft(entry, own);
    await draft(entry);
    await ok('drafts reject --all --yes', own);
    expect(await shown(1, own)).toMatchObject({ state: 'rejected' });
    expect(await shown(2)).toMatchObject({ state: 'waiting' });
    // What is left is nobody's whom svc knows.
    expect((await run('drafts reject --all --yes', own)).exitCode).toBe(5);
  });

  test('no secret is in what is kept', async () => {
    const { world, draft } = desk();
    const own = await mute(world, 1);
    await draft(entry, own);
    await draft(entry.replace('Secret', 'Other'));
    const kept = readFileSync(join(world.folder, 'state', 'drafts', 'drafts.jsonl'), 'utf8');
    expect(kept).not.toContain(envOf(own).SVC_ACCESS_TOKEN);
    expect(kept).not.toContain('key_acme');
  });

  test('two such logins that want the same have a draft each', async () => {
    const { world, draft } = desk();
    const line = 'conversations resolve 5';
    const [first, second] = [await mute(world, 1), await mute(world, 1)];
    expect((await draft(line, first)).id).toBe(1);
    expect((await draft(line, first)).id).toBe(1);
    expect((await draft(line, second)).id).toBe(2);
  });
});

test('a draft of an older svc without an account is shown and rejected where nobody is logged in, and sent by nobody', async () => {
  const { world, draft, run, ok, json } = desk();
  const { digest } = await draft(entry);
  const path = join(world.folder, 'state', 'drafts', 'drafts.jsonl');
  const { n, draft: kept } = JSON.parse(readFileSync(path, 'utf8'));
  const { login: _, ...old } = kept;
  writeFileSync(path, `${JSON.stringify({ n, draft: { ...old, account: null } })}\n`);
  for (const login of [{}, await mute(world, 1)])
    expect(await run(`drafts approve 1 --digest ${digest}`, login)).toMatchObject({ exitCode: 2 });
  const nobody: RunOptions = { env: { SVC_API_KEY: '' } };
  expect(await json<Shown[]>('drafts list', nobody)).toMatchObject([{ id: 1, body: 'Canary' }]);
  expect(await run(`drafts approve 1 --digest ${digest}`, nobody)).toMatchObject({ exitCode: 4 });
  expect(await run('drafts edit 1 --body Changed', nobody)).toMatchObject({ exitCode: 4, stdout: '' });
  expect(await json<Shown>('drafts show 1', nobody)).toMatchObject({ body: 'Canary', state: 'waiting' });
  await ok('drafts reject 1', nobody);
  expect(writesOf(world)).toEqual([]);
});

test('a login that cannot be opened is not nobody: no draft is listed, shown or rejected with it', async () => {
  const { draft, run, shown } = desk();
  await draft(entry, {});
  // Not over plain http to another machine.
  const unopened: RunOptions = { env: { SVC_BASE_URL: 'http://service.example', SVC_API_KEY: 'key_globex' } };
  for (const line of ['drafts list', 'drafts show 1', 'drafts reject 1']) {
    const ran = await run(line, unopened);
    expect([ran.exitCode, ran.stdout], `${line}: ${ran.stderr}`).toEqual([2, '']);
    expect(ran.stderr).not.toMatch(/Canary|Secret/u);
  }
  expect(await shown(1, {})).toMatchObject({ state: 'waiting' });
});

test('an assistant is told how many drafts may be of another account, and sees none of them', async () => {
  const { world, draft } = desk();
  await draft(entry);
  const { client, end } = await connected({ ...world, env: { ...world.env, ...envOf(await mute(world, 2)) } }, [
    '--draft-sends',
  ]);
  const told = JSON.stringify(await client.callTool({ name: 'listDrafts', arguments: {} }));
  await end();
  expect(told).toContain('1 draft may be of another account');
  expect(told).not.toContain('Canary');
});

test('an assistant whose login is not valid is told so, and not that there are no drafts', async () => {
  const { world, draft } = desk();
  await draft(entry);
  const { client, end } = await connected({ ...world, env: { ...world.env, SVC_API_KEY: 'nokey' } }, ['--draft-sends']);
  const told = await client.callTool({ name: 'listDrafts', arguments: {} });
  await end();
  expect(told).toMatchObject({ isError: true });
});

test('the rows of the inbox have the drafts of its account alone, and count the others', async () => {
  const world = await pulledWorld();
  const { draft, run, json, ok } = atDesk(world);
  await draft(entry, { env: { SVC_API_KEY: 'key_globex' } });
  await draft(entry, await mute(world, 2));
  expect(await json('inbox drafts')).toEqual([]);
  const { stderr } = await run('inbox drafts');
  expect(stderr).toContain('1 draft of other accounts');
  expect(stderr).toContain('1 draft may be of another account');
  const before = world.sent.length;
  await ok('inbox drafts');
  expect(world.sent.length).toBe(before);
});

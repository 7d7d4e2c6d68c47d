import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AuthWorld, authWorld, origin, storeOf } from '../auth/auth-world.ts';

// Without the scope identity nobody knows whose account a login is of. So its copy is its own: the next login of the
// same profile may be of another account.

async function logIn(world: AuthWorld, account: number): Promise<void> {
  const scopes = ['contacts:read'];
  const grant = await world.control('tokens', { account_id: account, scopes });
  const now = world.clock.now().getTime();
  const login = {
    base_url: origin,
    auth_url: origin,
    client_id: 'sandbox_cli',
    access_token: grant.access_token,
    refresh_token: grant.refresh_token,
    issued_at: new Date(now).toISOString(),
    expires_at: new Date(now + 3600_000).toISOString(),
    scopes,
  };
  await storeOf(world).update('profile/default/oauth', async () => JSON.stringify(login));
}

const countIn = async (world: AuthWorld, ...more: string[]) => {
  const ran = await world.svc(['mirror', 'sql', 'SELECT count(*) AS n FROM contacts', '--json', ...more]);
  return ran.exitCode === 0 ? JSON.parse(ran.stdout) : ran.stderr;
};

test('two logins of one profile whose account nobody knows share no copy', { tags: ['long'] }, async () => {
  const world = await authWorld();
  await logIn(world, 1);
  const first = await world.svc(['mirror', 'pull']);
  expect(first, first.stderr).toMatchObject({ exitCode: 0 });
  expect(await countIn(world)).toEqual([{ n: 0 }]);

  await logIn(world, 2);
  expect(await countIn(world)).toContain('There is no copy');
  const second = await world.svc(['mirror', 'pull']);
  expect(second, second.stderr).toMatchObject({ exitCode: 0 });
  expect(await countIn(world)).toEqual([{ n: 0 }]);
  const copies = (await readdir(join(world.folder, 'state'))).filter((name) => /^mirror.*\.db$/u.test(name));
  expect(copies).toHaveLength(2);
});

test('a file that holds the copy of one such login takes nothing of another, and says so', {
  tags: ['long'],
}, async () => {
  const world = await authWorld();
  const file = join(world.folder, 'copy.db');
  await logIn(world, 1);
  expect(await world.svc(['mirror', 'pull', '--db', file])).toMatchObject({ exitCode: 0 });
  await logIn(world, 2);
  const ran = await world.svc(['mirror', 'pull', '--db', file]);
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('is the copy of another account: that of a login without the scope identity');
  expect(await countIn(world, '--db', file)).toContain('another account');
});

test.each([['tickets waiting'], ['inbox'], ['inbox waiting'], ['report']])(
  'without a login, and with a copy of another account, svc %s says what mirror status says',
  { tags: ['long'] },
  async (line) => {
    const world = await authWorld();
    const asked = (env = {}) => world.svc(line.split(' '), { env });
    // A newcomer is told to log in, not to pull.
    const newcomer = await asked({ SVC_BASE_URL: undefined });
    expect(newcomer).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('Profile default is not logged in.'),
    });

    const file = join(world.folder, 'acme.db');
    await world.svc(['login', '--with-api-key'], { stdin: 'key_acme' });
    for (const more of [[], ['--db', file]])
      expect((await world.svc(['mirror', 'pull', '--only', 'lists', ...more])).exitCode).toBe(0);
    await world.svc(['logout']);
    expect(await asked()).toEqual(await world.svc(['mirror', 'status']));
    expect((await asked()).exitCode).toBe(4);

    await world.svc(['login', '--with-api-key'], { stdin: 'key_globex' });
    const other = await asked({ SVC_MIRROR_DB: file });
    expect(other).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('is the copy of another account: Acme'),
    });
  },
);

test('a logout names what stays on this machine, and the copy is deleted without a login, with all that is beside it', {
  tags: ['long'],
}, async () => {
  const world = await authWorld();
  const copies = async () => (await readdir(join(world.folder, 'state'))).filter((name) => name.startsWith('mirror'));
  const logInWith = async (key: string) =>
    expect((await world.svc(['login', '--with-api-key'], { stdin: key })).exitCode).toBe(0);
  await logInWith('key_acme');
  expect((await world.svc(['mirror', 'pull', '--only', 'lists'])).exitCode).toBe(0);
  const first = await world.svc(['logout']);
  const place = join(world.folder, 'state/mirror.db');
  const said = `Of Acme this stays on this machine: its copy (to delete it: svc mirror forget --db ${place}).`;
  expect(first.stderr).toContain(said);
  await logInWith('key_globex');
  expect((await world.svc(['mirror', 'pull', '--only', 'lists'])).exitCode).toBe(0);
  await world.svc(['logout']);

  const several = await world.svc(['mirror', 'forget', '--yes']);
  expect(several.exitCode).toBe(2);
  expect(several.stderr).toMatch(/more than one copy.+mirror\.db is of Acme, .+\.db is of Globex/u);
  const [other = ''] = (await copies()).filter((name) => /^mirror-.+\.db$/u.test(name));
  const file = join(world.folder, 'state', other);
  expect(await world.svc(['mirror', 'forget', '--db', file])).toMatchObject({ exitCode: 2 });
  expect(await world.svc(['mirror', 'forget', '--yes', '--db', file])).toMatchObject({ exitCode: 0 });
  const unasked = await world.svc(['mirror', 'forget']);
  expect(unasked.exitCode).toBe(2);
  expect(unasked.stderr).toContain('Refusing to delete the local copy of Acme (account 1) without confirmation');
  const deleted = await world.svc(['mirror', 'forget', '--yes']);
  expect(deleted).toMatchObject({
    exitCode: 0,
    stderr: expect.stringMatching(/mirror\.db, the copy of Acme \(account 1\)\./u),
  });
  expect(await copies()).toEqual([]);
  expect(await world.svc(['mirror', 'forget', '--yes'])).toMatchObject({ exitCode: 1 });
});

test.each(['SVC_API_KEY', 'SVC_ACCESS_TOKEN'])(
  'a logout names the copy that stays also where %s is set, be it of another account',
  async (variable) => {
    const world = await authWorld();
    await world.svc(['login', '--with-api-key', '--profile', 'z'], { stdin: 'key_acme' });
    await world.svc(['mirror', 'pull', '--only', 'lists', '--profile', 'z']);
    const place = join(world.folder, 'state', 'mirror.db');
    const { stderr, exitCode } = await world.svc(['logout', '--profile', 'z'], { env: { [variable]: 'key_globex' } });
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringContaining(`its copy (to delete it, without ${variable}: svc -p z mirror forget --db ${place}).`),
    ]);
    expect(await world.svc(['-p', 'z', 'mirror', 'forget', '--db', place, '--yes'])).toMatchObject({ exitCode: 0 });
  },
);

test('a logout offers no copy to delete that another profile of the account goes on using', async () => {
  const world = await authWorld();
  for (const profile of ['default', 'o'])
    await world.svc(['login', '--with-api-key', '--profile', profile], { stdin: 'key_acme' });
  await world.svc(['login', '--with-api-key', '--profile', 'gx'], { stdin: 'key_globex' });
  await world.svc(['mirror', 'pull', '--only', 'lists']);
  const { stderr } = await world.svc(['logout', '--profile', 'o']);
  expect(stderr).toContain('Of Acme this stays on this machine: its copy (which profile default uses too).');
  await world.svc(['login', '--with-api-key', '--profile', 'o'], { stdin: 'key_acme' });
  const all = await world.svc(['logout', '--all', '--yes']);
  expect(all.stderr).toContain('Of Acme this stays on this machine: its copy (to delete it: svc mirror forget --db ');
  expect(all.stderr).not.toContain('uses too');
});

test('forget takes no copy of another account for that of a profile that is unknown, logged out, or beside others', async () => {
  const world = await authWorld();
  const copies = async () => (await readdir(join(world.folder, 'state'))).filter((name) => name.startsWith('mirror'));
  await world.svc(['login', '--with-api-key'], { stdin: 'key_acme' });
  await world.svc(['mirror', 'pull', '--only', 'lists']);
  const forget = (more: string[], env = {}) => world.svc(['mirror', 'forget', '--yes', ...more], { env });
  const unknown = await forget(['--profile', 'tpyo']);
  expect(unknown).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('Profile tpyo is not logged in.') });
  expect(unknown.stderr).toContain('mirror forget --db FILE');
  expect(await forget([], { SVC_PROFILE: 'tpyo', SVC_MIRROR_DB: 'state/mirror.db' })).toMatchObject({ exitCode: 4 });
  expect(await forget(['--profile', 'tpyo'], { SVC_API_KEY: 'key_acme' })).toMatchObject({ exitCode: 2 });
  await world.svc(['login', '--with-api-key', '--profile', 'gx'], { stdin: 'key_globex' });
  await world.svc(['logout', '--profile', 'default']);
  expect(await forget([])).toMatchObject({ exitCode: 4 });
  await world.svc(['logout', '--profile', 'gx']);
  expect(await forget(['--profile', 'gx'])).toMatchObject({ exitCode: 4 });
  expect(await copies()).toContain('mirror.db');
  expect(await forget(['--profile', 'gx', '--db', join(world.folder, 'state/mirror.db')])).toMatchObject({
    exitCode: 0,
  });
  expect(await copies()).toEqual([]);
});

test('a damaged copy counts as one of several, and where it may be another account’s only --db deletes it', async () => {
  const world = await authWorld();
  const [first, broken] = ['mirror.db', 'mirror-0123456789ab.db'].map((name) => join(world.folder, 'state', name)) as [
    string,
    string,
  ];
  await world.svc(['login', '--with-api-key'], { stdin: 'key_acme' });
  await world.svc(['mirror', 'pull', '--only', 'lists']);
  await world.svc(['logout']);
  const forget = (...more: string[]) => world.svc(['mirror', 'forget', '--yes', ...more]);
  await writeFile(broken, 'no database\n'.repeat(400));
  const several = await forget();
  expect(several).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('mirror.db is of Acme, ') });
  expect(several.stderr).toContain('mirror-0123456789ab.db is damaged');
  expect(await forget('--db', first)).toMatchObject({ exitCode: 0 });
  expect(await forget()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`forget --db ${broken}`) });
  // A login is no proof either: the file may be that of another account.
  await world.svc(['login', '--with-api-key'], { stdin: 'key_globex' });
  expect(await forget()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`forget --db ${broken}`) });
  expect(await readdir(join(world.folder, 'state'))).toContain('mirror-0123456789ab.db');
  expect(await forget('--db', broken)).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Deleted') });
  expect(await readdir(join(world.folder, 'state'))).not.toContain('mirror-0123456789ab.db');
});

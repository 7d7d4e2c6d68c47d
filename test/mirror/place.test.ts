import { execFileSync } from 'node:child_process';
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, test } from 'vitest';
import { placeOf } from '../../src/database/postgres.ts';
import { parseEntry } from '../../src/disk/lock/lock-entry.ts';
import { savePosition } from '../../src/mirror/store/changes.ts';
import { keepFirstRows } from '../../src/mirror/store/first-rows.ts';
import { snooze } from '../../src/mirror/store/snoozes.ts';
import { buildSvc } from '../built.ts';
import { heldElsewhere, thief } from '../locks.ts';
import { allowed } from '../real-machine.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';
import { json, ok, onBothEngines, sql } from './engines.ts';
import { type PostgresServer, sharedPostgres, withPostgres } from './postgres-server.ts';
import { inCopy } from './truth.ts';

const realClock = {
  now: () => new Date(),
  ticks: () => performance.now(),
  sleep: (ms: number) => new Promise<void>((done) => setTimeout(done, ms)),
};

const world = () => sandboxWorld({ rateLimit: 'off' });
const copyOf = (folder: string) => join(folder, 'state', 'mirror.db');

describe('where the copy is', () => {
  test('in the state folder, readable by its owner alone', async () => {
    const one = world();
    await ok(one, 'mirror pull --only lists');
    expect(statSync(copyOf(one.folder)).mode & 0o777).toBe(0o600);
  });

  test('in a file that --db or SVC_MIRROR_DB names', async () => {
    const one = world();
    const file = join(one.folder, 'deep', 'copy.db');
    await ok(one, ['mirror', 'pull', '--only', 'lists', '--db', file]);
    const named = { ...one, env: { ...one.env, SVC_MIRROR_DB: file } };
    expect(await sql(named, 'SELECT count(*) AS n FROM lists')).toEqual([{ n: 3 }]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test.each([['postgres://ada:geheim@localhost/copy'], ['postgresql://localhost/copy?user=ada&password=geheim']])(
    '--db %s is refused, for others can read it, and the password is not shown',
    async (url) => {
      const ran = await svc(world(), ['mirror', 'pull', '--db', url]);
      expect(ran.exitCode).toBe(2);
      expect(ran.stderr).toContain('PGPASSWORD');
      expect(ran.stderr + ran.stdout).not.toContain('geheim');
    },
  );

  test('a password of SVC_MIRROR_DB is in no message, with --debug either', async () => {
    const env = { SVC_MIRROR_DB: 'postgres://ada:geheim@127.0.0.1:9/copy' };
    const ran = await svc(world(), ['mirror', 'pull', '--debug'], { env });
    expect(ran.exitCode).toBe(10);
    expect(ran.stderr).toContain('postgres://127.0.0.1:9/copy');
    expect(ran.stderr + ran.stdout).not.toContain('geheim');
    expect(placeOf({ host: 'h', port: 5432, database: 'd', user: 'u', password: 'geheim' })).toBe(
      'postgres://h:5432/d',
    );
  });

  test('a postgres:// URL in SVC_MIRROR_DB that cannot be read is exit 2, and is not shown', async () => {
    const env = { SVC_MIRROR_DB: 'postgres://ada:geheim@localhost:99999/copy' };
    const ran = await svc(world(), ['mirror', 'pull'], { env });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('The postgres:// URL cannot be read.');
    expect(ran.stderr + ran.stdout).not.toContain('geheim');
  });

  test.each([
    '"postgres://ada:geheim@127.0.0.1:9/copy"',
    "'postgres://ada:geheim@127.0.0.1:9/copy'",
    ' postgres://ada:geheim@127.0.0.1:9/copy',
    'postgres://ada:geheim@127.0.0.1:9/copy\n',
    'postgres:/ada:geheim@127.0.0.1/copy',
    'postgres:ada:geheim@127.0.0.1/copy',
    'postgres//ada:geheim@127.0.0.1/copy',
    'ada:geheim@127.0.0.1/copy',
    'host=127.0.0.1 password=geheim dbname=copy',
    '"Server=127.0.0.1;Password=geheim"',
    'jdbc:postgresql://127.0.0.1/copy?password=geheim',
    ' ',
    '~/copy.db',
    '"copy.db"',
    'copy.db ',
  ])('%j names no file: exit 2, nothing made, nothing shown', async (place) => {
    const one = world();
    const here = readdirSync('.');
    for (const words of [
      ['mirror', 'pull', '--only', 'lists'],
      ['mirror', 'status', '--debug'],
      ['mirror', 'schema'],
    ]) {
      const env = { SVC_MIRROR_DB: place };
      for (const ran of [await svc(one, words, { env }), await svc(one, [...words, '--db', place])]) {
        expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
        expect(ran.stderr).not.toContain('geheim');
      }
    }
    expect(readdirSync('.')).toEqual(here);
  });

  test.each(['status', 'changes', 'forget --yes'])(
    'an empty file of somebody’s stays as it is: mirror %s',
    async (words) => {
      const one = world();
      const file = join(one.folder, 'empty.db');
      writeFileSync(file, '', { mode: 0o644 });
      const ran = await svc(one, ['mirror', ...words.split(' '), '--db', file]);
      expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('There is no copy') });
      expect([readdirSync(one.folder), statSync(file).size, statSync(file).mode & 0o777]).toEqual([
        expect.not.arrayContaining(['empty.db.busy']),
        0,
        0o644,
      ]);
    },
  );

  test('another kind of database is exit 2', async () => {
    expect((await svc(world(), ['mirror', 'pull', '--db', 'mysql://localhost/x'])).exitCode).toBe(2);
  });
});

describe('a PostgreSQL that asks for a password', () => {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    server = await sharedPostgres();
    server?.sql('postgres', "CREATE ROLE locked LOGIN PASSWORD 'very: secret'");
    server?.sql('postgres', 'CREATE DATABASE locked OWNER locked');
  });
  const url = () => server?.url('locked').replace('user=svc', 'user=locked') ?? '';
  const asProcess = async (env: NodeJS.ProcessEnv) => {
    const built = await buildSvc();
    const words = ['sandbox', 'exec', '--', 'sh', '-c', 'SVC_MIRROR_DB="$COPY" svc mirror pull --only lists'];
    const ran = await execa(process.execPath, [built.script, ...words], {
      env: { PATH: process.env.PATH, HOME: built.folder, COPY: url(), ...env },
      extendEnv: false,
      reject: false,
    });
    await built.remove();
    return ran;
  };
  const here = (env: NodeJS.ProcessEnv) => {
    const one = world();
    return svc(one, ['mirror', 'pull', '--only', 'lists'], {
      env: { HOME: one.folder, SVC_MIRROR_DB: url(), ...env },
    });
  };
  /** What .pgpass says is known to a process alone. */
  const pull = async (env: NodeJS.ProcessEnv, how: typeof here | typeof asProcess = asProcess) => {
    const { exitCode, stdout, stderr } = await how(env);
    expect(stdout + stderr).not.toContain('secret');
    return { exitCode, stderr };
  };
  const withPasswords = (text: string) => {
    const file = join(mkdtempSync(join(tmpdir(), 'svc-pass-')), '.pgpass');
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };

  withPostgres(test)('is given that of .pgpass, or of PGPASSWORD', { tags: ['long'] }, async () => {
    const file = withPasswords('# ours\n*:*:other:locked:wrong\n*:*:locked:locked:very\\: secret\n');
    const runs = [
      pull({ PGPASSFILE: file }),
      pull({ PGPASSWORD: 'very: secret' }, inTurn([asProcess], 1, 2)[0] ?? here),
    ];
    for (const { exitCode, stderr } of await Promise.all(runs))
      expect([exitCode, stderr]).toEqual([0, expect.anything()]);
  });

  withPostgres(test)('without one is exit 4, with the ways to give it', { tags: ['long'] }, async () => {
    const { exitCode, stderr } = await pull({});
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/asks for a password, and none is given[\s\S]*PGPASSWORD, in \.pgpass/u);
  });
});

/** Takes the rest of the disk but `free` bytes: the engines need different amounts. */
function fill(path: string, free: number): void {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch {
    ftruncateSync(file, fstatSync(file).size - free);
  } finally {
    closeSync(file);
  }
}

describe('a database that cannot be used', () => {
  test('is not touched where it is damaged, and can be deleted', async () => {
    const one = world();
    mkdirSync(join(one.folder, 'state'), { recursive: true });
    writeFileSync(copyOf(one.folder), 'This is no database at all, but it is long enough.\n'.repeat(400));
    const before = readFileSync(copyOf(one.folder), 'utf8');
    for (const line of [
      ['mirror', 'pull'],
      ['mirror', 'sql', 'SELECT 1'],
      ['mirror', 'status'],
    ]) {
      const ran = await svc(one, line);
      expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining('is damaged')]);
    }
    expect(readFileSync(copyOf(one.folder), 'utf8')).toBe(before);
    expect((await svc(one, ['mirror', 'forget'])).exitCode).toBe(2);
    await ok(one, 'mirror forget --yes');
    await ok(one, 'mirror pull --only lists');
  });

  test('is named where somebody else has it', { tags: ['long'] }, async () => {
    const one = world();
    await ok(one, 'mirror pull --only lists');
    const giveBack = heldElsewhere(`${copyOf(one.folder)}.busy`);
    const ran = await svc(one, ['mirror', 'status', '--max-wait', '5']);
    giveBack();
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain(`process ${parseEntry(thief)?.pid}`);
    await ok(one, 'mirror status');
  });

  test('is waited for no longer than --max-wait, and a question that the service can answer for ten seconds at most', {
    tags: ['long'],
  }, async () => {
    const one = world();
    await ok(one, 'mirror pull --only contacts');
    const giveBack = heldElsewhere(`${copyOf(one.folder)}.busy`);
    const took = async (...line: string[]) => {
      const began = one.clock.now().getTime();
      const ran = await svc(one, line);
      return { ...ran, ms: one.clock.now().getTime() - began };
    };
    try {
      for (const what of [['status'], ['sql', 'SELECT 1'], ['search', 'x'], ['pull']]) {
        const ran = await took('mirror', ...what, '--max-wait', '3');
        expect([what, ran.exitCode, ran.ms >= 3000 && ran.ms < 3500]).toEqual([what, 1, true]);
        expect(ran.stderr).toContain('has had the copy for more than 3 s');
      }
      for (const [words, least] of [
        [[], 10_000],
        [['--max-wait', '2'], 2000],
      ] as const) {
        const ran = await took('contacts', 'get', 'yara.kim@fieldnote.test', ...words);
        expect([ran.exitCode, ran.ms >= least && ran.ms < least + 1000]).toEqual([0, true]);
        expect(ran.stderr).toContain('Asking the service.');
      }
    } finally {
      giveBack();
    }
  });

  test('needs no current folder', { tags: ['long'] }, async () => {
    const built = await buildSvc();
    const [state, gone] = [join(built.folder, 'state'), join(built.folder, 'gone')];
    for (const folder of [state, gone]) mkdirSync(folder);
    // The shell stands in a folder that is removed under its feet.
    const script = `cd '${gone}' && rmdir '${gone}' && exec '${process.execPath}' '${built.script}' mirror pull --db '${state}/none.db' --base-url http://127.0.0.1:9`;
    writeFileSync(join(state, 'none.db'), '');
    const ran = await execa('sh', ['-c', script], {
      env: {
        PATH: process.env.PATH,
        HOME: built.folder,
        SVC_STATE_DIR: state,
        SVC_CONFIG_DIR: state,
        SVC_API_KEY: 'k',
      },
      extendEnv: false,
      reject: false,
    });
    await built.remove();
    expect(ran.stderr).not.toContain('cwd');
    expect(ran.exitCode).toBe(10);
  });

  test('is not held up by a lock that a killed process of the library left', { tags: ['long'] }, async () => {
    const one = world();
    await ok(one, 'mirror pull --only lists');
    mkdirSync(`${copyOf(one.folder)}.lock`);
    await ok(one, 'mirror pull --only lists');
    expect(await sql(one, 'SELECT count(*) AS n FROM lists')).toEqual([{ n: 3 }]);
  });

  const onDisk = allowed('Mounting a disk', 'unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt');
  onDisk('a full disk ends the pull, and what was stored stays', { tags: ['long'] }, async () => {
    const disk = mkdtempSync(join(tmpdir(), 'svc-disk-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk]);
    try {
      const one = { ...world(), folder: disk };
      await ok(one, 'mirror pull --only lists');
      fill(join(disk, 'filler'), 200_000);
      const ran = await svc(one, ['mirror', 'pull']);
      expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining('the disk is full')]);
      execFileSync('mount', ['-o', 'remount,size=30m', disk]);
      expect(await sql(one, 'SELECT count(*) AS n FROM lists')).toEqual([{ n: 3 }]);
      await ok(one, 'mirror pull');
      expect(await sql(one, 'SELECT count(*) AS n FROM contacts')).toEqual([{ n: 264 }]);
    } finally {
      execFileSync('umount', ['-l', disk]);
    }
  });
});

onBothEngines('the schema', ({ test, once, world: fresh, engine, server }) => {
  const change = async (one: ReturnType<typeof fresh>, ...statements: string[]) => {
    if (engine === 'postgres') {
      const database = new URL(String(one.env.SVC_MIRROR_DB)).pathname.slice(1);
      for (const text of statements) server().sql(database, `SET search_path TO svc_mirror; ${text}`);
      return;
    }
    const { Database } = createRequire(import.meta.url)('node-sqlite3-wasm') as typeof import('node-sqlite3-wasm');
    const database = new Database(copyOf(one.folder));
    // Alone it can also read what Node's own SQLite wrote.
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    for (const text of statements) database.exec(text);
    database.close();
  };

  test('of a newer svc is refused, and left as it is', async () => {
    const one = fresh();
    await ok(one, 'mirror pull --only lists');
    await change(one, 'UPDATE svc_schema SET version = 99');
    for (const line of [
      ['mirror', 'pull'],
      ['mirror', 'sql', 'SELECT 1'],
      ['mirror', 'forget', '--yes'],
    ]) {
      const ran = await svc(one, line);
      expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining('newer svc')]);
    }
  });

  test('of an older svc gets the fields that the service has got since, filled from what is kept', async () => {
    const one = fresh({ seed: few });
    await ok(one, 'mirror pull --only tickets');
    const before = await sql(one, 'SELECT id, source, due_at FROM tickets ORDER BY id');
    await change(one, "UPDATE svc_schema SET columns = 'as they were'");
    await change(one, 'ALTER TABLE tickets DROP COLUMN source', 'ALTER TABLE tickets DROP COLUMN due_at');
    expect(await sql(one, 'SELECT id, source, due_at FROM tickets ORDER BY id')).toEqual(before);
    await ok(one, 'mirror pull --only tickets');
  });

  once('forget asks, and deletes the whole copy where it is the last', async () => {
    const one = fresh();
    await ok(one, 'mirror pull --only lists');
    expect((await svc(one, ['mirror', 'forget'])).exitCode).toBe(2);
    expect((await svc(one, ['mirror', 'forget'], { columns: 80, answers: [false] })).exitCode).toBe(1);
    expect((await ok(one, 'mirror forget', { columns: 80, answers: [true] })).stderr).toContain('Deleted');
    expect((await svc(one, ['mirror', 'status'])).exitCode).toBe(1);
  });

  test('forget leaves nothing where the copy was worked in: what was put away, and what the queue began with', async () => {
    const one = fresh({ seed: few });
    await ok(one, 'mirror pull --only tickets');
    await inCopy(one, async (store, account) => {
      await snooze(store, account, [{ kind: 'ticket', id: 1, until: null, since: '2026-01-01T00:00:00Z', by: 'sam' }]);
      await keepFirstRows(store, account, 'waiting', '[]');
      await store.write((sql) => savePosition(sql, account, 'crm', 1));
    });
    const refused = await svc(one, ['mirror', 'forget']);
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringMatching(
        /^Error: Refusing to delete the local copy of account 1, with 1 snooze and 1 position of svc watch without/u,
      ),
    ]);
    const { stderr } = await ok(one, 'mirror forget --yes');
    expect(stderr).toContain(', the copy of account 1, with 1 snooze and 1 position of svc watch.');
    expect(stderr).not.toContain('stays');
    if (engine === 'sqlite')
      expect(readdirSync(join(one.folder, 'state')).filter((name) => name.endsWith('.db'))).toEqual([]);
    else {
      const { pathname } = new URL(String(one.env.SVC_MIRROR_DB));
      expect(server().sql(pathname.slice(1), "SELECT 1 FROM pg_namespace WHERE nspname = 'svc_mirror'")).toBe('');
    }
  });

  test('two accounts live side by side, and their pulls run at the same time', { tags: ['long'] }, async () => {
    const one = fresh();
    const other = { ...one, env: { ...one.env, SVC_API_KEY: 'key_globex' } };
    await Promise.all([ok(one, 'mirror pull --only contacts'), ok(other, 'mirror pull --only contacts')]);
    const rows = async (world: typeof one) =>
      ((await json(world, 'mirror status')) as { kinds: { kind: string; rows: number }[] }).kinds[0]?.rows;
    expect(await rows(one)).toBe(264);
    expect(await rows(other)).not.toBe(264);
  });

  test('two pulls of one account take turns', { tags: ['long'] }, async () => {
    // Waits for something that takes real time.
    const own = fresh({ seed: few });
    const one = { ...own, clock: { ...own.clock, ...realClock } };
    const pull = () => svc(one, ['mirror', 'pull', '--only', 'tickets']);
    const ran = await Promise.all([pull(), pull()]);
    expect(ran.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    const gets = one.sent.filter((line) => line.startsWith('GET /tickets/8'));
    expect(gets).toHaveLength(1);
  });

  test('a pull waits for another no longer than --max-wait', { tags: ['long'] }, async () => {
    const world = fresh();
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let began = () => {};
    const inside = new Promise<void>((resolve) => {
      began = resolve;
    });
    const slow: typeof world.exchange = async (request) => {
      if (request.url.includes('/contacts?')) {
        began();
        await gate;
      }
      return world.exchange(request);
    };
    const first = svc({ ...world, exchange: slow }, ['mirror', 'pull', '--only', 'contacts']);
    await inside;
    const second = await svc({ ...world, clock: { ...world.clock, ...realClock } }, [
      ...['mirror', 'pull', '--max-wait', '0'],
    ]);
    open();
    expect(second).toMatchObject({ exitCode: 1, stdout: '' });
    // The first one may also be writing to its file at this moment.
    expect(second.stderr).toMatch(/the copy(?: of this account)? for more than 0 s\./u);
    expect((await first).exitCode).toBe(0);
  });
});

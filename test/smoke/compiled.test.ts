// @module-tag long
// The compiled code that bin/chunks.js keeps: where it may lie, who may have written it, and that damage changes nothing.
import { statSync } from 'node:fs';
import { chmod, link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';
import { allowed } from '../real-machine.ts';

/** The Node that runs the built tool: this one, or the one that CI names. */
const node = process.env.SVC_TEST_NODE ?? process.execPath;

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

/**
 * The home of a user of their own: only the password database names it, so each run gets one of its own. Whoever is not root
 * becomes it alone there, and finds the folders above their own in nobody's hands, where svc keeps nothing.
 */
const atHome = allowed(
  'A password database of a test, as root,',
  'unshare',
  '-rm',
  'sh',
  '-c',
  'mount --bind /etc/hosts /etc/passwd && [ "$(stat -c %u /)" = 0 ]',
);

const freshFolder = () => mkdtemp(join(built.folder, 'home-'));

type Where = { readonly env?: Record<string, string | undefined>; readonly cwd?: string };

async function svc(home: string, argv: string[], { env, cwd = '/' }: Where = {}) {
  const users = `${home}.passwd`;
  await writeFile(users, `root:x:0:0:root:${home}:/bin/sh\n`);
  const line = 'mount --bind "$1" /etc/passwd && shift && exec "$@"';
  return execa('unshare', ['-rm', 'sh', '-c', line, 'sh', users, node, built.script, ...argv], {
    reject: false,
    stdin: 'ignore',
    cwd,
    env: {
      SVC_CONFIG_DIR: join(built.folder, 'config'),
      SVC_STATE_DIR: join(built.folder, 'state'),
      NODE_DISABLE_COMPILE_CACHE: undefined,
      CI: undefined,
      ...env,
    },
  });
}

const keptBelow = (home: string) => join(home, '.cache', 'svc');

/** The one file of compiled code of a user. */
async function keptIn(home: string): Promise<string> {
  const names = (await readdir(keptBelow(home))).filter((name) => name.startsWith('compiled-'));
  expect(names).toHaveLength(1);
  return join(keptBelow(home), names[0] ?? '');
}

async function runsAsEver(home: string, where?: Where): Promise<void> {
  const ran = await svc(home, ['config', 'list', '--json'], where);
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(ran.stdout)).toHaveLength(12);
}

atHome('the first run keeps its compiled code for the owner alone, and the next one writes nothing', async () => {
  const home = await freshFolder();
  await runsAsEver(home);
  const path = await keptIn(home);
  const first = await stat(path);
  expect(first.mode & 0o777).toBe(0o600);
  expect(first.size).toBeGreaterThan(50_000);
  await runsAsEver(home);
  expect((await stat(path)).ino).toBe(first.ino);
});

atHome('a further command adds its chunks to those that are kept', async () => {
  const home = await freshFolder();
  await runsAsEver(home);
  const before = await readFile(await keptIn(home), 'latin1');
  expect((await svc(home, ['alias', 'list'])).exitCode).toBe(0);
  const after = await readFile(await keptIn(home), 'latin1');
  expect(after.length).toBeGreaterThan(before.length);
  for (const chunk of ['core-', 'config-']) expect(after).toContain(chunk);
});

atHome('questions to the copy keep no code that the next command could not use', async () => {
  const home = await freshFolder();
  const asked = ['contacts find ada@example.com', "mirror sql 'SELECT name FROM contacts'", 'alias list'];
  const line = [
    '"$0" "$1" mirror pull --only contacts --quiet >&2',
    'for time in 1 2 3; do',
    ...asked.map((words) => `"$0" "$1" ${words} >&2`),
    `stat -c %y ${keptBelow(home)}/compiled-*`,
    'done',
  ].join('\n');
  const env = { SVC_STATE_DIR: join(home, 'state') };
  const ran = await svc(home, ['sandbox', 'exec', '--rate-limit', 'off', '--', 'sh', '-ec', line, node, built.script], {
    env,
  });
  expect(ran).toMatchObject({ exitCode: 0 });
  const [, second, third] = ran.stdout.split('\n');
  expect(third).toBe(second);
  expect(ran.stderr).toContain('From the local copy');
});

atHome('a file that is damaged changes nothing, and is whole again afterwards', async () => {
  const home = await freshFolder();
  await runsAsEver(home);
  const path = await keptIn(home);
  const good = await readFile(path);
  for (const bytes of [good.subarray(0, 5000), Buffer.from('{"not": "ours"}'), flipped(good, good.length >> 1)]) {
    await writeFile(path, bytes);
    await runsAsEver(home);
    expect((await readFile(path)).equals(bytes)).toBe(false);
    await runsAsEver(home);
  }
});

const flipped = (good: Buffer, at: number): Buffer => {
  const bytes = Buffer.from(good);
  bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  return bytes;
};

test('whichever byte is damaged, and wherever it is cut off, code is compiled again', async () => {
  const kept = await keptAnswers();
  await kept.write('exports.answer = () => 1;');
  expect(kept.answer()).toEqual({ said: 1, compiled: true });
  expect(kept.answer()).toEqual({ said: 1, compiled: false });
  const good = await readFile(kept.path);
  const places = Array.from(good, (_, at) => at);
  for (const bytes of [...places.map((at) => flipped(good, at)), ...places.map((at) => good.subarray(0, at))]) {
    await writeFile(kept.path, bytes, { mode: 0o600 });
    expect(kept.answer()).toEqual({ said: 1, compiled: true });
  }
});

test('a whole index that holds no chunks, or none that can be, is as good as none', async () => {
  const kept = await keptAnswers();
  await kept.write('exports.answer = () => 1;');
  kept.answer();
  const good = await readFile(kept.path);
  for (const text of ['null', '7', '""', '[]', '{"main.cjs":null}', '{"main.cjs":{"from":25,"at":-1,"length":1e99}}']) {
    const [top, index] = [Buffer.from(good.subarray(0, 16)), Buffer.from(text)];
    top.writeUInt32LE(index.length, 8);
    top.writeUInt32LE(crc32(index), 12);
    await writeFile(kept.path, Buffer.concat([top, index, good]), { mode: 0o600 });
    expect(kept.answer(), text).toEqual({ said: 1, compiled: true });
  }
});

test('what another command calls of a chunk that is kept is kept with it', async () => {
  const { chunksIn, openStore } = createRequire(import.meta.url)(join(built.script, '..', 'chunks.js'));
  const [folder, state] = [await freshFolder(), await freshFolder()];
  const path = join(state, 'compiled-test');
  const sum = `1${' + 1'.repeat(50)}`;
  await writeFile(join(folder, 'main.cjs'), `exports.one = () => ${sum};\nexports.other = (a, b) => a * b + ${sum};`);
  await writeFile(join(folder, 'more.cjs'), 'exports.more = () => 2;');
  const keptOfMain = async (run: (load: (name: string) => Record<string, (...n: number[]) => number>) => unknown) => {
    const store = openStore(path, folder);
    run(chunksIn(folder, store));
    store.save();
    const bytes = await readFile(path);
    const index = bytes.subarray(16, 16 + bytes.readUInt32LE(8));
    return JSON.parse(index.toString())['main.cjs'].length as number;
  };
  const first = await keptOfMain((load) => load('main.cjs').one?.());
  const second = await keptOfMain((load) => load('main.cjs').other?.(load('more.cjs').more?.() ?? 0, 3));
  expect(second).toBeGreaterThan(first);
});

atHome('code that others could have written is not run', async () => {
  const home = await freshFolder();
  await runsAsEver(home);
  const path = await keptIn(home);
  const open = () => chmod(path, 0o666);
  const linked = () => link(path, join(home, 'of-somebody-else'));
  for (const expose of [open, linked]) {
    await expose();
    const { ino } = await stat(path);
    await runsAsEver(home);
    const after = await stat(path);
    expect(after.ino).not.toBe(ino);
    expect(after.mode & 0o777).toBe(0o600);
  }
});

atHome('a link, a pipe or a folder in its place holds nothing up', async () => {
  const home = await freshFolder();
  await runsAsEver(home);
  const path = await keptIn(home);
  const elsewhere = join(home, 'elsewhere');
  await writeFile(elsewhere, await readFile(path), { mode: 0o600 });
  await rm(path);
  await symlink(elsewhere, path);
  await runsAsEver(home);
  await rm(path, { force: true });
  await execa('mkfifo', [path]);
  await runsAsEver(home);
  await rm(path, { force: true });
  await mkdir(path);
  await runsAsEver(home);
});

atHome('where nothing can be written, svc runs and says nothing', async () => {
  const home = await freshFolder();
  await writeFile(join(home, '.cache'), '');
  await runsAsEver(home);
});

atHome('a disk that is full is no matter, and leaves nothing half written', async () => {
  const home = await freshFolder();
  const users = `${home}.passwd`;
  await writeFile(users, `root:x:0:0:root:${home}:/bin/sh\n`);
  const line = 'mount --bind "$1" /etc/passwd && shift && ulimit -f 8 && exec "$@"';
  const env = {
    SVC_STATE_DIR: home,
    SVC_CONFIG_DIR: `${home}/c`,
    NODE_DISABLE_COMPILE_CACHE: undefined,
    CI: undefined,
  };
  const argv = ['-rm', 'sh', '-c', line, 'sh', users, node, built.script, 'config', 'list', '--json'];
  const ran = await execa('unshare', argv, { reject: false, env: { ...env, SVC_STATE_DIR: `${home}/s` } });
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await readdir(keptBelow(home))).toEqual([]);
});

atHome('a home that is not there is not made', async () => {
  const home = join(await freshFolder(), 'nobody');
  await runsAsEver(home);
  await expect(stat(home)).rejects.toThrow('ENOENT');
});

describe('it is kept in the cache folder of the home that the password database names, and no variable moves it', () => {
  atHome('not HOME, XDG_CACHE_HOME, SVC_STATE_DIR or SVC_CONFIG_DIR', async () => {
    const home = await freshFolder();
    const project = await freshFolder();
    const env = { HOME: project, XDG_CACHE_HOME: project, SVC_STATE_DIR: project, SVC_CONFIG_DIR: project };
    await runsAsEver(home, { env, cwd: project });
    await keptIn(home);
    expect(await readdir(project)).toEqual([]);
  });

  atHome('also for who works in their home or above it', async () => {
    for (const folder of ['.', '..']) {
      const home = await freshFolder();
      await runsAsEver(home, { cwd: join(home, folder) });
      await keptIn(home);
    }
  });
});

describe('nothing is kept, and what is there is not believed,', () => {
  const nothing = async (home: string, where?: Where) => {
    const before = await readdir(home, { recursive: true });
    await runsAsEver(home, where);
    expect(await readdir(home, { recursive: true })).toEqual(before);
  };

  atHome.each(['1', 'true', 'woodpecker'])('where CI is %s', async (CI) => {
    await nothing(await freshFolder(), { env: { CI } });
  });

  atHome('where Node’s own variable switches it off', async () => {
    await nothing(await freshFolder(), { env: { NODE_DISABLE_COMPILE_CACHE: '1' } });
  });

  atHome.each(['SVC_STATE_DIR', 'SVC_CONFIG_DIR'])(
    'where the cache folder is below %s, also through a link',
    async (name) => {
      const home = await freshFolder();
      await mkdir(keptBelow(home), { recursive: true });
      const linked = `${home}-linked`;
      await symlink(join(home, '.cache'), linked);
      for (const folder of [join(home, '.cache'), keptBelow(home), linked])
        await nothing(home, { env: { [name]: folder } });
    },
  );

  atHome('where the working directory is the cache folder or holds it, below the home', async () => {
    const home = await freshFolder();
    await mkdir(keptBelow(home), { recursive: true });
    for (const cwd of [join(home, '.cache'), keptBelow(home)]) await nothing(home, { cwd });
  });

  atHome('where a link leads the cache folder into the working directory', async () => {
    const home = await freshFolder();
    const project = await freshFolder();
    await mkdir(dirname(keptBelow(home)), { recursive: true });
    await symlink(project, keptBelow(home));
    await nothing(home, { cwd: project });
    expect(await readdir(project)).toEqual([]);
  });

  atHome('where others may write to the cache folder or to one above it', async () => {
    for (const open of ['', '.cache', '.cache/svc']) {
      const home = await freshFolder();
      await mkdir(keptBelow(home), { recursive: true });
      await chmod(join(home, open), 0o777);
      await nothing(home);
      await chmod(join(home, open), 0o775);
      await nothing(home);
    }
  });
});

/** A file of compiled code that is whole in every way, and whose code is not that of the source beside it. */
const planting = `
  const { readFileSync } = require('node:fs');
  const { dirname, join } = require('node:path');
  const { Script } = require('node:vm');
  const [script, path] = process.argv.slice(1);
  const dist = join(dirname(script), '..', 'dist');
  const { wrapped } = require(join(dirname(script), 'chunks.js'));
  const source = readFileSync(join(dist, 'main.cjs'));
  const says = Buffer.alloc(source.length, ' ');
  says.write('require("node:fs").writeSync(1, "PLANTED");process.exit(0)//');
  const code = new Script(wrapped(says), { filename: join(dist, 'main.cjs') }).createCachedData();
  require(join(dirname(script), 'keep.js')).keep(path, dist, { 'main.cjs': { source, code } });
`;

atHome(
  'planted code runs from the cache folder alone, where the user themselves put it, and from no place of a project',
  async () => {
    const [home, project] = [await freshFolder(), await freshFolder()];
    await runsAsEver(home);
    const name = (await keptIn(home)).slice(keptBelow(home).length + 1);
    const plant = async (folder: string) => {
      await mkdir(folder, { recursive: true });
      await execa(node, ['-e', planting, built.script, join(folder, name)]);
    };
    for (const place of ['.svc-state', '.cache/svc', 'Library/Caches/svc', 'svc', '.'])
      await plant(join(project, place));
    const chosen = { SVC_STATE_DIR: '.svc-state', SVC_CONFIG_DIR: '.svc-state', HOME: project };
    for (const XDG_CACHE_HOME of [undefined, project, join(project, '.cache')]) {
      await runsAsEver(home, { cwd: project, env: { ...chosen, XDG_CACHE_HOME } });
      await runsAsEver(home, { cwd: join(project, '.cache'), env: { ...chosen, XDG_CACHE_HOME } });
    }
    await plant(keptBelow(home));
    expect((await svc(home, ['config', 'list'])).stdout).toBe('PLANTED');
  },
);

atHome('ten processes at once all run, and leave one whole file', async () => {
  const home = await freshFolder();
  await Promise.all(Array.from({ length: 10 }, () => runsAsEver(home)));
  const path = await keptIn(home);
  const { ino } = await stat(path);
  await runsAsEver(home);
  expect((await stat(path)).ino).toBe(ino);
});

test('another source of the same name and length is compiled, not taken for the one before', async () => {
  const kept = await keptAnswers();
  for (const said of [1, 2]) {
    await kept.write(`exports.answer = () => ${said};`);
    expect(kept.answer()).toEqual({ said, compiled: true });
    expect(kept.answer()).toEqual({ said, compiled: false });
  }
});

/** A bundle of one chunk, and what the functions of bin/chunks.js make of it. */
async function keptAnswers() {
  const { chunksIn, openStore } = createRequire(import.meta.url)(join(built.script, '..', 'chunks.js'));
  const [folder, state] = [await freshFolder(), await freshFolder()];
  const path = join(state, 'compiled-test');
  return {
    path,
    write: (source: string) => writeFile(join(folder, 'main.cjs'), source),
    answer() {
      const store = openStore(path, folder);
      const before = statSync(path, { throwIfNoEntry: false })?.ino;
      const said = chunksIn(folder, store)('main.cjs').answer();
      store.save();
      return { said, compiled: statSync(path).ino !== before };
    },
  };
}

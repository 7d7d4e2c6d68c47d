import { statSync } from 'node:fs';
import { chmod, link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';

/** The Node that runs the built tool: this one, or the one that CI names. */
const node = process.env.SVC_TEST_NODE ?? process.execPath;

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

const freshFolder = () => mkdtemp(join(built.folder, 'state-'));

const svc = (env: Record<string, string | undefined>, ...argv: string[]) =>
  execa(node, [built.script, ...argv], {
    reject: false,
    stdin: 'ignore',
    env: { SVC_CONFIG_DIR: join(built.folder, 'config'), NODE_DISABLE_COMPILE_CACHE: undefined, ...env },
  });

const listed = (env: Record<string, string | undefined>) => svc(env, 'config', 'list', '--json');

/** The one file of compiled code in a folder. */
async function keptIn(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('compiled-'));
  expect(names).toHaveLength(1);
  return join(folder, names[0] ?? '');
}

async function runsAsEver(state: string): Promise<void> {
  const ran = await listed({ SVC_STATE_DIR: state });
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  expect(JSON.parse(ran.stdout)).toHaveLength(8);
}

test('the first run keeps its compiled code for the owner alone, and the next one writes nothing', async () => {
  const state = await freshFolder();
  await runsAsEver(state);
  const path = await keptIn(state);
  const first = await stat(path);
  expect(first.mode & 0o777).toBe(0o600);
  expect(first.size).toBeGreaterThan(50_000);
  await runsAsEver(state);
  expect((await stat(path)).ino).toBe(first.ino);
});

test('a further command adds its chunks to those that are kept', async () => {
  const state = await freshFolder();
  await runsAsEver(state);
  const before = await readFile(await keptIn(state), 'latin1');
  expect((await svc({ SVC_STATE_DIR: state }, 'alias', 'list')).exitCode).toBe(0);
  const after = await readFile(await keptIn(state), 'latin1');
  expect(after.length).toBeGreaterThan(before.length);
  for (const chunk of ['core-', 'config-']) expect(after).toContain(chunk);
});

test('a file that is damaged changes nothing, and is whole again afterwards', async () => {
  const state = await freshFolder();
  await runsAsEver(state);
  const path = await keptIn(state);
  const good = await readFile(path);
  for (const bytes of [good.subarray(0, 5000), Buffer.from('{"not": "ours"}'), flipped(good, good.length >> 1)]) {
    await writeFile(path, bytes);
    await runsAsEver(state);
    expect((await readFile(path)).equals(bytes)).toBe(false);
    await runsAsEver(state);
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

test('code that others could have written is not run', async () => {
  const state = await freshFolder();
  await runsAsEver(state);
  const path = await keptIn(state);
  const open = () => chmod(path, 0o666);
  const linked = () => link(path, join(state, 'of-somebody-else'));
  for (const expose of [open, linked]) {
    await expose();
    const { ino } = await stat(path);
    await runsAsEver(state);
    const after = await stat(path);
    expect(after.ino).not.toBe(ino);
    expect(after.mode & 0o777).toBe(0o600);
  }
});

test('a link, a pipe or a folder in its place holds nothing up', async () => {
  const state = await freshFolder();
  await runsAsEver(state);
  const path = await keptIn(state);
  const elsewhere = join(state, 'elsewhere');
  await writeFile(elsewhere, await readFile(path), { mode: 0o600 });
  await rm(path);
  await symlink(elsewhere, path);
  await runsAsEver(state);
  await rm(path, { force: true });
  await execa('mkfifo', [path]);
  await runsAsEver(state);
  await rm(path, { force: true });
  await mkdir(path);
  await runsAsEver(state);
});

test('where nothing can be written, svc runs and says nothing', async () => {
  const file = join(await freshFolder(), 'a-file');
  await writeFile(file, '');
  await runsAsEver(join(file, 'below'));
});

test('a disk that is full is no matter, and leaves nothing half written', async () => {
  const state = await freshFolder();
  const line = 'ulimit -f 8; exec "$0" "$@"';
  const env = { SVC_STATE_DIR: state, SVC_CONFIG_DIR: state, NODE_DISABLE_COMPILE_CACHE: undefined };
  const ran = await execa('sh', ['-c', line, node, built.script, 'config', 'list', '--json'], { reject: false, env });
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await readdir(state)).toEqual([]);
});

test('a home that is not there is not made', async () => {
  const home = join(await freshFolder(), 'nobody');
  const ran = await listed({ HOME: home, XDG_CACHE_HOME: undefined, SVC_STATE_DIR: undefined });
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  await expect(stat(home)).rejects.toThrow('ENOENT');
});

test.runIf(process.platform === 'linux')('it lies in the user’s cache folder', async () => {
  const home = await freshFolder();
  await listed({ HOME: home, XDG_CACHE_HOME: undefined, SVC_STATE_DIR: undefined });
  await keptIn(join(home, '.cache', 'svc'));
});

test('Node’s own variable switches it off', async () => {
  const state = await freshFolder();
  await listed({ SVC_STATE_DIR: state, NODE_DISABLE_COMPILE_CACHE: '1' });
  expect(await readdir(state)).toEqual([]);
});

test('ten processes at once all run, and leave one whole file', async () => {
  const state = await freshFolder();
  await Promise.all(Array.from({ length: 10 }, () => runsAsEver(state)));
  const path = await keptIn(state);
  const { ino } = await stat(path);
  await runsAsEver(state);
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

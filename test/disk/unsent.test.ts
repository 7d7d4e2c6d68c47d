// What somebody wrote is somewhere afterwards, also where the state folder takes nothing.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { keepUnsent } from '../../src/disk/draft/unsent.ts';
import { desk, linear } from '../inbox/desk.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { type RunOptions, svc } from '../svc.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-unsent-test-'));
const temporary = join(folder, 'tmp');
mkdirSync(temporary);
const noFolder = join(folder, 'a-file');
writeFileSync(noFolder, '');
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rmSync(folder, { recursive: true }));

/** Node asks TMPDIR, and TEMP and TMP on Windows. */
const temporaryIn = (path: string) => {
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) vi.stubEnv(name, path);
};

const keep = (state: string) => keepUnsent({ files: { state }, clock: { now: () => new Date(0) } }, 'Dear Ann');

test('the state folder has it, where it takes it', async () => {
  const path = await keep(join(folder, 'state'));
  expect([dirname(path), readFileSync(path, 'utf8')]).toEqual([join(folder, 'state', 'unsent'), 'Dear Ann\n']);
});

test('else a folder among the temporary files that its owner alone can open', async () => {
  temporaryIn(temporary);
  const path = await keep(noFolder);
  expect([dirname(dirname(path)), readFileSync(path, 'utf8')]).toEqual([temporary, 'Dear Ann\n']);
  if (process.platform !== 'win32')
    expect([statSync(dirname(path)).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
});

test('where neither takes it that is said, and nothing is left behind', async () => {
  temporaryIn(noFolder);
  await expect(keep(noFolder)).rejects.toThrow();
  expect(readdirSync(folder).sort()).toEqual(['a-file', 'state', 'tmp']);
});

test.each([
  ['a file among the temporary ones is named', temporary, /What you wrote is kept in\s+\S+svc-unsent-\S+\.md\n/u],
  ['the text is in what the command says', noFolder, /What you wrote:\nDear Ann,\na long text\n/u],
])('a reply that cannot be recorded, since the disk takes nothing: %s', async (_, tmp, said) => {
  const world = sandboxWorld();
  writeFileSync(join(world.folder, 'state'), '');
  temporaryIn(tmp);
  const edit = (initial: string) => `Dear Ann,\na long text\n${initial}`;
  const ran = await svc(world, ['tickets', 'reply', '8', '--editor'], { columns: 80, edit });
  expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringMatching(said)]);
});

/** An editor that saves this, in a file as a real one has it, and what happens once it has ended. */
const throughFile =
  (world: { readonly folder: string }, ended = () => {}): RunOptions['edit'] =>
  async (initial, options) => {
    const [{ throughTempFile }, files] = [await import('../../src/disk/draft/temp-file.ts'), { state: stateOf(world) }];
    const saved = await throughTempFile(initial, 'text.md', { ...options, files }, async (path) =>
      writeFileSync(path, `Dear Ann,\na long text\n${initial}`),
    );
    ended();
    return saved;
  };

const stateOf = ({ folder: of }: { readonly folder: string }) => join(of, 'state');

const unsentIn = (world: { readonly folder: string }) => readdirSync(join(stateOf(world), 'unsent'));

test.each([
  ['and is gone once it is sent', true, []],
  ['and in a file of its own where it is refused', false, [expect.stringMatching(/\.md$/u)]],
])('while a command sends what was written in the editor it is in a file, %s', async (_, isTaken, left) => {
  const world = sandboxWorld();
  const during: string[] = [];
  const exchange: typeof world.exchange = async (request) => {
    if (request.method !== 'POST') return world.exchange(request);
    const [name = ''] = unsentIn(world);
    during.push(readFileSync(join(stateOf(world), 'unsent', name, 'text.md'), 'utf8'));
    return isTaken ? world.exchange(request) : { status: 400, headers: {}, body: '{"message":"No."}' };
  };
  const options = { columns: 200, edit: throughFile(world) };
  const ran = await svc({ ...world, exchange }, ['tickets', 'reply', '8', '--editor'], options);
  expect(ran.stderr).toContain(isTaken ? '' : 'What you wrote is kept in');
  expect([ran.exitCode === 0, during[0], unsentIn(world)]).toEqual([
    isTaken,
    expect.stringMatching(/^Dear Ann,/u),
    left,
  ]);
});

test('where nothing else takes it the file of the editor stays, and is named', async () => {
  const world = sandboxWorld();
  writeFileSync(stateOf(world), '');
  temporaryIn(temporary);
  const edit = throughFile(world, () => temporaryIn(noFolder));
  const { stderr } = await svc(world, ['tickets', 'reply', '8', '--editor'], { columns: 400, edit });
  const [, path = ''] = /What you wrote is kept in (\S+)/u.exec(stderr) ?? [];
  expect(readFileSync(path, 'utf8')).toMatch(/^Dear Ann,\na long text/u);
});

test('so it does beside the inbox', { tags: ['long'] }, async () => {
  const world = await desk();
  for (const name of ['unsent', 'drafts']) {
    rmSync(join(stateOf(world), name), { recursive: true, force: true });
    writeFileSync(join(stateOf(world), name), '');
  }
  temporaryIn(temporary);
  const edit = throughFile(world, () => temporaryIn(noFolder));
  const { stdout } = await linear(world, ['1', 'r', 'q'], { columns: 400, edit });
  const [, path = ''] = /Nothing was sent\. Your text is in\s+(\S+)/u.exec(stdout) ?? [];
  expect(readFileSync(path, 'utf8')).toMatch(/^Dear Ann,\na long text/u);
});

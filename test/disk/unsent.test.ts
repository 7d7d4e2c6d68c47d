// What somebody wrote is somewhere afterwards, also where the state folder takes nothing.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { keepUnsent } from '../../src/disk/unsent.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

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

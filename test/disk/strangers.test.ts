// What a stranger has put into a folder where everybody writes: nothing is written by way of it.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDraft, proveWritable } from '../../src/disk/draft/draft-file.ts';
import { replaceFile } from '../../src/disk/file/atomic-file.ts';
import { isPlanted, pathToWrite } from '../../src/disk/file/strangers.ts';

test.each([
  ['a stranger’s in a folder like /tmp', 1002, { uid: 0, mode: 0o41777 }, true],
  ['one’s own', 1001, { uid: 0, mode: 0o41777 }, false],
  ['one of the folder’s owner', 0, { uid: 0, mode: 0o41777 }, false],
  ['a stranger’s where everybody may take it away', 1002, { uid: 0, mode: 0o40777 }, false],
  ['a stranger’s where not everybody writes', 1002, { uid: 0, mode: 0o41775 }, false],
])('%s: planted %#', (_, uid, folder, expected) => {
  expect(isPlanted({ uid }, folder, 1001)).toBe(expected);
});

const [me, stranger] = [process.getuid?.(), 54_321];
const ctx = { signal: new AbortController().signal, notice: () => {} };

/** A folder like /tmp, with a link, a link to a folder and a pipe of that user. */
function everybodys(owner: number) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'svc-planted-')));
  const [open, own] = [join(top, 'open'), join(top, 'own')];
  for (const folder of [open, own]) mkdirSync(folder);
  chmodSync(open, 0o1777);
  writeFileSync(join(own, 'victim'), 'precious');
  symlinkSync(join(own, 'victim'), join(open, 'link'));
  symlinkSync(own, join(open, 'folder'));
  execFileSync('mkfifo', [join(open, 'pipe')]);
  symlinkSync(join(open, 'link'), join(own, 'mine'));
  for (const name of ['link', 'folder']) lchownSync(join(open, name), owner, owner);
  chownSync(join(open, 'pipe'), owner, owner);
  return { open, own };
}

// Only root can give a file away.
test.runIf(me === 0).each(['open/link', 'open/folder/new', 'open/folder/../own/new', 'open/pipe', 'own/mine'])(
  'nothing is written by way of %s of a stranger',
  async (name) => {
    const { open, own } = everybodys(stranger);
    const path = `${join(open, '..')}/${name}`;
    const refusal = /cannot be written: .*open\/(?:link|folder|pipe) is a (?:link|pipe) of another user \(id 54321\)/u;
    await expect(openDraft(path, ctx)).rejects.toThrow(refusal);
    await expect(proveWritable(path, ctx)).rejects.toThrow(refusal);
    expect(readdirSync(own).toSorted()).toEqual(['mine', 'victim']);
  },
);

test.runIf(me === 0)('nor is what a stranger’s link leads to replaced', async () => {
  const { open } = everybodys(stranger);
  await expect(replaceFile(join(open, 'link'), 'x')).rejects.toThrow('is a link of another user');
});

test.skipIf(process.platform === 'win32')('a link of one’s own leads on', async () => {
  const { open, own } = everybodys(me ?? 0);
  for (const name of ['link', 'folder/new']) {
    const draft = await openDraft(join(open, name), ctx);
    await draft.keep();
  }
  expect(readdirSync(own).toSorted()).toEqual(['mine', 'new', 'victim']);
});

test.skipIf(process.platform === 'win32')(
  'the path that is written has no link in it, also where nothing is yet',
  async () => {
    const { open, own } = everybodys(me ?? 0);
    symlinkSync(join(own, 'later'), join(open, 'dangling'));
    symlinkSync('round', join(open, 'round'));
    expect(await pathToWrite(join(open, 'folder', 'new'))).toBe(join(own, 'new'));
    expect(await pathToWrite(join(open, 'dangling'))).toBe(join(own, 'later'));
    expect(await pathToWrite(join(open, 'none', 'new'))).toBeUndefined();
    expect(await pathToWrite(join(own, 'victim', 'new'))).toBeUndefined();
    expect(await pathToWrite(join(open, 'round'))).toBeUndefined();
  },
);

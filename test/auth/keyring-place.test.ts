// Where svc looks for the part that speaks to the system keyring: where an installer put it, and nowhere else.
import { cpSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { keyringOf } from '../../src/auth/store-keyring.ts';

const keyring = '@napi-rs/keyring';
const native = `${keyring}-linux-x64-gnu`;

/** A folder with the packages named, each at its place. */
function tree(packages: Readonly<Record<string, { name: string; version?: string }>>): string {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'svc-tree-')));
  for (const [place, { name, version = '2.1.2' }] of Object.entries(packages)) {
    mkdirSync(join(top, place, 'dist'), { recursive: true });
    const needs = name === 'svc' ? { optionalDependencies: { [keyring]: '2.1.2' } } : {};
    writeFileSync(join(top, place, 'package.json'), JSON.stringify({ name, version, ...needs }));
  }
  return top;
}

const inFolder = (folder: string, version?: string) => ({
  [join(folder, keyring)]: { name: keyring, version },
  [join(folder, native)]: { name: native, version },
});

const found = (top: string, root: string) => keyringOf(join(top, root, 'dist', 'chunk.cjs'), 'linux', 'x64');

test.each([
  ['inside of it', 'svc', 'svc/node_modules'],
  ['beside it', 'node_modules/svc', 'node_modules'],
])('what an installer put %s is taken', (_, root, place) => {
  const top = tree({ [root]: { name: 'svc' }, ...inFolder(place) });
  expect(found(top, root)).toBe(join(top, place, native));
});

test('a tree of links is followed', () => {
  const [own, store] = ['.pnpm/svc/node_modules', '.pnpm/keyring/node_modules'];
  const top = tree({ [join(own, 'svc')]: { name: 'svc' }, ...inFolder(store) });
  mkdirSync(join(top, own, dirname(keyring)), { recursive: true });
  symlinkSync(join(top, store, keyring), join(top, own, keyring), 'junction');
  expect(found(top, join(own, 'svc'))).toBe(join(top, store, native));
});

test.each([
  ['above an unpacked package', 'svc', 'node_modules'],
  ['further up', 'a/b/svc', 'node_modules'],
  ['above the folder it is installed in', 'a/node_modules/svc', 'node_modules'],
])('what lies %s is not', (_, root, place) => {
  expect(found(tree({ [root]: { name: 'svc' }, ...inFolder(place) }), root)).toBeUndefined();
});

test('a binary that lies further up than its package is not taken', () => {
  const root = 'a/node_modules/svc';
  const top = tree({ [root]: { name: 'svc' }, ...inFolder('node_modules') });
  cpSync(join(top, 'node_modules', keyring), join(top, 'a/node_modules', keyring), { recursive: true });
  expect(found(top, root)).toBeUndefined();
});

test('another version, or a package of another name, is not taken', () => {
  expect(found(tree({ svc: { name: 'svc' }, ...inFolder('svc/node_modules', '9.9.9') }), 'svc')).toBeUndefined();
  const named = { name: 'other' };
  const renamed = { [join('svc/node_modules', keyring)]: named, [join('svc/node_modules', native)]: named };
  expect(found(tree({ svc: { name: 'svc' }, ...renamed }), 'svc')).toBeUndefined();
  // An executable in a folder of anybody's.
  expect(found(tree({ app: { name: 'app' }, ...inFolder('node_modules') }), 'app')).toBeUndefined();
});

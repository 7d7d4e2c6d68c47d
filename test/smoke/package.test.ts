// @module-tag long
import { lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stagePackage } from '../../build/stage.js';
import { type Built, buildSvc } from '../built.ts';
import { npm, reachesRegistry } from '../registry.ts';

/** The Node that runs the installed tool: this one, or the one that CI names. */
const node = process.env.SVC_TEST_NODE ?? process.execPath;
const project = join(import.meta.dirname, '..', '..');

type Packed = { readonly filename: string; readonly files: readonly { readonly path: string }[] };

let built: Built;
let folder: string;
let packed: Packed;
let canInstall: boolean;

beforeAll(async () => {
  built = await buildSvc();
  folder = await mkdtemp(join(tmpdir(), 'svc-package-'));
  const source = stagePackage(dirname(dirname(built.script)), join(folder, 'package'));
  // What `prepare` would do is done.
  const ran = await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], source);
  // A list in npm 11 and older, by name in later ones.
  packed = (Object.values(JSON.parse(ran.stdout)) as Packed[])[0] as Packed;
  canInstall = await reachesRegistry(folder);
});
afterAll(async () => {
  await built.remove();
  await rm(folder, { recursive: true, force: true });
});

/** `npm install --global` into an empty prefix; what it left there. */
async function install(...flags: string[]) {
  const prefix = await mkdtemp(join(folder, 'prefix-'));
  const tarball = join(folder, packed.filename);
  const ran = await npm(['install', '--global', '--prefix', prefix, ...flags, tarball], folder);
  expect(ran.exitCode, ran.stderr).toBe(0);
  const root = join(prefix, 'lib', 'node_modules', 'svc');
  const svc = (...argv: string[]) =>
    execa(node, [join(root, 'bin', 'svc.js'), ...argv], {
      cwd: folder,
      reject: false,
      stdin: 'ignore',
      env: {
        SVC_CONFIG_DIR: join(prefix, 'config'),
        SVC_STATE_DIR: join(prefix, 'state'),
      },
    });
  return { prefix, root, svc, told: ran.stderr };
}

async function worksIn({ svc }: Awaited<ReturnType<typeof install>>): Promise<void> {
  expect((await svc('--version')).stdout).toMatch(/^\d+\.\d+\.\d+$/u);
  const listed = await svc(
    'sandbox',
    'exec',
    '--',
    'svc',
    'contacts',
    'list',
    '--limit',
    '2',
    '--jq',
    '.[].contact_id',
  );
  expect(listed).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\n\d+$/u) });
  expect((await svc('sandbox', 'demo')).exitCode).toBe(0);
  for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
    expect((await svc('completion', shell)).stdout, shell).toContain('__complete');
  }
  expect((await svc('__complete', '--', 'tickets', 're')).stdout).toContain('reply');
}

describe('the package', () => {
  test('holds what runs, and nothing else', () => {
    const tops = new Set(packed.files.map(({ path }) => path.replace(/\/.*/u, '')));
    expect([...tops].sort()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'bin', 'completions', 'dist', 'examples', 'package.json'].sort(),
    );
    const paths = packed.files.map(({ path }) => path);
    expect(paths.filter((path) => path.startsWith('examples/'))).toEqual([
      'examples/contacts.csv',
      'examples/svc-webhooks.yaml',
    ]);
    expect(paths.filter((path) => /\.(ts|map|tgz)$/u.test(path))).toEqual([]);
  });

  test('brings the licence of every library that is in it, and none of what only tests use', async () => {
    const licences = await readFile(join(built.script, '..', '..', 'dist', 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of ['commander', 'valibot', 'jq-web', 'undici', '@inquirer/core']) {
      expect(licences).toMatch(new RegExp(`^${name} \\d`, 'mu'));
    }
    expect(licences).not.toMatch(/^(oidc-provider|playwright-core|vitest|typescript|fast-check|postcss) /mu);
  });

  test('needs nothing but itself: where the optional keyring cannot be had, it installs and works', async () => {
    // Nothing cached and no network; npm leaves optional parts out then.
    const installed = await install('--offline', '--cache', join(folder, 'empty-cache'));
    expect(installed.told).not.toContain('prepare');
    expect(await readdir(installed.root)).not.toContain('node_modules');
    expect(await readdir(join(installed.prefix, 'share', 'man', 'man1'))).toContain('svc-contacts-sync.1.gz');
    await worksIn(installed);
  });

  test('installs with the keyring’s native part in at most 9 MB', async (context) => {
    if (!canInstall) context.skip('npm reaches no registry here');
    const installed = await install();
    expect(await readdir(join(installed.root, 'node_modules', '@napi-rs'))).toContain('keyring');
    expect(await bytesOf(installed.prefix)).toBeLessThanOrEqual(9_000_000);
    await worksIn(installed);
  });
});

test('the lock file names no address to download from', async () => {
  expect(await readFile(join(project, 'package-lock.json'), 'utf8')).not.toContain('"resolved"');
});

async function bytesOf(path: string): Promise<number> {
  const found = await lstat(path);
  if (!found.isDirectory()) return found.size;
  const inside = await readdir(path);
  const sizes = await Promise.all(inside.map((name) => bytesOf(join(path, name))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

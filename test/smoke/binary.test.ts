import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { version } from '../../src/version.ts';
import { real } from '../real-component.ts';
import { reachesRegistry } from '../registry.ts';

const project = join(import.meta.dirname, '..', '..');

/** With the libraries that its programs are linked to. */
const emulator = ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu'] as const;

let folder: string;
let executable: string;
let canBuild: boolean;

/** Run from a folder of its own, with no svc on the search path and nothing of ours in the environment. */
const run = (program: string, argv: readonly string[]) =>
  execa(program, argv, {
    cwd: folder,
    reject: false,
    stdin: 'ignore',
    extendEnv: false,
    env: { PATH: '/usr/bin:/bin', HOME: folder, TMPDIR: folder },
  });

const svc = (...argv: string[]) => run(executable, argv);

const build = (target: string) => execa('npm', ['run', 'build:binary', '--', folder, target], { cwd: project });

describe.runIf(process.platform === 'linux' && process.arch === 'x64')('the single executable', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-binary-'));
    canBuild = await reachesRegistry(folder);
    if (!canBuild) return;
    executable = join(folder, 'svc');
    await build('linux-x64');
    await rename(join(folder, 'svc-linux-x64'), executable);
  }, 180_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));
  beforeEach((context) => {
    if (!canBuild) context.skip('npm reaches no registry here, where the Node for it comes from');
  });

  test('tells its version and its help, and completes', async () => {
    expect(await svc('--version')).toMatchObject({ exitCode: 0, stdout: version, stderr: '' });
    expect((await svc('contacts', 'sync', '--help')).stdout).toContain('Usage: svc contacts sync');
    expect((await svc('__complete', '--', 'tickets', 're')).stdout).toContain('reply');
  });

  test('carries the sandbox and jq, and is svc for what runs in the sandbox', async () => {
    const ran = await svc('sandbox', 'exec', '--', 'sh', '-c', "svc contacts list --limit 2 --jq '.[].email'");
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toMatch(/^\S+@\S+\n\S+@\S+$/u);
  });

  test('carries the example that the demo shows', async () => {
    const ran = await svc('sandbox', 'demo');
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toContain('contacts.csv');
  });

  test('keeps logins in the file, since it brings no keyring', async () => {
    const line = 'printf key_acme | svc login --with-api-key --profile sample && svc auth list --json';
    const ran = await svc('sandbox', 'exec', '--', 'sh', '-c', `unset SVC_API_KEY SVC_TOKEN_STORE; ${line}`);
    expect(ran.stderr).not.toContain('svc failed');
    expect(ran.stdout).toContain('"sample"');
  });

  real(emulator[0])(
    'is built for 64-bit ARM too, and works there',
    async () => {
      await build('linux-arm64');
      const [program, ...libraries] = emulator;
      const arm = (...argv: string[]) => run(program, [...libraries, join(folder, 'svc-linux-arm64'), ...argv]);
      expect(await arm('--version')).toMatchObject({ exitCode: 0, stdout: version, stderr: '' });
      const listed = await arm('config', 'list', '--jq', '.[0].key');
      expect(listed).toMatchObject({ exitCode: 0, stdout: 'default_profile', stderr: '' });
    },
    180_000,
  );
});

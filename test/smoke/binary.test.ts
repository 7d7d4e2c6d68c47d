import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { version } from '../../src/version.ts';
import { skipping, whyNoArtefacts } from '../artefacts.ts';

const project = join(import.meta.dirname, '..', '..');

let folder: string;
let executable: string;
let whyNot: string | undefined;

/** Run from a folder of its own, with no svc on the search path and nothing of ours in the environment. */
const svc = (...argv: string[]) =>
  execa(executable, argv, {
    cwd: folder,
    reject: false,
    stdin: 'ignore',
    extendEnv: false,
    env: { PATH: '/usr/bin:/bin', HOME: folder, TMPDIR: folder },
  });

describe('the single executable', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-binary-'));
    whyNot = await whyNoArtefacts(folder);
    if (whyNot) return;
    executable = join(folder, 'svc');
    await execa('npm', ['run', 'build:binary', '--', folder], { cwd: project });
    await rename(join(folder, 'svc-linux-x64'), executable);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  beforeEach(skipping(() => whyNot));

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
});

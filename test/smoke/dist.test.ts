import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { version } from '../../src/version.ts';
import { skipping, whyNoArtefacts } from '../artefacts.ts';
import { real } from '../real-component.ts';

const project = join(import.meta.dirname, '..', '..');
const archive = `svc-${version}-linux-x64`;

const targets = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'darwin-x64', 'win-x64'];

let folder: string;
let whyNot: string | undefined;
let sums: ReadonlyMap<string, string>;

const inFolder = (program: string, ...argv: string[]) => execa(program, argv, { cwd: folder, reject: false });

/** Nothing of this machine's svc, and a home of its own. */
const svc = (path: string, ...argv: string[]) =>
  execa(join(folder, path), argv, { reject: false, stdin: 'ignore', extendEnv: false, env: { HOME: folder } });

const text = (path: string) => readFile(join(folder, path), 'utf8');

const archiveOf = (target: string) => `svc-${version}-${target}.tar.gz`;

describe('npm run dist', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-dist-'));
    whyNot = await whyNoArtefacts(folder);
    if (whyNot) return;
    const url = 'https://downloads.example.org/svc';
    await execa(process.execPath, ['build/dist.js', '--to', folder, '--url', url], { cwd: project });
    const lines = (await text('SHA256SUMS')).trim().split('\n');
    sums = new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  beforeEach(skipping(() => whyNot));

  test('leaves the release and the sums of all of it', async () => {
    expect([...sums.keys()].sort()).toEqual(
      [`svc-${version}.tgz`, ...targets.map(archiveOf), `svc_${version}_amd64.deb`, `svc_${version}_arm64.deb`]
        .concat([`svc-${version}.cdx.json`, 'svc.json', 'svc.rb'])
        .sort(),
    );
    expect((await inFolder('sha256sum', '--check', '--strict', 'SHA256SUMS')).exitCode).toBe(0);
    expect([...sums.keys(), 'SHA256SUMS'].sort()).toEqual((await readdir(folder)).sort());
  });

  test('an archive unpacks to an executable that works, with its pages, completions and licences', async () => {
    await inFolder('tar', '-xzf', `${archive}.tar.gz`);
    expect(await svc(`${archive}/svc`, '--version')).toMatchObject({ exitCode: 0, stdout: version });
    const names = await readdir(join(folder, archive));
    expect(names.sort()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'NODE-LICENSE.txt', 'THIRD-PARTY-LICENSES.txt', 'completions', 'man', 'svc'].sort(),
    );
    const owners = await inFolder('tar', '-tvzf', `${archive}.tar.gz`);
    expect(owners.stdout.split('\n').filter((line) => !/ 0\/0 /u.test(line))).toEqual([]);
    await rm(join(folder, archive), { recursive: true });
  });

  real('qemu-aarch64-static')('the executable for 64-bit ARM works there', async () => {
    await inFolder('tar', '-xzf', archiveOf('linux-arm64'));
    const program = join(folder, `svc-${version}-linux-arm64`, 'svc');
    // With the libraries that its programs are linked to.
    const arm = (...argv: string[]) =>
      inFolder('qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu', '-E', `HOME=${folder}`, program, ...argv);
    expect(await arm('--version')).toMatchObject({ exitCode: 0, stdout: version, stderr: '' });
    const listed = await arm('config', 'list', '--jq', '.[0].key');
    expect(listed).toMatchObject({ exitCode: 0, stdout: 'default_profile', stderr: '' });
  });

  // Nothing here runs them (docs/releasing.md).
  test.each([
    ['darwin-arm64', 'svc', 'cffaedfe0c000001'],
    ['darwin-x64', 'svc', 'cffaedfe07000001'],
    ['win-x64', 'svc.exe', '4d5a'],
  ])('the archive for %s holds a program of that platform with svc in it', async (target, name, magic) => {
    await inFolder('tar', '-xzf', archiveOf(target));
    const program = await readFile(join(folder, `svc-${version}-${target}`, name));
    expect(program.subarray(0, magic.length / 2).toString('hex')).toBe(magic);
    expect(program.includes('NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1')).toBe(true);
    expect(program.includes('main.cjs')).toBe(true);
  });

  real('dpkg', 'dpkg-deb')('the Debian package installs, and everything is in its place', async () => {
    const root = join(folder, 'root');
    await mkdir(join(root, 'var', 'lib', 'dpkg', 'info'), { recursive: true });
    await mkdir(join(root, 'var', 'lib', 'dpkg', 'updates'));
    await writeFile(join(root, 'var', 'lib', 'dpkg', 'status'), '');
    const forced = ['--force-not-root', '--force-depends', '--force-bad-path'];
    const ran = await inFolder('dpkg', `--root=${root}`, ...forced, '--install', `svc_${version}_amd64.deb`);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(await svc('root/usr/bin/svc', '--version')).toMatchObject({ exitCode: 0, stdout: version });
    const share = join(root, 'usr', 'share');
    const page = gunzipSync(await readFile(join(share, 'man', 'man1', 'svc-contacts-sync.1.gz'))).toString();
    expect(page).toContain('.TH SVC-CONTACTS-SYNC 1');
    for (const path of [
      'bash-completion/completions/svc',
      'zsh/vendor-completions/_svc',
      'fish/vendor_completions.d/svc.fish',
      'doc/svc/copyright',
      'doc/svc/changelog.gz',
    ]) {
      expect((await readFile(join(share, path))).length, path).toBeGreaterThan(100);
    }
    const listed = await inFolder('dpkg-deb', '--contents', `svc_${version}_amd64.deb`);
    expect(listed.stdout.split('\n').filter((line) => !/ root\/root /u.test(line))).toEqual([]);
    await rm(root, { recursive: true });
  });

  test('the bill of materials names what the licences name, and Node', async () => {
    const bill = JSON.parse(await text(`svc-${version}.cdx.json`));
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6' });
    const named = bill.components.map((one: { name: string; version: string }) => `${one.name} ${one.version}`);
    const { stdout: licences } = await inFolder(
      'tar',
      '-xzOf',
      `${archive}.tar.gz`,
      `${archive}/THIRD-PARTY-LICENSES.txt`,
    );
    const bundled = [...licences.matchAll(/^={80}\n((?:.+\n)+)={80}$/gmu)].flatMap(([, names = '']) =>
      [...names.matchAll(/^(\S+ \S+) \(.*\)$/gmu)].map(([, library]) => library),
    );
    expect(bundled.length).toBeGreaterThan(20);
    expect(named.filter((one: string) => !/^(node|@napi-rs\/keyring) /u.test(one)).sort()).toEqual(bundled.sort());
    const { version: node } = JSON.parse(await readFile(join(project, 'build', 'nodes.json'), 'utf8'));
    expect(named).toContain(`node ${node}`);
    const refs = bill.components.map((one: { 'bom-ref': string }) => one['bom-ref']);
    expect(bill.dependencies[0].dependsOn).toEqual(refs);
  });

  test('the Homebrew formula and the Scoop manifest name the files by their addresses and sums', async () => {
    const formula = await text('svc.rb');
    for (const target of targets.filter((one) => one !== 'win-x64')) {
      const file = archiveOf(target);
      expect(formula).toContain(`url "https://downloads.example.org/svc/${file}"\n      sha256 "${sums.get(file)}"`);
    }
    const { architecture } = JSON.parse(await text('svc.json'));
    expect(architecture['64bit'].hash).toBe(sums.get(archiveOf('win-x64')));
  });
});

test('the manifests name every platform that there is a file for', async () => {
  const { formula, scoopManifest } = await import('../../build/manifests.js');
  const release = { description: 'A tool.', version: '1.2.3', license: 'MIT', url: 'https://example.org/v1' };
  const files = targets.map((target, i) => ({
    target,
    file: `svc-1.2.3-${target}.tar.gz`,
    sha256: String(i).repeat(64),
  }));
  const made = formula(release, files);
  for (const { target, file, sha256 } of files.filter((one) => one.target !== 'win-x64')) {
    expect(made, target).toContain(`url "https://example.org/v1/${file}"\n      sha256 "${sha256}"`);
  }
  expect(made.match(/\b(?:do|def)\b/gu)?.length).toBe((made.match(/^\s*end$/gmu)?.length ?? 0) - 1);
  expect(JSON.parse(scoopManifest(release, files)).architecture['64bit']).toEqual({
    url: 'https://example.org/v1/svc-1.2.3-win-x64.tar.gz',
    hash: '4'.repeat(64),
    extract_dir: 'svc-1.2.3-win-x64',
  });
});

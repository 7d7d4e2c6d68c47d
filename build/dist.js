// `npm run dist [-- --to FOLDER] [--targets linux-x64,…] [--url URL]`: everything that a release is made of, in
// artifacts/: the npm package, an archive with the executable for each platform, Debian packages, a Homebrew formula, a
// Scoop manifest, the bill of materials and SHA256SUMS. URL is where the release will be had. See docs/releasing.md.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { debianPackage } from './debian.js';
import { buildExecutable, bundleParts } from './executable.js';
import { formula, scoopManifest } from './manifests.js';
import { nodeLicence, nodeVersion, targets } from './node-of.js';
import { stagePackage } from './stage.js';

const project = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: { to: { type: 'string' }, targets: { type: 'string' }, url: { type: 'string' } },
});
const { name, version, description, license } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
const to = resolve(values.to ?? join(project, 'artifacts'));
const wanted = values.targets?.split(',') ?? targets;
const url = (values.url ?? `https://releases.example.com/svc/v${version}`).replace(/\/$/u, '');
const work = mkdtempSync(join(tmpdir(), 'svc-dist-'));

/** The time in every archive: that of the newest release in the changelog, so that a source always gives the same. */
const [, released = '1970-01-01'] =
  /^## \[[^\]]+\] - (\d{4}-\d\d-\d\d)/mu.exec(readFileSync(join(project, 'CHANGELOG.md'), 'utf8')) ?? [];
const epoch = Date.parse(released) / 1000;

try {
  const unknown = wanted.find((target) => !targets.includes(target));
  if (unknown !== undefined) throw new Error(`There is no target ${unknown}. There are: ${targets.join(', ')}`);
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  const staged = packNpm();
  const parts = bundleParts(work);
  const archives = {};
  for (const target of wanted) archives[target] = archive(target, parts, staged);
  const release = { name, version, description, license, url };
  const files = Object.entries(archives).map(([target, file]) => ({ target, file, sha256: sumOf(file) }));
  writeFileSync(join(to, 'svc.rb'), formula(release, files));
  writeFileSync(join(to, 'svc.json'), scoopManifest(release, files));
  writeFileSync(join(to, `svc-${version}.cdx.json`), billWithNode(parts));
  const sums = readdirSync(to).map((file) => `${sumOf(file)}  ${file}\n`);
  writeFileSync(join(to, 'SHA256SUMS'), sums.join(''));
  process.stdout.write(sums.join(''));
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Builds the package and packs it; the folder that it was packed from. */
function packNpm() {
  const built = join(work, 'built');
  cpSync(join(project, 'bin'), join(built, 'bin'), { recursive: true });
  const rolldown = join(project, 'node_modules', 'rolldown', 'bin', 'cli.mjs');
  const quiet = { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] };
  execFileSync(process.execPath, [rolldown, '-c', '--dir', join(built, 'dist')], quiet);
  const staged = stagePackage(built, join(work, 'package'));
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', to], { ...quiet, cwd: staged });
  return staged;
}

/** `svc-VERSION-TARGET.tar.gz`: the executable, its licences, manual pages and completions; for Linux a package too. */
function archive(target, parts, staged) {
  const folder = join(work, `svc-${version}-${target}`);
  mkdirSync(folder);
  const executable = buildExecutable(target, parts, work);
  cpSync(executable, join(folder, target.startsWith('win') ? 'svc.exe' : 'svc'));
  rmSync(executable);
  cpSync(nodeLicence(), join(folder, 'NODE-LICENSE.txt'));
  cpSync(join(parts, 'THIRD-PARTY-LICENSES.txt'), join(folder, 'THIRD-PARTY-LICENSES.txt'));
  for (const own of ['LICENSE', 'CHANGELOG.md', 'completions']) {
    cpSync(join(staged, own), join(folder, own), { recursive: true });
  }
  cpSync(join(work, 'built', 'dist', 'man'), join(folder, 'man'), { recursive: true });
  if (target.startsWith('linux')) debianPackage(folder, target, { name, version, description, to, epoch, work });
  const file = `svc-${version}-${target}.tar.gz`;
  const how = ['--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=go-w'];
  const tar = execFileSync('tar', [...how, '-c', `svc-${version}-${target}`], { cwd: work, maxBuffer: 2 ** 30 });
  writeFileSync(join(to, file), gzipSync(tar, { level: 6 }));
  rmSync(folder, { recursive: true });
  return file;
}

/** What is in the executables, which have a Node beside what the package has. */
function billWithNode(parts) {
  const bill = JSON.parse(readFileSync(join(parts, 'sbom.cdx.json'), 'utf8'));
  const purl = `pkg:generic/node@${nodeVersion}`;
  const node = { type: 'application', 'bom-ref': purl, name: 'node', version: nodeVersion, purl, scope: 'required' };
  bill.components.push(node);
  bill.dependencies[0].dependsOn.push(purl);
  bill.dependencies.push({ ref: purl });
  return `${JSON.stringify(bill, null, 2)}\n`;
}

function sumOf(file) {
  return createHash('sha256')
    .update(readFileSync(join(to, file)))
    .digest('hex');
}

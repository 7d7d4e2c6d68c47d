// What `npm install --global` of the package leaves, the keyring's native part included (target: at most
// 9 MB). Needs `npm run build`, and a registry for the optional part.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stagePackage } from '../build/stage.js';
import { bytesOf } from './size.js';
import { tell } from './tell.js';

const project = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
try {
  // As a release lays it out.
  const cwd = stagePackage(project, join(folder, 'package'));
  const npm = (...argv) => execFileSync('npm', argv, { cwd, stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  const packed = npm('pack', '--json', '--ignore-scripts', '--pack-destination', folder);
  // A list in npm 11 and older, by name in later ones.
  const [{ filename, size }] = Object.values(JSON.parse(packed));
  npm('install', '--global', '--prefix', join(folder, 'prefix'), join(folder, filename));
  const root = join(folder, 'prefix', 'lib', 'node_modules');
  const bundle = bytesOf(join(root, 'svc', 'dist'));
  tell([
    {
      what: 'installed size, with the keyring',
      value: bytesOf(root) / 1e6,
      unit: 'MB',
      atMost: 9,
      detail: `${(bundle / 1e6).toFixed(1)} MB of it svc; ${(size / 1e6).toFixed(1)} MB to download`,
    },
  ]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

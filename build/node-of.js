import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import nodes from './nodes.json' with { type: 'json' };

/** The platforms that there are executables for, and the version of their Node. */
export const targets = Object.keys(nodes.targets);
export const nodeVersion = nodes.version;

/** The platform that this runs on, by the same names. */
export const here = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

const cache = join(import.meta.dirname, '..', 'node_modules', '.cache', 'svc');

/**
 * The Node of a platform. It comes as an npm package, is held against the sum that is
 * written down in nodes.json, and is kept until the next `npm ci`.
 */
export function nodeOf(target) {
  const { package: name, file, integrity } = nodes.targets[target];
  const folder = join(cache, `node-${nodes.version}-${target}`);
  const node = join(folder, 'package', file);
  if (existsSync(folder)) return node;
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(join(cache, 'draft-'));
  try {
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const argv = ['pack', '--json', '--ignore-scripts', '--pack-destination', draft, `${name}@${nodes.version}`];
    const told = execFileSync(npm, argv, { cwd: draft, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    // A list in npm 11 and older, by name in later ones.
    const [{ filename }] = Object.values(JSON.parse(told));
    const tarball = join(draft, filename);
    const sum = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
    if (sum !== integrity) throw new Error(`${name}@${nodes.version} is not what nodes.json says it is: ${sum}`);
    execFileSync('tar', ['-xzf', tarball, '-C', draft]);
    rmSync(tarball);
    // Of two processes at once, the first one's stays.
    if (!existsSync(folder)) renameSync(draft, folder);
    return node;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** The licence of Node, which every executable is shipped with. Not each of the packages has it. */
export const nodeLicence = () => join(dirname(dirname(nodeOf('linux-x64'))), 'LICENSE');

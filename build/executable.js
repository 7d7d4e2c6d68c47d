// `npm run build:binary [-- FOLDER [TARGET]]`: svc and a Node in one file that needs no Node where it is run, for this
// platform or the one that is named (build/nodes.json). Goes into binary/ or FOLDER. See docs/releasing.md.
import { execFileSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join, resolve } from 'node:path';
import { here, nodeLicence, nodeOf } from './node-of.js';

const project = dirname(import.meta.dirname);

/** The bundle that all executables carry, in a folder that the caller removes. */
export function bundleParts(folder) {
  const parts = mkdtempSync(join(folder, 'parts-'));
  const rolldown = dirname(createRequire(import.meta.url).resolve('rolldown/package.json'));
  const argv = [join(rolldown, 'bin', 'cli.mjs'), '-c', 'build/binary.config.ts', '--dir', parts];
  run(process.execPath, argv);
  return parts;
}

/** `svc-TARGET` in the folder, from what `bundleParts` left; its path. */
export function buildExecutable(target, parts, folder) {
  const node = nodeOf(target);
  const compiled = compile(target, node, parts);
  writeFileSync(join(parts, 'compiled.json'), JSON.stringify(compiled));
  const assets = readdirSync(parts).filter((name) => /\.(?:cjs|json|wasm)$/u.test(name));
  const named = [...assets, ...compiled.map((name) => `${name}.code`)].map((name) => [name, join(parts, name)]);
  const unfinished = join(parts, 'svc');
  const config = {
    main: join(parts, 'entry.js'),
    output: unfinished,
    executable: node,
    disableExperimentalSEAWarning: true,
    assets: { ...Object.fromEntries(named), 'examples/contacts.csv': join(project, 'examples', 'contacts.csv') },
  };
  writeFileSync(join(parts, 'sea'), JSON.stringify(config));
  run(nodeOf(here), ['--build-sea', join(parts, 'sea')]);
  chmodSync(unfinished, 0o755);
  const executable = join(folder, `svc-${target}${target.startsWith('win') ? '.exe' : ''}`);
  // Made under another name: an executable that somebody is running cannot be written to.
  renameSync(unfinished, executable);
  return executable;
}

/**
 * Compiles the chunks by the Node that they will run in, where it can be run here; the names of those that were. An
 * executable without compiled code is slower to start and otherwise the same.
 */
function compile(target, node, parts) {
  const runner = runnerOf(target);
  if (!runner) return [];
  const script = join(import.meta.dirname, 'compile-chunks.cjs');
  run(nodeOf(here), [script, parts, '--', ...runner, node, script, parts]);
  return readdirSync(parts).flatMap((name) => (name.endsWith('.cjs.code') ? [name.slice(0, -'.code'.length)] : []));
}

/** What a program of that platform is run with here: nothing, or the emulator; undefined where it cannot be run. */
export function runnerOf(target) {
  if (target === here) return [];
  const [emulator, libraries] = ['qemu-aarch64-static', '/usr/aarch64-linux-gnu'];
  const isThere = target === 'linux-arm64' && whereIs(emulator) && canRead(libraries);
  return isThere ? [whereIs(emulator), '-L', libraries] : undefined;
}

const whereIs = (program) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find(canRead);

function canRead(path) {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function run(program, argv) {
  execFileSync(program, argv, { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] });
}

if (process.argv[1] === import.meta.filename) {
  const folder = resolve(process.argv[2] ?? join(project, 'binary'));
  const target = process.argv[3] ?? here;
  mkdirSync(folder, { recursive: true });
  const parts = bundleParts(folder);
  try {
    const executable = buildExecutable(target, parts, folder);
    cpSync(join(parts, 'THIRD-PARTY-LICENSES.txt'), join(folder, 'THIRD-PARTY-LICENSES.txt'));
    cpSync(nodeLicence(), join(folder, 'NODE-LICENSE.txt'));
    process.stdout.write(`${executable} ${Math.round(statSync(executable).size / 1e6)} MB\n`);
  } finally {
    rmSync(parts, { recursive: true });
  }
}

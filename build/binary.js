// `npm run build:binary`: svc and the Node that runs this, as one file that needs no Node where it is run. Linux only,
// for the platform that it is built on. Goes into binary/, or the folder that is named. See docs/releasing.md.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'postject';

if (process.platform !== 'linux') throw new Error('The single executable is built on Linux, for Linux.');

const project = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = resolve(process.argv[2] ?? join(project, 'binary'));
const parts = join(folder, 'parts');
const executable = join(folder, `svc-linux-${process.arch}`);
const node = (...argv) =>
  execFileSync(process.execPath, argv, { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] });

const rolldown = dirname(createRequire(import.meta.url).resolve('rolldown/package.json'));
node(join(rolldown, 'bin', 'cli.mjs'), '-c', 'build/binary.config.ts', '--dir', parts);

const config = {
  main: join(parts, 'svc.cjs'),
  output: join(parts, 'svc.blob'),
  disableExperimentalSEAWarning: true,
  assets: {
    'jq.wasm': join(parts, 'jq.wasm'),
    'jq-worker.cjs': join(parts, 'jq-worker.cjs'),
    'node-sqlite3-wasm.wasm': join(parts, 'node-sqlite3-wasm.wasm'),
    'sqlite-worker.cjs': join(parts, 'sqlite-worker.cjs'),
    'examples/contacts.csv': join(project, 'examples', 'contacts.csv'),
  },
};
writeFileSync(join(parts, 'sea.json'), JSON.stringify(config));
node('--experimental-sea-config', join(parts, 'sea.json'));

// Made under another name: an executable that somebody is running cannot be written to.
const unfinished = join(parts, 'svc');
copyFileSync(process.execPath, unfinished);
chmodSync(unfinished, 0o755);
await inject(unfinished, 'NODE_SEA_BLOB', readFileSync(config.output), {
  sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
});
renameSync(unfinished, executable);
renameSync(join(parts, 'THIRD-PARTY-LICENSES.txt'), join(folder, 'THIRD-PARTY-LICENSES.txt'));
rmSync(parts, { recursive: true });
process.stdout.write(`${executable} ${Math.round(statSync(executable).size / 1e6)} MB\n`);

// What `npm ci` and `npm pack` run: the build, without a line for each of its several hundred files. `npm run build`
// has those, and the bundler's warnings. Errors are told.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

// Wherever npm put it: in a workspace that is the folder above.
const rolldown = fileURLToPath(new URL('bin/cli.mjs', import.meta.resolve('rolldown/package.json')));
const { status } = spawnSync(process.execPath, [rolldown, '-c', '--logLevel', 'silent'], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
process.exitCode = status ?? 1;

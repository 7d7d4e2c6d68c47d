// What `npm ci` and `npm pack` run: the build, without a line for each of its several hundred files. `npm run build`
// has those, and the bundler's warnings. Errors are told.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const rolldown = join(import.meta.dirname, '..', 'node_modules', 'rolldown', 'bin', 'cli.mjs');
execFileSync(process.execPath, [rolldown, '-c', '--logLevel', 'silent'], { stdio: ['ignore', 'ignore', 'inherit'] });

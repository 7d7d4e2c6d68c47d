// `npm run bench`: every figure that is promised, with its target and verdict, as ratios of one run; about four
// minutes. `--peers` adds other command lines. `-- start-up receiver` runs those parts alone.
import { spawn, spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isMet, lineOf } from './tell.js';

const parts = [
  'start-up',
  'sync-limit',
  'sync-dry-run',
  'receiver',
  'serve',
  'lanes',
  'sandbox-throughput',
  'bulk',
  'bulk-memory',
  'mirror',
  'inbox',
  'installed-size',
];
const chosen = process.argv.slice(2).filter((word) => parts.includes(word));
const project = join(import.meta.dirname, '..');

const build = spawnSync('npm', ['run', '--silent', 'build'], { cwd: project });
if (build.status !== 0) throw new Error(`The build failed.\n${build.stderr}`);
process.stdout.write(`Node ${process.versions.node}, ${cpus().length} × ${cpus()[0].model.trim()}\n\n`);

const rows = [];
for (const part of [...(chosen.length > 0 ? chosen : parts), ...(process.argv.includes('--peers') ? ['peers'] : [])]) {
  const child = spawn(process.execPath, [join(import.meta.dirname, `${part}.js`), '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [told, code] = await Promise.all([text(child.stdout), new Promise((ended) => child.once('exit', ended))]);
  if (code !== 0) {
    process.stdout.write(`✗ ${part} broke off.\n`);
    process.exitCode = 1;
    continue;
  }
  const own = JSON.parse(told);
  for (const row of own) process.stdout.write(`${lineOf(row)}\n`);
  rows.push(...own);
}
const missed = rows.filter((row) => !isMet(row));
process.stdout.write(`\n${missed.length === 0 ? 'Every target is met.' : `${missed.length} missed.`}\n`);

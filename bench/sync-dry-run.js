// How fast `contacts sync --dry-run` reads a file, and how much memory that takes, as ratios of one run.
// Run after `npm run build`: node bench/sync-dry-run.js [rows]
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, tell } from './tell.js';

const many = Number(process.argv.find((word) => /^\d+$/u.test(word)) ?? 1_000_000);
const few = 10_000;
const rounds = 3;
const project = join(import.meta.dirname, '..');
const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));

const phones = [
  (i) => `+1415555${String(i % 10_000).padStart(4, '0')}`,
  (i) => `(212) 555-${String(i % 10_000).padStart(4, '0')}`,
  (i) => `+44 20 7946 ${String(i % 10_000).padStart(4, '0')}`,
  () => '',
];

async function write(name, rows) {
  const path = join(folder, name);
  const file = createWriteStream(path);
  file.write('Record ID,First Name,Surname,E-mail Address,Mobile,Company,Tags,metadata.plan\r\n');
  for (let i = 0; i < rows; ) {
    let text = '';
    for (const end = Math.min(rows, i + 2000); i < end; i++) {
      const email = i % 500 === 0 ? 'no address' : `person${i}@example.com`;
      text += `${100_000 + i},Zoë,"D'Angelo ${i}",${email},${phones[i % 4](i)},"Example & Sons, Ltd.",vip; beta,pro\r\n`;
    }
    if (!file.write(text)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
  return path;
}

async function measure(...args) {
  const hook = join(import.meta.dirname, 'sync-usage.cjs');
  const child = spawn(process.execPath, ['--require', hook, ...args], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  let usage = '';
  child.stdio[3].on('data', (bytes) => {
    usage += bytes;
  });
  await once(child, 'close');
  return JSON.parse(usage);
}

try {
  const rolldown = join(project, 'node_modules', 'rolldown', 'bin', 'cli.mjs');
  const alone = join(folder, 'parse-alone.mjs');
  execFileSync(process.execPath, [rolldown, join(project, 'bench', 'sync-parse-alone.ts'), '-p', 'node', '-o', alone], {
    stdio: 'ignore',
  });
  const [large, small] = [await write('large.csv', many), await write('small.csv', few)];
  const svc = (file) => measure(join(project, 'bin', 'svc.js'), 'contacts', 'sync', file, '--dry-run', '--json');
  const runs = { parser: [], library: [], dryRun: [], small: [] };
  // Interleaved, so that a noisy moment of the machine meets all of them.
  for (let round = 0; round < rounds; round++) {
    runs.parser.push(await measure(alone, large));
    runs.dryRun.push(await svc(large));
    runs.small.push(await svc(small));
    if (round === 0) runs.library.push(await measure(join(project, 'bench', 'sync-csv-parse.js'), large));
  }
  const seconds = Object.fromEntries(
    Object.entries(runs).map(([name, all]) => [name, median(all.map((run) => run.seconds))]),
  );
  const rate = (name) => Math.round(many / seconds[name]);
  const cpu = (name) => median(runs[name].map((run) => run.cpuSeconds));
  const peak = (name) => (median(runs[name].map((run) => run.peakMiB)) * 2 ** 20) / 1e6;
  const rows = `${many.toLocaleString('en')} rows`;
  tell([
    {
      what: `dry run of ${rows}`,
      value: rate('dryRun'),
      unit: 'rows/s',
      atLeast: 400_000,
      detail: `${Math.round(many / cpu('dryRun')).toLocaleString('en')} a second of CPU`,
    },
    {
      what: 'dry run / our bare parser',
      value: seconds.parser / seconds.dryRun,
      atLeast: 0.4,
      detail: `${rate('parser').toLocaleString('en')} rows/s; ${(cpu('parser') / cpu('dryRun')).toFixed(2)} in CPU time`,
    },
    {
      what: 'dry run / csv-parse alone',
      value: seconds.library / seconds.dryRun,
      detail: `${rate('library').toLocaleString('en')} rows/s`,
    },
    { what: `peak memory at ${few.toLocaleString('en')} rows`, value: peak('small'), unit: 'MB', atMost: 120 },
    { what: `peak memory at ${rows}`, value: peak('dryRun'), unit: 'MB', atMost: 120 },
  ]);
} finally {
  await rm(folder, { recursive: true, force: true });
}

// How long 12,000 rows take against the limit of 30 calls a minute, in real time (about a minute), as a ratio to what
// the limit allows. Run after `npm run build`: node bench/sync-limit.js [on|sliding]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tell } from './tell.js';

const kind = process.argv.find((word) => word === 'sliding') ?? 'on';
const rows = 12_000;
const perMinute = 30;
const svc = join(import.meta.dirname, '..', 'bin', 'svc.js');
const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
const sandbox = spawn(
  process.execPath,
  [svc, 'sandbox', 'start', '--port', '0', '--seed', 'empty', '--rate-limit', kind, '--json'],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
try {
  let told = '';
  while (!told.trimEnd().endsWith('}')) told += (await once(sandbox.stdout, 'data'))[0];
  const { base_url } = JSON.parse(told);
  const file = join(folder, 'contacts.csv');
  await writeFile(file, `email\n${Array.from({ length: rows }, (_, i) => `person${i}@example.com`).join('\n')}\n`);
  const began = performance.now();
  const child = spawn(process.execPath, [svc, 'contacts', 'sync', file, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      SVC_BASE_URL: base_url,
      SVC_API_KEY: 'key_acme',
      SVC_CONFIG_DIR: folder,
      SVC_STATE_DIR: folder,
    },
  });
  let printed = '';
  child.stdout.on('data', (bytes) => {
    printed += bytes;
  });
  await once(child, 'close');
  const seconds = (performance.now() - began) / 1000;
  const { created, chunks, requests } = JSON.parse(printed);
  const optimum = Math.floor((chunks - 1) / perMinute) * 60;
  tell([
    {
      what: `sync of ${created.toLocaleString('en')} rows / what the limit allows`,
      value: seconds / optimum,
      atMost: 1.02,
      detail: `${seconds.toFixed(2)} s where the limit allows ${optimum}; ${requests - chunks} refusals`,
    },
  ]);
} finally {
  sandbox.kill('SIGTERM');
  await rm(folder, { recursive: true, force: true });
}

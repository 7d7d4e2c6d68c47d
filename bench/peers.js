// `--version` and the installed size of other services' command lines, side by side with svc: installed from the npm
// registry into a temporary folder, hundreds of megabytes. Only by `npm run bench -- --peers`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesOf } from './size.js';
import { median, tell } from './tell.js';

const peers = { vercel: 'vercel', 'firebase-tools': 'firebase', wrangler: 'wrangler', heroku: 'heroku' };
const pairs = 7;
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
const env = { ...inherited, HOME: folder, CI: '1', DO_NOT_TRACK: '1', NO_UPDATE_NOTIFIER: '1' };
try {
  const rows = [];
  for (const [name, program] of Object.entries(peers)) {
    const prefix = join(folder, name);
    const installed = spawnSync('npm', ['install', '--prefix', prefix, '--ignore-scripts', name], { stdio: 'ignore' });
    if (installed.status !== 0) {
      process.stderr.write(`  ${name} cannot be installed here.\n`);
      continue;
    }
    const ratios = [];
    for (let i = -1; i < pairs; i++) {
      const bare = milliseconds(process.execPath, ['-e', '0']);
      const peer = milliseconds(join(prefix, 'node_modules', '.bin', program), ['--version']);
      if (i >= 0) ratios.push(peer / bare);
    }
    const detail = `${Math.round(bytesOf(prefix) / 1e6)} MB installed`;
    rows.push({ what: `${program} --version / bare node`, value: median(ratios), detail });
    rmSync(prefix, { recursive: true, force: true });
  }
  tell(rows);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function milliseconds(program, argv) {
  const began = performance.now();
  const { status, stderr } = spawnSync(program, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  if (status !== 0) throw new Error(`${program}: ${stderr}`);
  return performance.now() - began;
}

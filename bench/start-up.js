// What a start of svc takes, against a bare `node -e 0`, and a Tab against `svc --version`.
// Needs `npm run build`. Each run of svc stands beside a bare one, and the median of the pairs' ratios counts: what
// disturbs the machine for a moment meets both, and what meets one alone is not in the middle.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { here } from '../build/node-of.js';
import { median, tell } from './tell.js';

const pairs = 41;
const svc = join(import.meta.dirname, '..', 'bin', 'svc.js');
// Measured where `npm run build:binary` has made it.
const executable = join(import.meta.dirname, '..', 'binary', `svc-${here}`);
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
// Where the first is set, Node itself reads certificates at every start, and every ratio would look better than it is.
// Where one of the others is, no compiled code is kept.
const { NODE_EXTRA_CA_CERTS: _, NODE_DISABLE_COMPILE_CACHE: __, CI: ___, ...inherited } = process.env;
const env = { ...inherited, SVC_CONFIG_DIR: folder, SVC_STATE_DIR: folder, SVC_API_KEY: 'key_acme' };

const sandbox = spawn(process.execPath, [svc, 'sandbox', 'start', '--port', '0', '--rate-limit', 'off', '--json'], {
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const [started] = await new Promise((resolve) => sandbox.stdout.once('data', (...line) => resolve(line)));
  env.SVC_BASE_URL = JSON.parse(started).base_url;

  const bare = ['-e', '0'];
  const version = [svc, '--version'];
  const tab = [svc, '__complete', '--', 'tickets', 're'];
  const uncompiled = { NODE_DISABLE_COMPILE_CACHE: '1' };
  const major = Number(process.versions.node.split('.')[0]);
  tell([
    { what: 'svc --version / bare node', atMost: 1.15, ...compare(version, bare) },
    { what: 'svc --help / bare node', atMost: 1.15, ...compare([svc, '--help'], bare) },
    { what: 'a Tab / svc --version', ...compare(tab, version) },
    { what: 'svc config list / bare node', atMost: 1.8, ...compare([svc, 'config', 'list'], bare) },
    {
      what: `svc contacts list / bare node ${major}`,
      atMost: major < 22 ? 2.8 : 2.5,
      ...compare([svc, 'contacts', 'list'], bare),
    },
    {
      what: 'svc contacts list, nothing kept / bare node',
      ...compare([svc, 'contacts', 'list'], bare, { more: uncompiled }),
    },
    ...(existsSync(executable)
      ? [
          {
            what: 'the executable --version / bare node',
            atMost: 1.6,
            ...compare(['--version'], bare, { executable }),
          },
          {
            what: 'the executable contacts list / bare node',
            atMost: 3.5,
            ...compare(['contacts', 'list'], bare, { executable }),
          },
        ]
      : []),
  ]);
} finally {
  sandbox.kill();
  rmSync(folder, { recursive: true, force: true });
}

function compare(one, other, how = {}) {
  const [ones, others] = [[], []];
  for (let i = -3; i < pairs; i++) {
    // Which goes first alternates, too.
    const times =
      i % 2 ? [milliseconds(one, how), milliseconds(other)] : [milliseconds(other), milliseconds(one, how)].reverse();
    if (i < 0) continue;
    ones.push(times[0]);
    others.push(times[1]);
  }
  const detail = `${median(ones).toFixed(1)} ms against ${median(others).toFixed(1)} ms`;
  return { value: median(ones.map((time, i) => time / others[i])), detail };
}

function milliseconds(argv, { more = {}, executable: program = process.execPath } = {}) {
  const began = performance.now();
  const { status, stderr } = spawnSync(program, argv, {
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status !== 0) throw new Error(`${argv.join(' ')}: ${stderr}`);
  return performance.now() - began;
}

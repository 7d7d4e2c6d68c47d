// The copy of an account of 100,000 contacts and 20,000 tickets, from a sandbox without limits:
// the first pull of the contacts in rows a second and its peak memory, the tickets for comparison, a pull with nothing new
// in requests, and questions against a bare `node -e 0`. Needs `npm run build`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, tell } from './tell.js';

const contacts = 100_000;
const tickets = 20_000;
const rounds = 15;
/** Node's own SQLite, where it has an authorizer. */
const [major, minor] = process.versions.node.split('.').map(Number);
const isNative = major > 24 || (major === 24 && minor >= 10);
const atMost = isNative ? 2.5 : 6;
const svc = join(import.meta.dirname, '..', 'bin', 'svc.js');
const usage = join(import.meta.dirname, 'sync-usage.cjs');
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
const env = { ...inherited, SVC_CONFIG_DIR: folder, SVC_STATE_DIR: folder, SVC_API_KEY: 'key_acme' };

const seed = join(folder, 'seed.json');
const at = (n) => new Date(Date.parse('2026-01-01T00:00:00Z') + n * 10_000).toISOString();
writeFileSync(
  seed,
  JSON.stringify({
    contacts: Array.from({ length: contacts }, (_, i) => ({
      contact_id: i + 1,
      account_id: 1,
      name: `Ada${i}`,
      last_name: `Byron${i % 977}`,
      email: `ada${i}@example${i % 1000}.com`,
      phone: `+1415${String(5_550_000 + i).padStart(7, '0')}`,
      company: `Company ${i % 5000}`,
      country: 'DE',
      tags: ['newsletter', `tag${i % 7}`],
      metadata: { plan: 'pro' },
      created_at: at(i),
      updated_at: at(i),
    })),
    tickets: Array.from({ length: tickets }, (_, i) => ({
      id: i + 1,
      account_id: 1,
      ticket_number: `T-${i + 1001}`,
      subject: `The export stops at row ${i}`,
      description: 'It worked yesterday, and today it does not.',
      contact_id: i + 1,
      created_at: at(i),
      updated_at: at(i),
      messages: [{ id: i + 1, direction: 'in', body: 'Please help me with this.', created_at: at(i) }],
    })),
  }),
);

const sandbox = spawn(
  process.execPath,
  [svc, 'sandbox', 'start', '--port', '0', '--rate-limit', 'off', '--seed', seed, '--json'],
  { env, stdio: ['ignore', 'pipe', 'inherit'] },
);
try {
  const [started] = await new Promise((resolve) => sandbox.stdout.once('data', (...line) => resolve(line)));
  env.SVC_BASE_URL = JSON.parse(started).base_url;

  const first = pull('--only', 'contacts');
  const texts = pull('--only', 'tickets');
  // The kinds that neither has read.
  pull();
  const nothing = pull();
  const again = pull('--rescan', '0');
  tell([
    {
      what: 'mirror pull, contacts',
      value: contacts / first.seconds,
      unit: 'rows/s',
      atLeast: 5_000,
      detail: `${first.seconds.toFixed(1)} s, ${first.requests} requests`,
    },
    { what: 'mirror pull, contacts, peak memory', value: first.mb, unit: 'MB', atMost: 150 },
    {
      what: 'mirror pull, tickets with threads',
      value: tickets / texts.seconds,
      unit: 'rows/s',
      detail: `${texts.requests} requests: one for each thread; ${Math.round(texts.mb)} MB`,
    },
    // Seven kinds, no lists, and at most the ten pages of --rescan.
    { what: 'mirror pull with nothing new', value: nothing.requests, unit: 'requests', atMost: 17 },
    { what: 'mirror pull with nothing new, --rescan 0', value: again.requests, unit: 'requests', atMost: 7 },
    {
      what: 'contacts find EMAIL, from the copy / bare node',
      atMost,
      ...compare('contacts', 'find', 'ada77777@example777.com'),
    },
    {
      what: 'mirror sql, one contact by email / bare node',
      atMost,
      ...compare('mirror', 'sql', "SELECT contact_id, name FROM contacts WHERE email = 'ada77777@example777.com'"),
    },
    {
      what: 'mirror sql, a count over 100,000 / bare node',
      atMost,
      ...compare('mirror', 'sql', 'SELECT count(*) AS n FROM contacts'),
    },
    ...againstSqlite(),
  ]);
} finally {
  sandbox.kill();
  // Until then it writes there.
  await once(sandbox, 'exit');
  rmSync(folder, { recursive: true, force: true });
}

function pull(...flags) {
  const ran = spawnSync(process.execPath, ['--require', usage, svc, 'mirror', 'pull', '--json', '--quiet', ...flags], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  if (ran.status !== 0) throw new Error(`mirror pull: ${ran.stderr}`);
  const { seconds, peakMiB } = JSON.parse(String(ran.output[3]));
  return { seconds, mb: (peakMiB * 1024 * 1024) / 1e6, requests: JSON.parse(String(ran.stdout)).requests };
}

function compare(...command) {
  const ratios = [];
  const times = [];
  for (let i = -2; i < rounds; i++) {
    const bare = milliseconds(['-e', '0']);
    const own = milliseconds([svc, ...command]);
    if (i < 0) continue;
    ratios.push(own / bare);
    times.push(own);
  }
  return { value: median(ratios), detail: `${median(times).toFixed(1)} ms` };
}

/** A count that reads every row, in svc and in the sqlite3 program, each without its start. */
function againstSqlite() {
  const copy = join(folder, 'mirror.db');
  if (spawnSync('sqlite3', ['--version']).status !== 0) return [];
  const question = "SELECT count(*) FROM contacts WHERE name LIKE '%99' OR company LIKE '%77'";
  const times = { svc: [], svcStart: [], sqlite: [], sqliteStart: [] };
  for (let i = 0; i < rounds; i++) {
    times.svc.push(milliseconds([svc, 'mirror', 'sql', question]));
    times.svcStart.push(milliseconds([svc, 'mirror', 'sql', 'SELECT 1 FROM contacts LIMIT 1']));
    times.sqlite.push(milliseconds([copy, question], 'sqlite3'));
    times.sqliteStart.push(milliseconds([copy, 'SELECT 1 FROM contacts LIMIT 1'], 'sqlite3'));
  }
  const own = median(times.svc) - median(times.svcStart);
  const its = median(times.sqlite) - median(times.sqliteStart);
  return [
    {
      what: 'mirror sql, a count that reads all 100,000 / sqlite3, both without their start',
      value: own / its,
      ...(isNative && { atMost: 1.5 }),
      detail: `${own.toFixed(1)} ms, ${its.toFixed(1)} ms`,
    },
  ];
}

function milliseconds(argv, program = process.execPath) {
  const began = performance.now();
  const { status, stderr } = spawnSync(program, argv, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  if (status !== 0) throw new Error(`${argv.join(' ')}: ${stderr}`);
  return performance.now() - began;
}

// `svc inbox` over a copy of 100,000 tickets, on a real terminal of 200 × 50: from its start to the first rows, against
// a bare `node -e 0`; from a key to the frame that shows it; and what it does when nobody does anything. Needs
// `npm run build`. BENCH_TICKETS=N takes fewer: the copy is pulled first, a request for each thread.
import { spawn as spawnChild, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { median, tell } from './tell.js';

const tickets = Number(process.env.BENCH_TICKETS ?? 100_000);
const rounds = 15;
const keys = 300;
const idleSeconds = 10;
const major = Number(process.versions.node.split('.')[0]);
const svc = join(import.meta.dirname, '..', 'bin', 'svc.js');
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const { NODE_EXTRA_CA_CERTS: _, NODE_DISABLE_COMPILE_CACHE: __, CI: ___, ...inherited } = process.env;
const env = {
  ...inherited,
  TERM: 'xterm-256color',
  SVC_CONFIG_DIR: folder,
  SVC_STATE_DIR: folder,
  SVC_API_KEY: 'key_acme',
};

const seed = join(folder, 'seed.json');
const at = (n) => new Date(Date.parse('2026-01-01T00:00:00Z') + n * 10_000).toISOString();
writeFileSync(
  seed,
  JSON.stringify({
    tickets: Array.from({ length: tickets }, (_, i) => ({
      id: i + 1,
      account_id: 1,
      ticket_number: `T-${i + 1001}`,
      subject: `The export stops at row ${i}`,
      description: 'It worked yesterday, and today it does not.',
      created_at: at(i),
      updated_at: at(i),
      messages: [{ id: i + 1, direction: 'in', body: 'Please help me with this.', created_at: at(i) }],
    })),
  }),
);
const sandbox = spawnChild(
  process.execPath,
  [svc, 'sandbox', 'start', '--port', '0', '--rate-limit', 'off', '--seed', seed, '--json'],
  { env, stdio: ['ignore', 'pipe', 'inherit'] },
);
try {
  const [started] = await once(sandbox.stdout, 'data');
  env.SVC_BASE_URL = JSON.parse(started).base_url;
  const pulled = spawnSync(process.execPath, [svc, 'mirror', 'pull', '--quiet'], { env, encoding: 'utf8' });
  if (pulled.status !== 0) throw new Error(`mirror pull: ${pulled.stderr}`);

  const [ratios, firsts, bares] = [[], [], []];
  for (let i = -2; i < rounds; i++) {
    const bare = await untilEnd(['-e', '0']);
    const inbox = await openInbox();
    await inbox.end();
    if (i < 0) continue;
    ratios.push(inbox.firstMs / bare);
    firsts.push(inbox.firstMs);
    bares.push(bare);
  }
  const inbox = await openInbox();
  await inbox.quiet();
  const times = [];
  for (let i = 0; i < keys; i++) times.push(await inbox.press(i % 40 < 20 ? 'j' : 'k'));
  await inbox.quiet();
  const wakeUps = await inbox.wakeUps();
  await inbox.end();
  times.sort((a, b) => a - b);

  tell([
    {
      what: `svc inbox, first rows of ${tickets} / bare node ${major}`,
      value: median(ratios),
      atMost: major < 22 ? 7 : 3,
      detail: `${median(firsts).toFixed(1)} ms against ${median(bares).toFixed(1)} ms`,
    },
    {
      what: 'svc inbox, key to screen, 95 of 100',
      value: times[Math.floor(times.length * 0.95)],
      unit: 'ms',
      atMost: 16,
      detail: `median ${median(times).toFixed(1)} ms, longest ${times.at(-1).toFixed(1)} ms`,
    },
    ...(wakeUps === undefined
      ? []
      : [
          {
            what: 'svc inbox, wake-ups when idle',
            value: wakeUps,
            unit: '/s',
            atMost: 1,
            detail: `median of ${idleSeconds} s`,
          },
        ]),
  ]);
} finally {
  sandbox.kill();
  await once(sandbox, 'exit');
  rmSync(folder, { recursive: true, force: true });
}

function onTerminal(argv) {
  return spawn(process.execPath, argv, { cols: 200, rows: 50, env, cwd: folder });
}

/** Milliseconds from the start to the end. */
function untilEnd(argv) {
  const began = performance.now();
  const pty = onTerminal(argv);
  return new Promise((resolve) => pty.onExit(() => resolve(performance.now() - began)));
}

async function openInbox() {
  const began = performance.now();
  const pty = onTerminal([svc, 'inbox']);
  let bytes = '';
  let hear = () => {};
  pty.onData((text) => {
    bytes += text;
    hear();
  });
  const ended = new Promise((resolve) => pty.onExit(resolve));
  /** Until what came since the last call passes. */
  const until = (passes) =>
    new Promise((resolve, reject) => {
      hear = () => {
        if (!passes(bytes)) return;
        hear = () => {};
        resolve();
      };
      void ended.then(() => reject(new Error(`svc inbox ended.\n${bytes.slice(-2000)}`)));
      hear();
    });
  await until((text) => text.includes('The export stops'));
  const firstMs = performance.now() - began;
  /** Half a second without a byte: what loads beside is there. */
  const quiet = async () => {
    for (let before = -1; before !== bytes.length; ) {
      before = bytes.length;
      await wait(500);
    }
  };
  return {
    firstMs,
    quiet,
    /** Milliseconds from the key to the end of the frame that follows. */
    async press(key) {
      // A person is slower; what a key before has set going is over.
      await wait(30);
      bytes = '';
      const pressed = performance.now();
      pty.write(key);
      await until((text) => text.includes('\x1b[?2026l'));
      return performance.now() - pressed;
    },
    /** How often the main thread wakes up in a second without a pull; undefined where the system does not tell. */
    async wakeUps() {
      const count = () => {
        const path = `/proc/${pty.pid}/task/${pty.pid}/status`;
        if (!existsSync(path)) return undefined;
        return Number(/^voluntary_ctxt_switches:\s*(\d+)/mu.exec(readFileSync(path, 'utf8'))?.[1]);
      };
      if (count() === undefined) return undefined;
      const seconds = [];
      for (let second = 0; second < idleSeconds; second++) {
        const before = count();
        await wait(1000);
        seconds.push(count() - before);
      }
      // The pull of each quarter of a minute is work, and falls into a few of them.
      return median(seconds);
    },
    async end() {
      pty.write('q');
      await ended;
    },
  };
}

function wait(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

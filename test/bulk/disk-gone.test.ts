// @module-tag long
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import { createSandbox, type Sandbox } from '../../src/sandbox/app.ts';
import { type Server, serve } from '../../src/sandbox/server.ts';
import { type Built, buildSvc } from '../built.ts';
import { allowed } from '../real-machine.ts';

// A disk that goes away without the machine and comes back: what was written to it and not synced is gone.

/** The image, where it is mounted, and what is done with it. Errors of a clean-up are none of the probe. */
const tryOut = `set -e; d=$(mktemp -d); trap 'umount -l "$d/m" 2>/dev/null || true; rm -rf "$d"' EXIT
truncate -s 16M "$d/i"; mkfs.ext4 -q "$d/i"; mkdir "$d/m"; mount -o loop "$d/i" "$d/m"; perl -e 1`;

const withLoop = allowed('Mounting an image as a disk', 'sh', '-c', tryOut);

const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: 'pipe' });

/** EXT4_IOC_SHUTDOWN without flushing the log. */
const shutDown = (mounted: string) =>
  run(
    'perl',
    '-e',
    'open(my $h, "<", $ARGV[0]) or die $!; my $how = pack("L", 2); ioctl($h, 0x8004587d, $how) or die $!',
    mounted,
  );

let built: Built;
let sandbox: Sandbox;
let server: Server;
let onWrite: () => unknown = () => {};

beforeAll(async () => {
  built = await buildSvc();
  sandbox = createSandbox({ seed: 'empty', rateLimit: 'off' });
  const handle: Sandbox['handle'] = async (request) => {
    if (request.method === 'POST') await onWrite();
    return sandbox.handle(request);
  };
  server = await serve({ ...sandbox, handle }, 0);
});
afterAll(async () => {
  await server.close();
  await built.remove();
});

function start(folder: string, file: string) {
  const argv = [built.script, 'tickets', 'create', '--from', file, '--json', '--settle', '1', '--concurrency', '1'];
  const child = spawn(process.execPath, argv, {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      SVC_BASE_URL: `http://127.0.0.1:${server.port}`,
      SVC_API_KEY: 'key_acme',
      SVC_CONFIG_DIR: join(folder, 'config'),
      SVC_STATE_DIR: join(folder, 'disk'),
    },
  });
  const out = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    out.stderr += text;
  });
  return { child, ended: once(child, 'close').then(([code, signal]) => ({ code, signal, ...out })) };
}

async function disk() {
  const folder = await mkdtemp(join(built.folder, 'gone-'));
  const mounted = join(folder, 'disk');
  let image = join(folder, 'image');
  run('truncate', '-s', '32M', image);
  run('mkfs.ext4', '-q', image);
  await mkdir(mounted);
  let mounts = 0;
  const mount = () => {
    // Another program's mount namespace can keep the disk that went away, and Linux gives the same image the same disk.
    const disk = `${image}-${++mounts}`;
    run('cp', '--sparse=always', image, disk);
    image = disk;
    // Nothing is written back by itself while the test looks on.
    run('mount', '-o', 'loop,commit=300', disk, mounted);
  };
  mount();
  return { folder, mounted, mount, unmount: () => run('umount', '-l', mounted) };
}

const subjectsOf = async (name: string): Promise<string[]> => {
  const { body } = await sandbox.handle({ method: 'GET', url: '/_sandbox/state', headers: { host: '127.0.0.1' } });
  const { tickets } = JSON.parse(body) as { tickets: { subject: string }[] };
  return tickets.map(({ subject }) => subject).filter((subject) => subject.startsWith(name));
};

const rowsOf = async (folder: string, name: string) => {
  const lines = Array.from({ length: 60 }, (_, i) => `${name} ${i}`);
  await writeFile(join(folder, 'rows.csv'), `subject\n${lines.join('\n')}\n`);
  return lines;
};

/** Once so many rows have come in. */
function after(writes: number, step: () => unknown): void {
  let count = 0;
  onWrite = () => (++count === writes ? step() : undefined);
}

withLoop('rows that were sent when their disk went away are not sent again when it is back', async () => {
  const { folder, mounted, mount, unmount } = await disk();
  try {
    const lines = await rowsOf(folder, 'Killed');
    const { child, ended } = start(folder, 'rows.csv');
    after(20, () => {
      child.kill('SIGKILL');
      shutDown(mounted);
    });
    expect(await ended).toMatchObject({ signal: 'SIGKILL' });
    unmount();
    mount();
    const ran = await start(folder, 'rows.csv').ended;
    expect(ran.stdout, ran.stderr).not.toBe('');
    const { done, unknown, unsent } = JSON.parse(ran.stdout);
    expect([done + unknown, unsent], ran.stderr).toEqual([60, 0]);
    const made = await subjectsOf('Killed');
    expect(made).toEqual([...new Set(made)]);
    expect(made.length).toBeGreaterThanOrEqual(done);
    expect(lines).toEqual(expect.arrayContaining(made));
  } finally {
    unmount();
  }
});

/** Longer than svc keeps the lock of its record between two lines: it gives back a lock whose disk is gone. */
const idle = () => sleep(600);

for (const [when, then] of [
  ['at once', () => {}],
  ['while it waits for an answer', idle],
] as const)
  withLoop(
    `a run whose disk goes away ${when} ends with its sums and says why; the next one doubles nothing`,
    async () => {
      const { folder, mounted, mount, unmount } = await disk();
      try {
        await rowsOf(folder, when);
        after(20, () => {
          shutDown(mounted);
          return then();
        });
        const began = performance.now();
        const first = await start(folder, 'rows.csv').ended;
        onWrite = () => {};
        expect(first.stderr).toMatch(
          /(?:The journal of this file cannot be written|The write cannot be recorded, so it was not sent): the disk fails\. \d+ of 60 rows are done\./u,
        );
        // It waits for no lock that is its own.
        expect(performance.now() - began).toBeLessThan(60_000);
        expect(first.stderr).not.toContain('unexpectedly');
        const sums = JSON.parse(first.stdout);
        expect(sums.done + sums.unknown + sums.unsent).toBe(60);
        expect([1, 9]).toContain(first.code);
        unmount();
        mount();
        const ran = await start(folder, 'rows.csv').ended;
        const { done, unknown } = JSON.parse(ran.stdout);
        expect(done + unknown, ran.stderr).toBe(60);
        const made = await subjectsOf(when);
        expect(made).toEqual([...new Set(made)]);
      } finally {
        unmount();
      }
    },
  );

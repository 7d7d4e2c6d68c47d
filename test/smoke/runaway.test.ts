import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';
import { real } from '../real-component.ts';
import { createWorld, svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';
import { forcedEnd, hasOpened, hasWorked, tellingExit, threadHasWorked, until } from './processes.ts';

let built: Built;
let server: Server;
let env: Record<string, string>;
const bodies: string[] = [];

beforeAll(async () => {
  built = await buildSvc();
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (body !== '') bodies.push(body);
    response.setHeader('content-type', 'application/json').end('{"contacts":[{"contact_id":1}],"note":{"id":1}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  env = {
    SVC_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    SVC_API_KEY: 'any',
    SVC_WEBHOOK_SECRET: 'any',
    SVC_CONFIG_DIR: `${built.folder}/config`,
    SVC_STATE_DIR: `${built.folder}/state`,
    ...tellingExit(built.folder),
  };
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await built.remove();
});

// Without standard input unless a test gives one.
const start = (...argv: string[]) => shell('exec "$0" "$@" < /dev/null', argv);
const shell = (line: string, argv: readonly string[]) =>
  execa('bash', ['-c', line, process.execPath, built.script, ...argv], {
    reject: false,
    env,
    timeout: 60_000,
    killSignal: 'SIGKILL',
    stdin: 'pipe',
  });

/** Ctrl-C. What it does not end is killed after a minute, and has no exit code. */
async function interrupt(run: ReturnType<typeof shell>) {
  run.kill('SIGINT');
  const { exitCode, stderr } = await run;
  expect(stderr).not.toContain(forcedEnd);
  return { exitCode, stderr };
}

const isWaiting = 'Interrupted while waiting for input.';

describe('a filter', () => {
  test.each(['def f: f; f', '[range(1e12)] | length', 'last(repeat(1))'])(
    '%s never ends, and the first Ctrl-C ends it with 130',
    { tags: ['long'] },
    async (filter) => {
      const run = start('contacts', 'list', '--jq', filter);
      await threadHasWorked(run);
      const { exitCode, stderr } = await interrupt(run);
      expect(exitCode).toBe(130);
      expect(stderr).toContain(`Interrupted while the filter ${filter} ran.`);
    },
  );

  test('that is not valid sends nothing', { tags: ['long'] }, async () => {
    const before = bodies.length;
    expect((await start('contacts', 'list', '--jq', '.a |')).exitCode).toBe(2);
    expect(bodies).toHaveLength(before);
  });

  test.each([
    ['.verdict', 0],
    ['def f: f; f', 130],
  ])('of a listener, %s, ends with it: exit %i', { tags: ['long'] }, async (filter, wanted) => {
    const run = start('webhooks', 'listen', '--port', '0', '--jq', filter);
    const told = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      run[name].on('data', (chunk) => {
        told[name] += chunk;
      });
    await until(() => told.stderr.includes('Listening on '));
    const [, url = ''] = /Listening on (\S+)/u.exec(told.stderr) ?? [];
    expect((await start('webhooks', 'trigger', 'ticket.created', '--to', url)).exitCode).toBe(0);
    // The one has printed its result, the other is at work.
    await (wanted === 0 ? until(() => told.stdout !== '') : threadHasWorked(run));
    const { exitCode } = await interrupt(run);
    expect(exitCode).toBe(wanted);
  });
});

const withFifo = real('mkfifo', 'bash');

function fifo(): string {
  const path = join(mkdtempSync(join(built.folder, 'fifo-')), 'fifo');
  execFileSync('mkfifo', [path]);
  return path;
}
const write = (path: string, line: string, input = '') =>
  execFileSync('sh', ['-c', `(${line}) > "$0"`, path], { input, timeout: 60_000 });

const readers: readonly [string, (path: string) => string[]][] = [
  ['contacts sync', (path) => ['contacts', 'sync', path]],
  ['--body-file', (path) => ['tickets', 'note', '7', '--body-file', path]],
  ['--input', (path) => ['api', '/contacts', '-X', 'POST', '--input', path]],
  ['contacts create --file', (path) => ['contacts', 'create', '--file', path]],
  ['sandbox start --seed', (path) => ['sandbox', 'start', '--port', '0', '--seed', path]],
  ['webhooks verify --body', (path) => ['webhooks', 'verify', '--signature', 'aa', '--body', path]],
];

describe('a FIFO that nobody writes', () => {
  for (const [reader, argv] of readers) {
    withFifo(`is waited for by ${reader}, and the first Ctrl-C ends that with 130`, async () => {
      const path = fifo();
      const control = new AbortController();
      const world = createWorld(async () => ({ status: 200, headers: {}, body: '{}' }), { env });
      const run = svc(world, argv(path), { signal: control.signal });
      await hasOpened(process, new RegExp(`^${path}$`, 'u'));
      control.abort('SIGINT');
      const { exitCode, stderr } = await run;
      expect(exitCode).toBe(130);
      expect(stderr).toContain(isWaiting);
    });
  }

  for (const [reader, argv] of inTurn(readers, 0, 3)) {
    withFifo(
      `is waited for by ${reader} as a process, which the first Ctrl-C ends with 130`,
      { tags: ['long'] },
      async () => {
        const run = start(...argv(fifo()));
        await hasOpened(run, /\/fifo$/u);
        const { exitCode, stderr } = await interrupt(run);
        expect(exitCode).toBe(130);
        expect(stderr).toContain(isWaiting);
      },
    );
  }
});

/** Far more than a pipe holds, once each has its reason beside it. */
const wrong = Array.from({ length: 5_000 }, (_, n) => `none ${n}`);

/** A dry run that has rejected all of its rows. */
function rejecting(path: string) {
  const rows = join(mkdtempSync(join(built.folder, 'rows-')), 'rows.csv');
  writeFileSync(rows, `email\n${wrong.join('\n')}\n`);
  return start('contacts', 'sync', rows, '--dry-run', '--rejects', path);
}

describe('a FIFO that is written', () => {
  withFifo('and whose reader reads nothing does not outlast a second Ctrl-C', { tags: ['long'] }, async () => {
    const path = fifo();
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const run = rejecting(path);
    let said = '';
    run.stderr.on('data', (chunk) => {
      said += chunk;
    });
    await hasOpened(run, /\/fifo$/u);
    run.kill('SIGINT');
    await until(() => said.includes('Ctrl-C again'));
    const again = setInterval(() => run.kill('SIGINT'), 100);
    expect((await run).exitCode).toBe(130);
    clearInterval(again);
    closeSync(reader);
  });

  withFifo('gets the whole file once somebody reads it', { tags: ['long'] }, async () => {
    const path = fifo();
    const run = rejecting(path);
    const read = execFileSync('sh', ['-c', 'sleep 0.5; cat "$0"', path], { timeout: 60_000, maxBuffer: 1 << 26 });
    expect(read.toString().trimEnd().split('\n')).toHaveLength(wrong.length + 1);
    expect((await run).exitCode).toBe(2);
  });
});

// This service says the same to every write, so svc looks for the record afterwards: a read, without a body.
const sent = (): unknown => JSON.parse(bodies.findLast((body) => body !== '') ?? '');

describe('a FIFO', () => {
  withFifo('that is written later is read whole, however slowly it comes', { tags: ['long'] }, async () => {
    const path = fifo();
    const run = start('api', '/contacts', '-X', 'POST', '--input', path);
    await hasOpened(run, /\/fifo$/u);
    const text = JSON.stringify({ text: 'x'.repeat(200_000) });
    write(path, 'sleep 0.2; printf "["; cat; sleep 0.2; printf "]"', text);
    await run;
    expect(bodies.at(-1)).toBe(`[${text}]`);
  });

  withFifo('that is written later is synced whole', { tags: ['long'] }, async () => {
    const path = fifo();
    const run = start('contacts', 'sync', path, '--dry-run', '--json');
    await hasOpened(run, /\/fifo$/u);
    const rows = Array.from({ length: 5_000 }, (_, n) => `ada${n}@example.com`);
    write(path, 'cat', `email\n${rows.join('\n')}\n`);
    expect(JSON.parse((await run).stdout)).toMatchObject({ rows: 5_000 });
  });

  withFifo('whose writer says nothing is empty', { tags: ['long'] }, async () => {
    const path = fifo();
    const run = start('tickets', 'note', '7', '--body-file', path);
    await hasOpened(run, /\/fifo$/u);
    write(path, ':');
    expect(await run).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('empty') });
  });

  withFifo('whose writer came first is read whole', { tags: ['long'] }, async () => {
    const path = fifo();
    const writer = execa('sh', ['-c', 'printf early > "$0"', path]);
    await start('tickets', 'note', '7', '--body-file', path);
    expect(sent()).toMatchObject({ body: 'early' });
    await writer;
  });

  withFifo('of a shell whose writer has left before svc began is read whole', { tags: ['long'] }, async () => {
    const ran = await shell('exec "$0" "$@" --body-file <(printf hello)', ['tickets', 'note', '7']);
    expect(ran.stderr).not.toContain('--body-file');
    expect(sent()).toMatchObject({ body: 'hello' });
  });
});

test.each([
  ['contacts sync -', ['contacts', 'sync', '-']],
  ['--body-file -', ['tickets', 'note', '7', '--body-file', '-']],
  ['--secret-stdin', ['webhooks', 'verify', '--secret-stdin', '--signature', 'aa', '--body', '/dev/null']],
])('standard input never ends, and the first Ctrl-C ends %s with 130', { tags: ['long'] }, async (_, argv) => {
  const run = shell('exec "$0" "$@"', argv);
  // Far more than a pipe holds: once it is written, svc is reading.
  await new Promise((resolve) => run.stdin.write('a line\n'.repeat(100_000), resolve));
  const { exitCode, stderr } = await interrupt(run);
  expect(exitCode).toBe(130);
  expect(stderr).toContain(isWaiting);
});

test('a device that never ends is too large, and a sync of it is ended by Ctrl-C', { tags: ['long'] }, async () => {
  expect(await start('tickets', 'note', '7', '--body-file', '/dev/zero')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('larger than 16 MiB'),
  });
  const run = shell('exec "$0" "$@" < /dev/zero', ['contacts', 'sync', '-']);
  await hasWorked(run, 0.5);
  expect((await interrupt(run)).exitCode).toBe(130);
});

test('a terminal named as a file is read to its end, and ended by Ctrl-C', { tags: ['long'] }, async () => {
  const type = async (typed: string) => {
    const terminal = spawn(process.execPath, [built.script, 'tickets', 'note', '7', '--body-file', '/dev/tty'], {
      env: { ...process.env, ...env },
    });
    const exited = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
    await hasOpened(terminal, /^\/dev\/tty$/u);
    terminal.write(typed);
    return exited;
  };
  await type('typed text\r\u0004');
  expect(sent()).toMatchObject({ body: 'typed text' });
  expect(await type('\u0003')).toBe(130);
});

test('a file that is too large is refused', { tags: ['long'] }, async () => {
  const path = join(built.folder, 'large');
  writeFileSync(path, Buffer.alloc(17 << 20, 'x'));
  expect(await start('tickets', 'note', '7', '--body-file', path)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('larger than 16 MiB'),
  });
});

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createExchange } from '../../src/node/exchange.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/app.ts';
import { type Server, serve } from '../../src/sandbox/server.ts';
import { splitWords } from '../../src/text/command-words.ts';
import { type Built, buildSvc } from '../built.ts';
import { allowed } from '../real-machine.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { createWorld, svc } from '../svc.ts';
import { draws, isThorough } from '../thorough.ts';
import { realClock } from '../webhooks/listening.ts';

// The built tool as a real process against a real sandbox. SVC_MIGRATION_ROWS=10000 makes it the size of a migration.

const rows = Number(process.env.SVC_MIGRATION_ROWS ?? draws(200, 600)) / 2;
const kills = draws(2, 5);

const withMounts = allowed('Mounting a disk', 'unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt');

const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: 'pipe' });

let built: Built;
let sandbox: Sandbox;
let server: Server;
/** Told of each write that comes in, before it is looked at. */
let onWrite: () => void = () => {};

beforeAll(async () => {
  built = await buildSvc();
  sandbox = createSandbox({ seed: 'empty', rateLimit: 'off' });
  const handle: Sandbox['handle'] = (request) => {
    if (request.method === 'POST') onWrite();
    return sandbox.handle(request);
  };
  server = await serve({ ...sandbox, handle }, 0);
});
afterAll(async () => {
  await server.close();
  await built.remove();
});

type Run = { readonly folder: string; readonly argv: readonly string[]; readonly through?: readonly string[] };

function start({ folder, argv, through = [] }: Run) {
  const settle = argv.includes('--settle') ? [] : ['--settle', '1'];
  const [program = '', ...args] = [...through, process.execPath, built.script, ...argv, '--json', ...settle];
  const child = spawn(program, args, {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      SVC_BASE_URL: `http://127.0.0.1:${server.port}`,
      SVC_API_KEY: 'key_acme',
      SVC_CONFIG_DIR: join(folder, 'config'),
      SVC_STATE_DIR: join(folder, 'state'),
    },
  });
  const out = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    out.stderr += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...out }));
  return { child, ended };
}

/** The run that goes on where processes died. What it finds they have left, so that it needs no process of its own. */
async function goOn({ folder, argv }: Run): Promise<Awaited<ReturnType<typeof start>['ended']>> {
  const inFolder = argv.map((word) => (/\.(?:csv|jsonl)(?::|$)/u.test(word) ? join(folder, word) : word));
  const settle = argv.includes('--settle') ? [] : ['--settle', '1'];
  const env = { SVC_BASE_URL: `http://127.0.0.1:${server.port}`, SVC_API_KEY: 'key_acme' };
  const world = createWorld(await createExchange({}), { clock: realClock, folder, env });
  const { exitCode, ...said } = await svc(world, [...inFolder, '--json', ...settle]);
  return { code: exitCode, signal: null, ...said };
}

/** Kills the run when so many writes have come in, again and again, and then lets it end. */
async function killedOften(run: Run): Promise<Awaited<ReturnType<typeof start>['ended']>> {
  for (let death = 1; death <= kills; death++) {
    const { child, ended } = start(run);
    let writes = 0;
    onWrite = () => {
      if (++writes === Math.floor((rows * 0.8) / kills) + death) child.kill('SIGKILL');
    };
    expect(await ended).toMatchObject({ signal: 'SIGKILL' });
    onWrite = () => {};
  }
  return goOn(run);
}

type State = {
  readonly tickets: readonly {
    readonly id: number;
    readonly subject: string;
    readonly notes: readonly { readonly body: string }[];
  }[];
};

const stateOf = async (): Promise<State> => {
  const headers = { host: '127.0.0.1' };
  return JSON.parse((await sandbox.handle({ method: 'GET', url: '/_sandbox/state', headers })).body);
};

describe('a migration of tickets and their notes, killed again and again', () => {
  let folder: string;
  let mapped: ReadonlyMap<string, number>;

  test('makes every ticket once', async () => {
    folder = await mkdtemp(join(built.folder, 'bulk-'));
    const lines = Array.from({ length: rows }, (_, i) => `OLD-${i},Ticket ${i},${i % 5}`);
    await writeFile(join(folder, 'tickets.csv'), `old_id,subject,priority\n${lines.join('\n')}\n`);
    const argv = ['tickets', 'create', '--from', 'tickets.csv', '--results', 'created.csv'];
    const ran = await killedOften({ folder, argv });
    const { done, unknown, ...report } = JSON.parse(ran.stdout);
    expect(report).toMatchObject({ rows, rejected: 0, unsent: 0 });
    expect(done + unknown).toBe(rows);
    expect(ran.code).toBe(unknown > 0 ? 9 : 0);
    const { tickets } = await stateOf();
    expect(new Set(tickets.map(({ subject }) => subject)).size).toBe(tickets.length);
    // What is unknown was on its way when the process died, and never came.
    expect(unknown).toBeLessThanOrEqual(4 * kills);
    expect(tickets.length).toBe(done);
    const made = (await readFile(join(folder, 'created.csv'), 'utf8')).trim().split('\r\n').slice(1);
    mapped = new Map(
      made
        .map((line) => line.split(','))
        .flatMap((cells) => (cells[4] === 'done' ? [[cells[0] ?? '', Number(cells[5])]] : [])),
    );
    const subjectOf = new Map(tickets.map(({ id, subject }) => [id, subject]));
    for (const [old, id] of mapped) expect(subjectOf.get(id)).toBe(old.replace('OLD-', 'Ticket '));
    expect(mapped.size).toBe(done);
  });

  test('adds no note twice, and none to the wrong ticket', { tags: ['long'] }, async () => {
    const lines = Array.from({ length: rows }, (_, i) =>
      JSON.stringify({ ticket: `OLD-${i}`, body: `Note of OLD-${i}` }),
    );
    await writeFile(join(folder, 'notes.jsonl'), lines.join('\n'));
    const argv = ['tickets', 'note', '--from', 'notes.jsonl', '--id-map', 'created.csv:old_id'];
    const ran = await killedOften({ folder, argv });
    const { done, unknown, rejected, unsent } = JSON.parse(ran.stdout);
    expect([done + unknown + rejected, unsent]).toEqual([rows, 0]);
    expect(rejected).toBe(rows - mapped.size);
    // A note that was on its way cannot be looked up.
    expect(unknown).toBeLessThanOrEqual(4 * kills);
    const notes = (await stateOf()).tickets.flatMap(({ id, notes }) => notes.map(({ body }) => ({ id, body })));
    expect(new Set(notes.map(({ body }) => body)).size).toBe(notes.length);
    expect(notes.length).toBeGreaterThanOrEqual(done);
    expect(notes.length).toBeLessThanOrEqual(done + unknown);
    for (const { id, body } of notes) expect(mapped.get(body.replace('Note of ', ''))).toBe(id);
  });
});

test('a disk that is full stops the run, and the next one goes on without doubling a row', {
  tags: ['long'],
}, async () => {
  const folder = await mkdtemp(join(built.folder, 'bulk-'));
  const lines = Array.from({ length: 60 }, (_, i) => `Full ${i}`);
  await writeFile(join(folder, 'full.csv'), `subject\n${lines.join('\n')}\n`);
  // A file may grow to four blocks: enough for the journal's first lines.
  const through = ['bash', '-c', `trap '' XFSZ; ulimit -f 4; exec "$@"`, 'bash'];
  const argv = ['tickets', 'create', '--from', 'full.csv'];
  const { code, stderr, stdout } = await start({ folder, argv, through }).ended;
  expect(stderr).toMatch(
    /(?:The journal of this file cannot be written|The write cannot be recorded, so it was not sent): .* \d+ of 60 rows are done\./u,
  );
  expect([1, 9]).toContain(code);
  expect(JSON.parse(stdout).unsent).toBeGreaterThan(0);
  const ran = await goOn({ folder, argv });
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  const subjects = (await stateOf()).tickets
    .map(({ subject }) => subject)
    .filter((subject) => subject.startsWith('Full'));
  expect(subjects.sort()).toEqual(lines.sort());
});

withMounts(
  'a disk of its own that fills up in the middle of a run loses and doubles no row',
  { tags: ['long'] },
  async () => {
    const folder = await mkdtemp(join(built.folder, 'bulk-'));
    const disk = join(folder, 'state');
    await mkdir(disk);
    run('mount', '-t', 'tmpfs', '-o', 'size=32k', 'tmpfs', disk);
    const lines = Array.from({ length: 150 }, (_, i) => `Disk ${i}`);
    await writeFile(join(folder, 'disk.csv'), `subject\n${lines.join('\n')}\n`);
    const argv = ['tickets', 'create', '--from', 'disk.csv'];
    try {
      const { code, stderr, stdout } = await start({ folder, argv }).ended;
      expect(stderr).toMatch(
        /(?:The journal of this file cannot be written|The write cannot be recorded, so it was not sent): the disk is full\. \d+ of 150 rows are done\./u,
      );
      expect([1, 9]).toContain(code);
      const { done, unknown, unsent } = JSON.parse(stdout);
      expect(done + unknown + unsent).toBe(150);
      expect(unsent).toBeGreaterThan(0);
      run('mount', '-o', 'remount,size=4m', disk);
      const ran = await goOn({ folder, argv });
      expect(ran, ran.stderr).toMatchObject({ code: 0 });
      const subjects = (await stateOf()).tickets
        .map(({ subject }) => subject)
        .filter((subject) => subject.startsWith('Disk'));
      expect(subjects.sort()).toEqual(lines.sort());
    } finally {
      run('umount', '-l', disk);
    }
  },
);

test('Ctrl-C twice ends it at once; what was on its way is looked for by the next run', {
  tags: ['long'],
}, async () => {
  const folder = await mkdtemp(join(built.folder, 'bulk-'));
  await writeFile(join(folder, 'slow.csv'), 'subject\nSlow 1\nSlow 2\n');
  const faults = JSON.stringify([{ method: 'POST', path: '/tickets', action: 'delay', ms: 3_000, times: 1 }]);
  const headers = { host: '127.0.0.1', 'content-type': 'application/json' };
  await sandbox.handle({ method: 'POST', url: '/_sandbox/faults', headers, body: faults });
  const argv = ['tickets', 'create', '--from', 'slow.csv', '--concurrency', '1'];
  const { child, ended } = start({ folder, argv });
  await new Promise<void>((resolve) => {
    onWrite = resolve;
  });
  onWrite = () => {};
  child.kill('SIGINT');
  // Not before the first one was noticed: two signals of one moment are one.
  const again = setInterval(() => child.kill('SIGINT'), 100);
  expect(await ended).toMatchObject({ code: 130 });
  clearInterval(again);
  const ran = await goOn({ folder, argv: [...argv, '--settle', '20'] });
  expect(ran.code, ran.stderr).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({ done: 2, unknown: 0 });
  const made = (await stateOf()).tickets.filter(({ subject }) => subject.startsWith('Slow'));
  expect(made.map(({ subject }) => subject).sort()).toEqual(['Slow 1', 'Slow 2']);
});

type Pipeline = {
  /** What begins it, where that is not svc. */
  readonly input?: { readonly typed: string; readonly bytes: Uint8Array };
  readonly commands: readonly string[];
  /** A pattern of what the last command prints. */
  readonly prints?: string;
  /** What another command prints after it. */
  readonly after?: readonly [command: string, prints: string];
  /** A process in every run of the tests: what is typed, and what is packed. */
  readonly isReal?: true;
};

const rowFromPipe = 'subject\nFrom a pipe\n';
const pipelines: readonly Pipeline[] = [
  {
    commands: ['tickets list --status open --all -o jsonl', 'tickets close --from - --yes'],
    after: ['tickets list --status open --all --jq length', '0'],
    isReal: true,
  },
  {
    commands: [
      'contacts list --limit 3 --fields contact_id -o csv',
      "contacts update --from - --company 'One & Co' --yes",
    ],
    after: ["contacts list --limit 3 --jq 'map(.company) | unique | .[]'", 'One & Co'],
  },
  {
    commands: [
      "tickets list --status closed --limit 5 --jq '.[] | select(.contact.email)'",
      'tickets reply --from - --template template.md --max-sends 500 --yes',
    ],
    prints: '^rejected\t0$',
  },
  { commands: ["contacts list --limit 2 --jq '.[].contact_id'", 'contacts update --from - --country NZ'] },
  {
    input: {
      typed: `printf '${rowFromPipe.replaceAll('\n', String.raw`\n`)}' | gzip -c`,
      bytes: gzipSync(rowFromPipe),
    },
    commands: ['tickets create --from - --jq .done'],
    prints: '^1$',
    isReal: true,
  },
];
const template = 'Dear {{contact.name}}, {{subject}} is fixed.\n';

test('what a command prints is what the next one of a pipeline takes', { tags: ['long'] }, async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  await writeFile(join(world.folder, 'template.md'), template);
  const run = async (command: string, stdin?: string | Uint8Array) => {
    const words = splitWords(command, 'pipeline').map((word) =>
      word === 'template.md' ? join(world.folder, word) : word,
    );
    const ran = await svc(world, words, { stdin });
    expect(ran.exitCode, `${command}: ${ran.stderr}`).toBe(0);
    return ran.stdout;
  };
  for (const { input, commands, prints = '', after } of pipelines) {
    let passed: string | Uint8Array | undefined = input?.bytes;
    for (const command of commands) passed = await run(command, passed);
    expect(passed).toMatch(new RegExp(prints, 'mu'));
    if (after) expect((await run(after[0])).trim()).toBe(after[1]);
  }
});

test('pipelines work as they are typed', { tags: ['long'] }, async () => {
  const folder = await mkdtemp(join(built.folder, 'bulk-'));
  await writeFile(join(folder, 'template.md'), template);
  const lines = pipelines
    .filter(({ isReal }) => isReal || isThorough)
    .flatMap(({ input, commands, prints, after }) => [
      `${[...(input ? [input.typed] : []), ...commands.map((one) => `svc ${one}`)].join(' | ')} > printed.txt`,
      ...(prints ? [`grep -q '${prints}' printed.txt`] : []),
      ...(after ? [`test "$(svc ${after[0]})" = '${after[1]}'`] : []),
    ]);
  const script = `
    svc() { '${process.execPath}' '${built.script}' "$@"; }
    set -eo pipefail
    ${lines.join('\n    ')}
  `;
  await writeFile(join(folder, 'pipelines.sh'), script);
  const child = spawn(process.execPath, [built.script, 'sandbox', 'exec', '--', 'bash', 'pipelines.sh'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, SVC_STATE_DIR: join(folder, 'state') },
  });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  expect(code, said).toBe(0);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandbox } from '../../src/sandbox/app.ts';
import { serve } from '../../src/sandbox/server.ts';
import { type Built, buildSvc } from '../built.ts';
import { inThisProcess, standInForItself } from '../itself.ts';
import { few } from '../sandbox-world.ts';
import { isThorough } from '../thorough.ts';

// `svc sandbox exec -- CMD`: as a real process with real signals, and in this process where neither is what is asked.

let svc: Built;
/** What the tests keep: the folder of `svc` is watched. */
let home: string;
const node = process.execPath;
const temporary = process.env.TMPDIR;
let leave: () => void;
beforeAll(async () => {
  svc = await buildSvc();
  home = mkdtempSync(join(tmpdir(), 'svc-home-'));
  process.env.TMPDIR = svc.folder;
  leave = await standInForItself(home, inThisProcess);
});
afterAll(async () => {
  leave();
  if (temporary === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = temporary;
  rmSync(home, { recursive: true });
  await svc.remove();
});

/** TMPDIR is watched: nothing may be left in it. */
function exec(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(node, [svc.script, 'sandbox', 'exec', ...args], {
    // Compiled code is kept in a home folder; what is asked here is what the sandbox leaves behind.
    env: { PATH: process.env.PATH, HOME: svc.folder, TMPDIR: svc.folder, NODE_DISABLE_COMPILE_CACHE: '1', ...env },
  });
  const out = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    out.stderr += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...out }));
  const says = async (text: string) => {
    while (!out.stdout.includes(text)) await once(child.stdout, 'data');
  };
  return { child, ended, says };
}

const start = (script: string, flags: readonly string[] = [], env?: Record<string, string>) =>
  exec([...flags, '--', 'sh', '-c', script], env);

type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

const places = (folder: string) => ({ SVC_CONFIG_DIR: join(folder, 'config'), SVC_STATE_DIR: join(folder, 'state') });
let count = 0;

/**
 * A program gets the streams of the process that starts it: here a script sends its own into files. `svc` in it is done here as
 * well. `.ci/run` plays all as processes.
 */
async function sh(script: string, flags: readonly string[] = [], env: Record<string, string> = {}): Promise<Ended> {
  if (isThorough) return start(script, flags, env).ended;
  const said = join(home, String(count++));
  const redirected = `exec >${said}.out 2>${said}.err\n${script}`;
  const { code, stdout, stderr } = await here(['sandbox', 'exec', ...flags, '--', 'sh', '-c', redirected], env);
  const kept = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  return { code, stdout: kept(`${said}.out`) + stdout, stderr: kept(`${said}.err`) + stderr };
}

async function here(argv: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const own = { PATH: process.env.PATH, HOME: svc.folder, ...places(join(home, 'none')), ...env };
  const { exitCode, ...said } = await inThisProcess({ argv, env: own });
  return { code: exitCode, ...said };
}

test('the command finds the sandbox in its environment', { tags: ['long'] }, async () => {
  const { ended } = start('env');
  const { stdout, code } = await ended;
  const env = Object.fromEntries(
    stdout.split('\n').map((line) => [line.split('=', 1)[0], line.replace(/^[^=]*=/u, '')]),
  );
  expect(code).toBe(0);
  expect(env).toMatchObject({
    SVC_BASE_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/u),
    SVC_AUTH_URL: env.SVC_BASE_URL,
    SVC_API_KEY: 'key_acme',
    SVC_CLIENT_ID: 'sandbox_cli',
    SVC_CLIENT_SECRET: 'sandbox_secret',
  });
  // Private, and gone afterwards, as is the sandbox.
  expect(env.SVC_CONFIG_DIR?.startsWith(svc.folder)).toBe(true);
  expect(existsSync(env.SVC_CONFIG_DIR as string)).toBe(false);
  expect(readdirSync(svc.folder)).toEqual([]);
  await expect(fetch(`${env.SVC_BASE_URL}/contacts`)).rejects.toThrow();
});

test('svc itself works inside, and what it stores goes away with the sandbox', { tags: ['long'] }, async () => {
  const script = 'svc account get --json && mkdir -p "$SVC_CONFIG_DIR/deep" && echo x > "$SVC_CONFIG_DIR/deep/x"';
  const { stdout, code } = await start(script, ['--seed', 'empty']).ended;
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { account_id: 1, name: 'Acme' }]);
  expect(readdirSync(svc.folder)).toEqual([]);
});

test.for([0, 7])("it ends with the command's exit code: %i", async (code) => {
  expect(await sh(`exit ${code}`)).toMatchObject({ code, stdout: '', stderr: '' });
});

test('a command that a signal ended is 128 and the number of the signal', { tags: ['long'] }, async () => {
  expect((await sh('kill -KILL $$')).code).toBe(137);
  expect((await start('kill -TERM $$').ended).code).toBe(143);
});

test.for(['SIGINT', 'SIGTERM'] as const)(
  '%s is handed on, and the command decides what becomes of it',
  { tags: ['long'] },
  async (signal) => {
    const trap = start(`trap 'echo caught; exit 42' ${signal.slice(3)}; echo ready; while :; do sleep 0.05; done`);
    await trap.says('ready');
    trap.child.kill(signal);
    const { code, stdout } = await trap.ended;
    expect([code, stdout]).toEqual([42, 'ready\ncaught\n']);
    expect(readdirSync(svc.folder)).toEqual([]);
  },
);

test('a command that ignores the signal may finish its work', { tags: ['long'] }, async () => {
  const patient = start(`trap '' TERM; echo ready; sleep 0.3; echo finished`);
  await patient.says('ready');
  patient.child.kill('SIGTERM');
  const { code, stdout } = await patient.ended;
  expect([code, stdout]).toEqual([0, 'ready\nfinished\n']);
});

test('standard input, output and error are those of the command', async () => {
  const cat = start('cat; echo to stderr >&2');
  cat.child.stdin.end('through and through');
  expect(await cat.ended).toMatchObject({ stdout: 'through and through', stderr: 'to stderr\n' });
});

test('whatever stands after -- belongs to the command', { tags: ['long'] }, async () => {
  const printed = exec(['--', 'printf', '%s\\n', '--help', '--json', '-o', 'csv', '--', '', 'a b', '$HOME', '*']);
  const { stdout } = await printed.ended;
  expect(stdout).toBe('--help\n--json\n-o\ncsv\n--\n\na b\n$HOME\n*\n');
});

test('a command that is not there is 127, one that cannot be run is 126', { tags: ['long'] }, async () => {
  const missing = await exec(['--', 'no-such-command-anywhere']).ended;
  expect([missing.code, missing.stderr]).toEqual([127, expect.stringContaining('no-such-command-anywhere')]);
  expect((await here(['sandbox', 'exec', '--', svc.folder])).code).toBe(126);
  expect(readdirSync(svc.folder)).toEqual([]);
});

test('no command, or a seed that is not there, is exit 2, and nothing runs', async () => {
  expect((await here(['sandbox', 'exec'])).code).toBe(2);
  expect(await sh('echo ran', ['--seed', '/nowhere/seed.json'])).toMatchObject({ code: 2, stdout: '' });
  expect(readdirSync(svc.folder)).toEqual([]);
});

test('tokens of the surrounding environment do not reach the sandbox', async () => {
  const { stdout } = await sh('env', [], {
    SVC_ACCESS_TOKEN: 'real-token',
    SVC_PROFILE: 'work',
    SVC_M2M_TOKEN: 'real-m2m',
    SVC_API_KEY: 'real-key',
  });
  expect(stdout).toContain('SVC_API_KEY=key_acme');
  expect(stdout).not.toMatch(/real-|SVC_PROFILE/u);
});

test('two at once have a sandbox each', async () => {
  const both = await Promise.all(
    [1, 2].map(() => sh('echo $SVC_BASE_URL; svc tickets create --subject x --json', ['--seed', 'empty'])),
  );
  const [one, two] = both.map(({ stdout }) => stdout.split('\n')[0]);
  expect(one).not.toBe(two);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
});

test('--diff tells on standard error what changed, and leaves output and exit code to the command', {
  tags: ['long'],
}, async () => {
  const close = 'svc tickets resolve 8 --json; svc contacts update 7 --company Wonderland >/dev/null; exit 7';
  const { code, stdout, stderr } = await sh(close, ['--diff']);
  expect([code, JSON.parse(stdout)]).toMatchObject([7, { ticket_number: 'T-1008', status: 'resolved' }]);
  expect(stderr).toMatch(/^~ contacts 7 .*: company .* → Wonderland$/mu);
  expect(stderr).toMatch(/^~ tickets 8 T-1008 .*: status open → resolved, resolved_at \(empty\) → \d/mu);
  expect(stderr).toMatch(
    /^1 contact updated, 1 ticket updated\.\nNo webhooks\.\n3 requests; .* less than a minute\.\n$/mu,
  );
});

test('--diff-out writes it as JSON, with the webhooks and the minutes that the limits would take', {
  tags: ['long'],
}, async () => {
  const file = join(home, 'diff.json');
  const script = `curl -sf --fail-early -H "Authorization: Bearer $SVC_API_KEY" "$SVC_BASE_URL/contacts/[1-62]" >/dev/null || exit 9
    svc contacts create --name 'A\tB' --last-name B --email ab@x.test --phone +14155550123 >/dev/null`;
  const { code, stdout, stderr } = await sh(script, ['--diff-out', file]);
  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).toBe(
    '1 contact created.\nWebhooks, to whoever subscribes: 1 contact.created.\n64 requests; with the real limits at least 1 min.\n',
  );
  const told = JSON.parse(readFileSync(file, 'utf8'));
  rmSync(file);
  expect(told).toMatchObject({
    // svc looks for the contact before it makes it.
    requests: 64,
    minutes: 1,
    changes: [{ kind: 'contacts', change: 'created', before: null, after: { email: 'ab@x.test' } }],
    webhooks: [{ event: 'contact.created', data: { email: 'ab@x.test' } }],
  });
});

test('a --diff-out that cannot be written is told before the command runs', { tags: ['long'] }, async () => {
  const { code, stdout, stderr } = await start('echo ran', ['--diff-out', `${svc.folder}/no/such/diff.json`]).ended;
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('cannot be written');
  expect(readdirSync(svc.folder)).toEqual([]);
});

test('--seed mirror without a copy, and --anonymise without it, run nothing', async () => {
  const env = places(join(home, 'none'));
  const none = await sh('echo ran', ['--seed', 'mirror'], env);
  expect([none.code, none.stdout]).toEqual([1, '']);
  expect(none.stderr).toContain('svc mirror pull');
  expect(await sh('echo ran', ['--anonymise'], env)).toMatchObject({ code: 2, stdout: '' });
});

test('--seed mirror starts with the copy, --anonymise with nobody in it, and the copy stays as it is', {
  tags: ['long'],
}, async () => {
  const state = mkdtempSync(join(home, 'state-'));
  const outer = { SVC_MIRROR_DB: `${state}/copy.db`, SVC_API_KEY: 'key_acme' };
  const sandbox = await serve(createSandbox({ seed: few, rateLimit: 'off' }), 0);
  try {
    const env = { ...outer, ...places(state), SVC_BASE_URL: `http://127.0.0.1:${sandbox.port}` };
    await run(['mirror', 'pull', '--only', 'contacts'], env);
    const before = readFileSync(`${state}/copy.db`);
    const script =
      'test -z "$SVC_MIRROR_DB" && svc contacts get 7 --jq .email && svc contacts update 7 --company X >&2';
    const plain = await sh(script, ['--seed', 'mirror', '--diff', '--quiet'], env);
    expect([plain.code, plain.stdout]).toEqual([
      0,
      await run(['contacts', 'get', '7', '--jq', '.email', '--quiet'], env),
    ]);
    const hidden = await sh('svc contacts get 7 --jq .email', ['--seed', 'mirror', '--anonymise'], env);
    expect(hidden.code).toBe(0);
    expect(hidden.stdout).toMatch(/^\S+@\S+\.example\n$/u);
    expect(hidden.stderr).toContain('The copy does not hold all of: lists, calls');
    expect(readFileSync(`${state}/copy.db`).equals(before)).toBe(true);
    // What a rehearsal drafts stands nowhere but in it, wherever the team keeps its own.
    mkdirSync(`${state}/config`, { recursive: true });
    writeFileSync(`${state}/config/config.json`, JSON.stringify({ drafts: `${state}/team`, color: 'never' }));
    const draft =
      'svc changelog create --title Later --content x --status published --draft --yes && svc drafts list --json';
    for (const more of [{}, { SVC_DRAFTS_DB: `${state}/team` }] as Record<string, string>[]) {
      const drafted = await sh(draft, ['--seed', 'mirror'], { ...env, ...more });
      expect([drafted.code, existsSync(`${state}/team`)]).toEqual([0, false]);
      expect(drafted.stdout).toContain('Later');
    }
  } finally {
    await sandbox.close();
  }
});

async function run(args: readonly string[], env: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await here(args, env);
  if (code !== 0) throw new Error(`${args.join(' ')}: exit ${code}: ${stderr}`);
  return stdout;
}

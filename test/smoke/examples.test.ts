// @module-tag long
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { parseArgsStringToArgv } from 'string-argv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AnyCommand, TopGroup } from '../../src/command/command.ts';
import { entries } from '../../src/commands/index.ts';
import { needsOf } from '../../src/program/needs.ts';
import { type Built, buildSvc } from '../built.ts';
import { allCommands } from '../command-lines.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Example = { readonly name: string; readonly line: string };

const examples: Example[] = [];
const without: string[] = [];

function collect(node: TopGroup | AnyCommand, names: readonly string[]): void {
  if ('commands' in node) {
    for (const child of node.commands) collect(child, [...names, child.name]);
    return;
  }
  const name = names.join(' ');
  if (node.examples.length === 0) without.push(name);
  for (const line of node.examples) examples.push({ name, line });
}
for (const entry of entries) collect(await entry.load(), [entry.name]);

/** Those that run until they are stopped, or wait for a person: started for real, stopped by a signal. */
const endless =
  /^(svc login(?! --with)|svc auth login(?! --with)|svc auth refresh --scope|svc webhooks listen|svc sandbox start(?!.*\|)|svc mcp(?! install)|svc watch)/u;

/** What a test of its own plays whole: test/sync/demo.test.ts. */
const elsewhere = /^svc sandbox demo/u;

/** Those that end otherwise in a sandbox of their own, and why. */
const expected: readonly (readonly [line: RegExp, exitCode: number])[] = [
  // The example file has rows that cannot be sent.
  [/^svc (contacts sync|lists import)/u, 8],
  // The sandbox's shell has an API key in its environment; subscriptions need an OAuth login.
  [/^svc webhooks (list|create|delete)/u, 4],
  // Nor does it have a machine-to-machine token.
  [/^svc meetings/u, 4],
  // The profile holds no OAuth login to refresh, and there is no other profile yet.
  [/^svc auth refresh/u, 4],
  [/^svc auth switch/u, 2],
  // It takes saved logins only, and refuses beside the API key.
  [/^svc each/u, 2],
  // No events received yet.
  [/^svc webhooks (inbox (show|replay)|dead show)/u, 3],
  // No app listens there.
  [/svc webhooks trigger/u, 10],
];

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
  const project = join(import.meta.dirname, '..', '..');
  for (const name of ['examples', 'CHANGELOG.md', 'package.json']) {
    await cp(join(project, name), join(built.folder, name), { recursive: true });
  }
  await mkdir(join(built.folder, 'home', '.claude'), { recursive: true });
});
afterAll(() => built.remove());

/** All lines in one sandbox, one after another, as somebody who pastes them would. */
async function runAll(lines: readonly string[]) {
  const script = lines
    // Whether the port of a login is free, others decide that run at the same time.
    .map((line) =>
      line.replace(/^svc doctor/u, 'svc config set redirect_uri http://127.0.0.1:0/callback 2> set.txt; svc doctor'),
    )
    // And who works on an app may have it at that address.
    .map((line) => line.replace('localhost:3000', 'localhost:1'))
    .map(
      (line, i) =>
        `printf '\\n#%s ' ${i}; ( ${line} ) > out.txt 2> err.txt < /dev/null; printf '%s ' $?; tr '\\n' ' ' < err.txt | cut -c1-300`,
    )
    .join('\n');
  const ran = await execa(process.execPath, [built.script, 'sandbox', 'exec', '--rate-limit', 'off', '--', 'sh'], {
    cwd: built.folder,
    input: script,
    reject: false,
    // A home of its own, for what is installed into one.
    env: { CI: '1', HOME: join(built.folder, 'home') },
  });
  return new Map(
    [...ran.stdout.matchAll(/^#(\d+) (\d+) (.*)$/gmu)].map((m) => [Number(m[1]), { code: Number(m[2]), said: m[3] }]),
  );
}

/** A line that needs a shell, or talks to more than the service: pasted into a real sandbox's shell. */
const needsShell =
  /^(?!svc )|[|>$~&]|^svc (sandbox|doctor|login|logout|auth|skill install|mcp install|webhooks trigger|mirror (pull$|forget)|changelog release)/u;

/** The others run in this process, in one account after another's example, which costs a tenth. */
async function runHere(lines: readonly string[]) {
  const world = sandboxWorld({ rateLimit: 'off' });
  const results = new Map<number, { code: number; said: string }>();
  const before = process.cwd();
  process.chdir(built.folder);
  try {
    // For those that ask the copy, which come before the command that makes it.
    await svc(world, ['mirror', 'pull'], { env: { CI: '1' } });
    for (const [i, line] of lines.entries()) {
      const ran = await svc(world, parseArgsStringToArgv(line).slice(1), { env: { CI: '1' } });
      results.set(i, { code: ran.exitCode, said: ran.stderr });
    }
  } finally {
    process.chdir(before);
  }
  return results;
}

/** What a run over a file with bad rows, or a look at what differs, ends with. */
const fine = [0, 8, 11];

test('an example works in a fresh sandbox, or the help says what it needs', async () => {
  const wrong: string[] = [];
  const before = process.cwd();
  process.chdir(built.folder);
  try {
    for (const { command } of await allCommands()) {
      const needs = needsOf(command);
      const lines = command.examples.filter((line) => !endless.test(line) && !needsShell.test(line));
      const codes: number[] = [];
      for (const line of lines) {
        const world = sandboxWorld({ rateLimit: 'off' });
        const ran = await svc(world, parseArgsStringToArgv(line).slice(1), { env: { CI: '1' } });
        codes.push(ran.exitCode);
        if (needs === undefined && !fine.includes(ran.exitCode))
          wrong.push(`${line}  → ${ran.exitCode}, told of nothing`);
      }
      const isNeedless = needs !== undefined && codes.length > 0 && codes.every((code) => code === 0);
      if (isNeedless) wrong.push(`${lines[0]} works, and is said to need ${needs}`);
    }
  } finally {
    process.chdir(before);
  }
  expect(wrong).toEqual([]);
});

test('those of listen and of skill install say it too', async () => {
  const lines = (await allCommands()).flatMap(({ command }) =>
    command.examples
      .filter((line) => /^svc (webhooks listen|skill install)/u.test(line))
      .map((line) => ({ line, isTold: needsOf(command) !== undefined })),
  );
  for (const { line, isTold } of lines) {
    const world = sandboxWorld({ rateLimit: 'off' });
    const [words, env] = [parseArgsStringToArgv(line).slice(1), { CI: '1', HOME: world.folder, PATH: '' }];
    const ran = await svc(world, words, { env, signal: AbortSignal.timeout(20_000) });
    expect([line, isTold]).toEqual([line, ![0, 130, 143].includes(ran.exitCode)]);
  }
});

test('every command has an example', () => {
  expect(without).toEqual([]);
});

describe('the examples of the help', () => {
  const runnable = [...new Set(examples.map(({ line }) => line))].filter(
    (line) => !endless.test(line) && !elsewhere.test(line),
  );

  const judge = (lines: readonly string[], results: Map<number, { code: number; said?: string }>) =>
    lines.flatMap((line, i) => {
      const { code = -1, said = '' } = results.get(i) ?? {};
      const wanted = expected.find(([pattern]) => pattern.test(line))?.[1] ?? 0;
      return code === wanted ? [] : [`${line}  → ${code}, not ${wanted}: ${said}`];
    });

  test('work when typed', async () => {
    const lines = runnable.filter((line) => !needsShell.test(line));
    expect(judge(lines, await runHere(lines))).toEqual([]);
  });

  test('work when pasted into a sandbox', async () => {
    const lines = runnable.filter((line) => needsShell.test(line));
    expect(judge(lines, await runAll(lines))).toEqual([]);
  });
});

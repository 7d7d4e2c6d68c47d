import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { mattering } from '../../src/derive/skill.ts';
import { exitCodes } from '../../src/errors.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

let world: SandboxWorld;
let home: string;

beforeEach(() => {
  world = sandboxWorld();
  home = join(world.folder, 'home');
  mkdirSync(home);
});

const run = (...argv: string[]) => svc(world, ['skill', ...argv], { env: { HOME: home, SVC_API_KEY: undefined } });
const place = (folder: string) => join(home, folder, 'skills', 'svc', 'SKILL.md');

test('print writes a SKILL.md with the commands that matter, all exit codes and recipes, without a login', async () => {
  const { stdout, exitCode } = await run('print');
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^---\nname: svc\ndescription: [^\n]{50,1024}\n---\n/u);
  expect(mattering.length).toBeLessThanOrEqual(25);
  for (const words of mattering) expect(stdout).toContain(`\`svc ${words}`);
  for (const code of Object.values(exitCodes)) expect(stdout).toContain(`| ${code} |`);
  expect(stdout.match(/^```sh$/gmu)?.length).toBeGreaterThanOrEqual(8);
  expect(world.sent).toEqual([]);
});

test('install puts it where the programs that are there look for it, and says where', async () => {
  mkdirSync(join(home, '.claude'));
  mkdirSync(join(home, '.codex'));
  const { stdout, exitCode } = await run('install');
  expect(exitCode).toBe(0);
  expect(stdout).toBe(`Installed for Claude Code: ${place('.claude')}\nInstalled for Codex: ${place('.codex')}\n`);
  expect(readFileSync(place('.claude'), 'utf8')).toBe((await run('print')).stdout);
  expect(existsSync(join(home, '.cursor'))).toBe(false);
  expect(statSync(place('.codex')).mode & 0o777).toBe(0o644);
});

test('install --dry-run names the files, and writes none', async () => {
  mkdirSync(join(home, '.claude'));
  expect(await run('install', '--dry-run')).toMatchObject({
    exitCode: 0,
    stdout: `Would be installed for Claude Code: ${place('.claude')}\n`,
  });
  expect(existsSync(place('.claude'))).toBe(false);
});

test('install again replaces what svc wrote, and nothing else', async () => {
  mkdirSync(join(home, '.cursor', 'skills', 'svc'), { recursive: true });
  expect((await run('install', 'cursor')).exitCode).toBe(0);
  const written = readFileSync(place('.cursor'), 'utf8');
  writeFileSync(place('.cursor'), written.replace('# svc', '# old'));
  expect((await run('install', 'cursor', '--json')).exitCode).toBe(0);
  expect(readFileSync(place('.cursor'), 'utf8')).toBe(written);
  writeFileSync(place('.cursor'), 'my own notes');
  const refused = await run('install', 'cursor');
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain('was not written by svc');
  expect(readFileSync(place('.cursor'), 'utf8')).toBe('my own notes');
});

test('a program that is not there is named, and nothing is made', async () => {
  const named = await run('install', 'claude');
  expect(named.exitCode).toBe(1);
  expect(named.stderr).toContain(`Claude Code was not found: there is no ${join(home, '.claude')}.`);
  const none = await run('install');
  expect(none.exitCode).toBe(1);
  expect(none.stderr).toContain('svc skill print > SKILL.md');
  expect(existsSync(join(home, '.claude'))).toBe(false);
  expect((await run('install', 'emacs')).exitCode).toBe(2);
});

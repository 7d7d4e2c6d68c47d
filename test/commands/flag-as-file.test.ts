/** A flag for a file, behind which its name was left out: the next flag is no file. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AnyCommand, Param, TopGroup } from '../../src/command/command.ts';
import { flagName } from '../../src/command/param.ts';
import { entries } from '../../src/commands/index.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const fileFlags: [line: string, flag: string][] = [];
function walk(node: TopGroup | AnyCommand, path: readonly string[]) {
  if ('commands' in node) for (const child of node.commands) walk(child, [...path, child.name]);
  else
    for (const [key, flag] of Object.entries<Param<unknown>>(node.flags))
      if (flag.completes === 'files') fileFlags.push([path.join(' '), `--${flagName(key, flag)}`]);
}
for (const entry of entries) walk(await entry.load(), [entry.name]);

test('every flag for a file refuses a flag in place of it, and nothing is sent', async () => {
  expect(fileFlags.length).toBeGreaterThan(40);
  const world = sandboxWorld();
  // The last one is longer than the name of a file may be.
  for (const [line, flag] of fileFlags)
    for (const other of ['--help', '-h', '--json', '--profile=work', flag, `${flag}=x`, `${flag}=${'x'.repeat(300)}`]) {
      const { exitCode, stderr } = await svc(world, [...line.split(' '), flag, other]);
      expect([line, other, exitCode, stderr.split('\n')[0]]).toEqual([line, other, 2, `Error: ${flag} needs a value.`]);
    }
  expect(world.sent).toEqual([]);
});

test('a file that has the name of a flag is read, and so is one whose name is that of none', async () => {
  const before = process.cwd();
  process.chdir(mkdtempSync(join(tmpdir(), 'svc-named-')));
  try {
    const words = ['tickets', 'create', '--from', '--dry-run'];
    const wrong = await svc(sandboxWorld(), words);
    expect(wrong.stderr).toContain('--dry-run stands there, which is a flag. A file of that name is ./--dry-run');
    writeFileSync('--dry-run', 'subject\nGood\n');
    const { stdout } = await svc(sandboxWorld(), [...words, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ rows: 1, done: 1 });
    const { stderr } = await svc(sandboxWorld(), ['tickets', 'create', '--from', '--none']);
    expect(stderr).toContain('There is no file --none');
  } finally {
    process.chdir(before);
  }
});

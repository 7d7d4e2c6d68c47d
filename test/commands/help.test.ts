import { expect, test } from 'vitest';
import type { AnyCommand, Group } from '../../src/command/command.ts';
import { entries } from '../../src/commands/index.ts';
import { topics } from '../../src/program/topics.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

/** The words that lead to each group and command, in the order of the tree. */
async function paths(): Promise<string[][]> {
  const found: string[][] = [];
  const walk = (node: Group | AnyCommand, path: string[]) => {
    if ('hidden' in node && node.hidden) return;
    found.push(path);
    if ('commands' in node) for (const child of node.commands) walk(child, [...path, child.name]);
  };
  for (const entry of entries) walk(await entry.load(), [entry.name]);
  return found;
}

// The global flags stand once, in the root's help.
const withoutGlobals = (help: string): string => help.replace(/\nGlobal Flags:\n(?: .*\n)+/u, '');

/** `npx vitest run test/commands/help.test.ts -u` writes it anew. */
test('the whole help is as it was last read by a person', async () => {
  const world = sandboxWorld();
  const sections = [(await svc(world, ['--help'])).stdout, ...topics.map((topic) => topic.text())];
  for (const path of await paths()) {
    const ran = await svc(world, [...path, '--help']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    sections.push(`── svc ${path.join(' ')} ──\n\n${withoutGlobals(ran.stdout)}`);
  }
  await expect(sections.join('\n')).toMatchFileSnapshot('help.txt');
});

test('help is the same however it is asked for', async () => {
  const world = sandboxWorld();
  const asked = await svc(world, ['contacts', 'sync', '--help']);
  expect(await svc(world, ['help', 'contacts', 'sync'])).toEqual(asked);
  expect((await svc(world, ['contacts', '--help'])).stdout).toBe((await svc(world, ['contacts'])).stdout);
});

import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { terminalCells } from './terminal-cells.ts';

const commands = [
  ['contacts', 'list'],
  ['tickets', 'list'],
  ['tickets', 'get', '1'],
  ['conversations', 'list'],
  ['conversations', 'get', '1'],
  ['feedback', 'list'],
  ['roadmap', 'get'],
  ['lists', 'list'],
  ['calls', 'list'],
  ['account', 'get'],
];

test.each(commands)('%s %s fits a terminal of 40, 80 and 200 columns', async (...argv) => {
  const world = sandboxWorld();
  for (const columns of [40, 80, 200]) {
    const ran = await svc(world, argv.filter(Boolean), { columns });
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).not.toBe('');
    for (const line of ran.stdout.split('\n')) expect(terminalCells(line)).toBeLessThanOrEqual(columns);
  }
});

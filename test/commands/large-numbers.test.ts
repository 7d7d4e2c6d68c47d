// Whole numbers that a number of JSON does not keep.
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

test('an id by flag that would be rounded is refused, and nothing is asked', async () => {
  const world = sandboxWorld();
  const ran = await svc(world, ['tickets', 'list', '--contact', '9007199254740993']);
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('--contact must be a smaller number than 9007199254740993.');
  expect(world.sent).toEqual([]);
});

// What stands around the rows of a file, and lists of ids in JSON.
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

test('where the only row is taken for a line of totals, the refusal names it', async () => {
  const stdin = 'subject,priority,description\nTotal,1,2\n';
  const ran = await svc(sandboxWorld(), ['tickets', 'create', '--from', '-', '--yes'], { stdin });
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain('holds no rows');
  expect(ran.stderr).toContain('Not read below the rows (line 2): "Total".');
});

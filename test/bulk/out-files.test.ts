import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const written = (sent: readonly string[]) => sent.filter((line) => !line.startsWith('GET'));

test.each([
  ['--results', 'subject\nOne\n', ['tickets', 'create', '--from']],
  ['--rejects', 'subject\nOne\n', ['tickets', 'create', '--from']],
  ['--report', 'subject\nOne\n', ['tickets', 'create', '--from']],
  ['--report', 'email\none@example.com\n', ['contacts', 'sync']],
  ['--rejects', 'email\none@example.com\n', ['contacts', 'sync']],
])('a folder for %s that is not there is told before the first row is sent', async (flag, text, words) => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const [file, out] = [join(world.folder, 'rows.csv'), join(world.folder, 'missing', 'out.csv')];
  writeFileSync(file, text);
  const ran = await svc(world, [...words, file, flag, out]);
  expect(ran.exitCode).toBe(2);
  expect(ran.stderr).toContain(`${out} cannot be written: there is no folder ${join(world.folder, 'missing')}.`);
  expect(written(world.sent)).toEqual([]);
});

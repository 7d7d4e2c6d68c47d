// What may lie beside the file of a copy.
import { existsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { ok } from './engines.ts';

test.each(['-wal', '-shm', '-journal', '.undo'])(
  'an empty %s beside a copy is none',
  { tags: ['long'] },
  async (ending) => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const copy = join(world.folder, 'there', 'copy.db');
    const placed = { ...world, env: { ...world.env, SVC_MIRROR_DB: copy } };
    await ok(placed, 'mirror pull --only lists');
    for (const line of ['mirror status', 'mirror pull --only lists', 'mirror search a', 'mirror forget --yes']) {
      if (existsSync(`${copy}${ending}`)) truncateSync(`${copy}${ending}`);
      else writeFileSync(`${copy}${ending}`, '');
      const ran = await svc(placed, line.split(' '));
      expect([line, ran.exitCode, ran.stderr]).toEqual([line, 0, ran.stderr]);
    }
  },
);

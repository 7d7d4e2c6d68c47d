import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const rightsOf = (path: string) => statSync(path).mode & 0o777;
const hasRights = process.platform !== 'win32';

test.runIf(hasRights)(
  'an empty file that everybody may read becomes a copy that its owner alone can read',
  async () => {
    const world = sandboxWorld({ rateLimit: 'off' });
    const db = join(world.folder, 'c.db');
    writeFileSync(db, '');
    chmodSync(db, 0o666);
    const pull = ['mirror', 'pull', '--only', 'contacts', '--db', db];
    // While the database is open, its log stands beside it. Until something stands in it, it is somebody's empty file.
    const rights = new Set<number>();
    const exchange: typeof world.exchange = (request) => {
      for (const file of [db, `${db}-wal`, `${db}-shm`, `${db}-journal`])
        if (existsSync(file) && statSync(file).size > 0) rights.add(rightsOf(file));
      return world.exchange(request);
    };
    const ran = await svc({ ...world, exchange }, pull);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect([...rights, rightsOf(db)]).toEqual([0o600, 0o600]);
    expect(ran.stderr).toContain(`${db} was open to other users; now it is yours alone.`);
  },
);

test.runIf(hasRights)('of a copy that was opened to others, perhaps on purpose, a pull says what to type', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const db = join(world.folder, 'c.db');
  const pull = ['mirror', 'pull', '--only', 'contacts', '--db', db];
  expect((await svc(world, pull)).stderr).not.toContain('chmod');
  chmodSync(db, 0o644);
  const ran = await svc(world, pull);
  expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(`chmod 600 ${db}`) });
  expect(rightsOf(db)).toBe(0o644);
});

import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ran, svc, type World } from '../svc.ts';

/** A run whose process is gone at its request number `at`, which the service may have heard of. */
export type Kill = { readonly at: number; readonly heard: boolean };

/**
 * Runs svc until it ends, or until its process would be gone: undefined, and the world as the next one finds it. What is
 * left of the run ends in its old folder, where nobody looks.
 */
export async function runOrKill(
  world: World,
  argv: readonly string[],
  kill: Kill | undefined,
): Promise<{ readonly ran: Ran | undefined; readonly next: World }> {
  let count = 0;
  let die = (): void => {};
  let release = (): void => {};
  const dead = new Promise<undefined>((resolve) => {
    die = () => resolve(undefined);
  });
  const released = new Promise<never>((_, reject) => {
    release = () => reject(new Error('The process is gone.'));
  });
  released.catch(() => {});
  const mortal: World = {
    ...world,
    async exchange(request) {
      if (kill && count > kill.at) return released;
      if (kill && count++ === kill.at) {
        if (kill.heard) await world.exchange(request);
        die();
        return released;
      }
      return world.exchange(request);
    },
  };
  const running = svc(mortal, argv);
  const ran = await Promise.race([running, dead]);
  const next = ran ? world : afterDeath(world);
  release();
  await running;
  return { ran, next };
}

/** What stood on the disk when the process was gone. The lock of a dead process holds nobody up. */
function afterDeath(world: World): World {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  cpSync(world.folder, folder, { recursive: true });
  const bulk = join(folder, 'state', 'bulk');
  for (const name of existsSync(bulk) ? readdirSync(bulk) : [])
    if (name.endsWith('.lock')) rmSync(join(bulk, name), { recursive: true });
  return { ...world, folder };
}

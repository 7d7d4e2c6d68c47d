import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { witnessFolder } from '../../src/disk/lock/witness.ts';
import { entriesBelow } from '../locks.ts';
import { type Ran, svc, type World } from '../svc.ts';

/**
 * A run whose process is gone at its request number `at`, which the service may have heard of. `loses`: what the disk
 * forgets of a journal then.
 */
export type Kill = { readonly at: number; readonly heard: boolean; readonly loses?: (journal: string) => void };

/**
 * Runs svc until it ends, or until its process would be gone: undefined, and the world as the next one finds it. What is
 * left of the run ends in its old folder, where nobody looks.
 */
export async function runOrKill(
  world: World,
  argv: readonly string[],
  kill: Kill | undefined,
  options?: Parameters<typeof svc>[2],
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
  const running = svc(mortal, argv, options);
  const ran = await Promise.race([running, dead]);
  const next = ran ? world : afterDeath(world, kill);
  const putBack = ran ? () => {} : await keptWitnesses(next);
  release();
  await running;
  // A process that is gone takes nothing away.
  putBack();
  return { ran, next };
}

/** What the journals' witnesses say now, to be said again. */
async function keptWitnesses(world: World): Promise<() => void> {
  const [folder, bulk] = [await witnessFolder(), join(world.folder, 'state', 'bulk')];
  const journals = existsSync(bulk) ? readdirSync(bulk).filter((name) => name.endsWith('.jsonl')) : [];
  const texts = journals.map((name) => readFileSync(join(bulk, name), 'utf8'));
  const names = texts.flatMap((text) => [...text.matchAll(/"witness":"([\w-]+)"/gu)].map(([, name = '']) => name));
  const kept = names.map((name) => join(folder ?? '', name)).filter((path) => folder !== undefined && existsSync(path));
  const said = kept.map((path) => [path, readFileSync(path)] as const);
  return () => {
    for (const [path, text] of said) writeFileSync(path, text);
  };
}

/** What stood on the disk when the process was gone. The lock of a dead process holds nobody up. */
function afterDeath(world: World, kill: Kill | undefined): World {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  cpSync(world.folder, folder, { recursive: true });
  const bulk = join(folder, 'state', 'bulk');
  for (const name of existsSync(bulk) ? readdirSync(bulk) : []) {
    const path = join(bulk, name);
    if (/(?:^begin|\.lock)$/u.test(name)) rmSync(path, { recursive: true });
    else if (name.endsWith('.jsonl')) kill?.loses?.(path);
  }
  const audit = join(folder, 'state', 'audit');
  for (const entry of existsSync(audit) ? entriesBelow(audit) : []) rmSync(entry);
  return { ...world, folder };
}

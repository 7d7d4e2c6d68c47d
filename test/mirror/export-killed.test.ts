// @module-tag long
// Exports that are killed at any step: what is in the folder adds up to the copy, and no row is there twice as it was.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type Ran, svc } from '../svc.ts';
import { draws, inTurn } from '../thorough.ts';
import { happen } from './changes.ts';
import { ok } from './engines.ts';
import { addedUp, inTheCopy } from './exported.ts';
import { cutAtStep } from './power-cut.ts';

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

const argv = ['mirror', 'export', '--since-last', '--format', 'jsonl', '--to'];

/** As a process. Nothing of it goes to the network. Resolves with whether it was killed. */
async function isProcessKilled(world: SandboxWorld, dir: string, at: number): Promise<boolean> {
  const child = spawn(
    process.execPath,
    ['--require', join(import.meta.dirname, 'kill-at-step.cjs'), built.script, ...argv, dir],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        ...world.env,
        SVC_CONFIG_DIR: join(world.folder, 'config'),
        SVC_STATE_DIR: join(world.folder, 'state'),
        KILL_IN: `${dir}/`,
        KILL_AT: String(at),
      },
    },
  );
  const [stderr, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  if (signal !== 'SIGKILL') expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return signal === 'SIGKILL';
}

/** In this process, and every seventh time as a process of its own; `.ci/run` starts one each time. */
async function isKilled(world: SandboxWorld, dir: string, at: number): Promise<boolean> {
  if (inTurn([at], Math.floor(at / apart) + 4, 7).length > 0) return isProcessKilled(world, dir, at);
  let ran: Ran | undefined;
  const isCut = await cutAtStep(dir, at, async () => {
    ran = await svc(world, [...argv, dir]);
  });
  if (!isCut) expect(ran?.exitCode, ran?.stderr).toBe(0);
  return isCut;
}

/** The steps at which it is killed: some of those that there are. */
const apart = draws(17, 4);

test('at whatever step exports are killed, the next ones add what is missing, and nothing again', {
  timeout: 900_000,
}, async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  await ok(world, 'mirror pull');
  const dir = join(world.folder, 'warehouse');
  const happenings = ['edit', 'reply', 'list', 'chat', 'entry', 'post', 'contact', 'unlist', 'status'];
  let kills = 0;
  for (let at = 1, wasLast = false; !wasLast; at += apart) {
    wasLast = !(await isKilled(world, dir, at));
    if (!wasLast) kills++;
    if (at % 3 === 0) {
      await happen(world, { what: happenings[at % happenings.length] ?? 'edit', pick: at });
      world.clock.advance(5000);
      await ok(world, 'mirror pull');
    }
  }
  expect(kills).toBeGreaterThan(5);
  await ok(world, [...argv, dir]);
  const copy = await inTheCopy(world);
  expect(await addedUp(dir)).toEqual({ rows: copy, again: 0 });
  // And the steps of an export of what changed.
  for (let at = 1, wasLast = false; !wasLast; at += apart) {
    for (const what of ['edit', 'reply', 'list']) await happen(world, { what, pick: at });
    world.clock.advance(5000);
    await ok(world, 'mirror pull --only contacts,lists,tickets');
    wasLast = !(await isKilled(world, dir, at));
  }
  await ok(world, [...argv, dir]);
  expect(await addedUp(dir)).toEqual({ rows: await inTheCopy(world), again: 0 });
  expect(readdirSync(dir).filter((name) => name.startsWith('.svc-export-'))).toEqual([]);
});

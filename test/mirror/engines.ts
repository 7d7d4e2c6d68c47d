import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test as always, beforeAll, describe, type test } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type Ran, type RunOptions, svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';
import { type PostgresServer, sharedPostgres, withPostgres } from './postgres-server.ts';

type EngineName = 'sqlite' | 'postgres';

type Wanted = Parameters<typeof sandboxWorld>[0];

/** The engine of one block of tests. */
export type Tested = {
  readonly engine: EngineName;
  readonly test: typeof test;
  /** A world whose copy is in a fresh database. */
  world(options?: Wanted): SandboxWorld;
  /** A world of its own after `mirror pull`, which was run once and is handed out as a copy. */
  pulled(): Promise<SandboxWorld>;
  /** The same one for all who ask for it: for tests that only look at the copy, and leave the clock where it is. */
  looked(): Promise<SandboxWorld>;
  /** What goes through the same code on both engines: on SQLite alone, and on both in `.ci/run`. A block needs another test. */
  readonly once: typeof test;
  server(): PostgresServer;
};

const unlimitedWorld = (options?: Wanted): SandboxWorld => sandboxWorld({ rateLimit: 'off', ...options });

/** The same time of day, at which everything was last seen. */
const atTheTimeOf = (world: SandboxWorld, first: SandboxWorld): SandboxWorld => {
  world.clock.advance(first.clock.now().getTime() - world.clock.now().getTime());
  return world;
};

const copyOf = ({ folder }: SandboxWorld) => join(folder, 'state', 'mirror.db');

const pulls = new Map<EngineName, Promise<SandboxWorld>>();

/** Pulled by the first test of a file that needs it, and then handed out as copies. */
function pulledFirst(engine: EngineName, world: () => SandboxWorld): Promise<SandboxWorld> {
  const known = pulls.get(engine) ?? pullOnce(world());
  pulls.set(engine, known);
  return known;
}

/** The demo account and a whole copy of it in a file. */
export async function pulledWorld(options?: Wanted): Promise<SandboxWorld> {
  const first = await pulledFirst('sqlite', unlimitedWorld);
  const world = atTheTimeOf(unlimitedWorld(options), first);
  mkdirSync(join(world.folder, 'state'));
  copyFileSync(copyOf(first), copyOf(world));
  return world;
}

const looks = new Map<EngineName, Promise<SandboxWorld>>();

function lookedAt(engine: EngineName, pulled: () => Promise<SandboxWorld>): Promise<SandboxWorld> {
  const known = looks.get(engine) ?? pulled();
  looks.set(engine, known);
  return known;
}

const nowhere = Object.assign(() => {}, { each: () => () => {} }) as unknown as typeof test;

// No superuser: its queries are refused.
const own = `copy_${process.pid}_${Math.random().toString(36).slice(2, 8)}`;
const ordinary = `${own}_role`;
let databases = 0;
let server: Promise<PostgresServer | undefined> | undefined;

async function serverWithRole(): Promise<PostgresServer | undefined> {
  const shared = await sharedPostgres();
  shared?.sql('postgres', `CREATE ROLE ${ordinary} LOGIN`);
  return shared;
}

/** The same tests on both engines. */
export function onBothEngines(title: string, define: (tested: Tested) => void): void {
  describe(`${title} (SQLite)`, () => {
    define({
      engine: 'sqlite',
      test: always,
      world: unlimitedWorld,
      pulled: () => pulledWorld(),
      looked: () => lookedAt('sqlite', pulledWorld),
      once: always,
      server: () => {
        throw new Error('No server here.');
      },
    });
  });
  describe(`${title} (PostgreSQL)`, { tags: ['long'] }, () => {
    let started: PostgresServer | undefined;
    beforeAll(async () => {
      server ??= serverWithRole();
      started = await server;
    });
    const world = (options?: Wanted, from = 'template0'): SandboxWorld => {
      const name = `${own}_${++databases}`;
      started?.sql('postgres', `CREATE DATABASE ${name} TEMPLATE ${from} OWNER ${ordinary} STRATEGY FILE_COPY`);
      const made = unlimitedWorld(options);
      return { ...made, env: { ...made.env, SVC_MIRROR_DB: started?.url(name, ordinary) } };
    };
    const pulled = async () => {
      const first = await pulledFirst('postgres', world);
      return atTheTimeOf(world({}, nameIn(first)), first);
    };
    define({
      engine: 'postgres',
      test: withPostgres(always),
      world: (options) => world(options),
      pulled,
      looked: () => lookedAt('postgres', pulled),
      once: inTurn([withPostgres(always)], 1, 2)[0] ?? nowhere,
      server: () => started as PostgresServer,
    });
  });
}

const nameIn = ({ env }: SandboxWorld): string => new URL(String(env.SVC_MIRROR_DB)).pathname.slice(1);

async function pullOnce(world: SandboxWorld): Promise<SandboxWorld> {
  await ok(world, 'mirror pull');
  return world;
}

/** Runs svc and expects exit 0. */
export async function ok(world: SandboxWorld, line: string | readonly string[], options?: RunOptions): Promise<Ran> {
  const ran = await svc(world, typeof line === 'string' ? line.split(' ') : line, options);
  if (ran.exitCode !== 0) throw new Error(`exit ${ran.exitCode}: ${ran.stderr}${ran.stdout}`);
  return ran;
}

export const json = async (world: SandboxWorld, line: string | readonly string[]): Promise<never> =>
  JSON.parse((await ok(world, [...(typeof line === 'string' ? line.split(' ') : line), '--json'])).stdout) as never;

export const sql = (world: SandboxWorld, query: string): Promise<never> => json(world, ['mirror', 'sql', query]);

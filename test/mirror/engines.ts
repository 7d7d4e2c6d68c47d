import { afterAll, test as always, beforeAll, describe, type test } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type Ran, type RunOptions, svc } from '../svc.ts';
import { type PostgresServer, startPostgres, withPostgres } from './postgres-server.ts';

type EngineName = 'sqlite' | 'postgres';

/** The engine of one block of tests. */
export type Tested = {
  readonly engine: EngineName;
  readonly test: typeof test;
  /** A world whose copy is in a fresh database. */
  world(options?: Parameters<typeof sandboxWorld>[0]): SandboxWorld;
  server(): PostgresServer;
};

/** The same tests on both engines. */
export function onBothEngines(title: string, define: (tested: Tested) => void): void {
  describe(`${title} (SQLite)`, () => {
    define({
      engine: 'sqlite',
      test: always,
      world: (options) => sandboxWorld({ rateLimit: 'off', ...options }),
      server: () => {
        throw new Error('No server here.');
      },
    });
  });
  describe(`${title} (PostgreSQL)`, () => {
    let server: PostgresServer | undefined;
    let databases = 0;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server?.stop());
    define({
      engine: 'postgres',
      test: withPostgres,
      world(options) {
        const name = `copy${++databases}`;
        server?.sql('postgres', `CREATE DATABASE ${name}`);
        const world = sandboxWorld({ rateLimit: 'off', ...options });
        return { ...world, env: { ...world.env, SVC_MIRROR_DB: server?.url(name) } };
      },
      server: () => server as PostgresServer,
    });
  });
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

import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, test } from 'vitest';
import { openFolder } from '../../src/webhooks/store/folder/folder-store.ts';
import type { InboxStore } from '../../src/webhooks/store/inbox-store.ts';
import type { Arrival } from '../../src/webhooks/store/line.ts';
import { openPostgres } from '../../src/webhooks/store/postgres/postgres-store.ts';
import { ownPostgres, type PostgresServer, withPostgres } from './own-postgres.ts';

/** One inbox, and as many instances at it as its kind allows. */
type Inbox = {
  readonly isShared: boolean;
  open(limit?: number): Promise<InboxStore>;
};

export type Kind = { readonly name: string; readonly test: typeof test; make(): Promise<Inbox> };

let server: PostgresServer | undefined;
let count = 0;

export const serverOf = (): PostgresServer => {
  if (!server) throw new Error('There is no server.');
  return server;
};

export const newDatabase = (): string => {
  const name = `hooks_${++count}`;
  serverOf().sql('postgres', `CREATE DATABASE ${name} STRATEGY FILE_COPY`);
  return serverOf().url(name);
};

const postgresKind: Kind = {
  name: 'Postgres',
  test: withPostgres,
  async make() {
    const url = newDatabase();
    let instances = 0;
    return {
      isShared: true,
      open: (limit = 1000) =>
        openPostgres({
          url,
          env: {},
          limit,
          holder: `instance ${++instances}`,
          clock: { ticks: () => performance.now() },
        }),
    };
  },
};

const folderKind: Kind = {
  name: 'a folder',
  test,
  async make() {
    const folder = await mkdtemp(join(tmpdir(), 'svc-store-'));
    return { isShared: false, open: (limit = 1000) => openFolder({ folder, limit, now: () => new Date() }) };
  },
};

/** The same tests for both. */
export function forBoth(tests: (kind: Kind) => void): void {
  withServer();
  describe.each([folderKind, postgresKind])('in $name', tests);
}

export function withServer(): void {
  beforeAll(async () => {
    server = await ownPostgres();
  });
}

export const arrival = (id: string, sinks: readonly string[] = ['app'], more: Partial<Arrival> = {}): Arrival => ({
  id,
  event: 'ticket.created',
  at: '2026-01-02T03:04:05.000Z',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify({ id, event: 'ticket.created', data: { ticket_id: 7 } })),
  sinks,
  ...more,
});

export const outcome = (state: 'delivered' | 'failed' | 'dead' | 'skipped', tries = 1) => ({
  to: 'app',
  at: '2026-01-02T03:04:06.000Z',
  ms: 3,
  tries,
  state,
});

export async function idsOf(store: InboxStore, sink = 'app', most = 100): Promise<string[] | undefined> {
  return (await store.take(sink, most))?.waiting.map(({ arrival: { id } }) => id);
}

// @module-tag long
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { liveWorld } from './listening.ts';
import { withPostgres } from './own-postgres.ts';
import { body, deliver, serving } from './serving.ts';
import { newDatabase, serverOf, withServer } from './stores.ts';

// An administrator ends svc's connections, or the database goes and comes back, in the middle of `serve`.

withServer();

const endAll = (database: string) => () =>
  serverOf().sql(
    'postgres',
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}' AND application_name = 'svc webhooks'`,
  );

/** Sends it as the service does: again where the connection was cut, as `serve` does when the inbox was away for too long. */
async function delivered(url: string, text: string): Promise<void> {
  for (;;) {
    const status = await deliver(url, text);
    if (status !== undefined) return expect(status).toBe(204);
  }
}

withPostgres.each([
  ['its connections are ended again and again', 12],
  ['the database is killed and comes back', 2],
])('while %s, serve loses nothing, delivers nothing twice, and says what is wrong', async (_, rounds) => {
  const url = newDatabase();
  const database = /\/\/\/(\w+)/u.exec(url)?.[1] ?? '';
  const world = await liveWorld();
  const archive = join(world.folder, 'archive.jsonl');
  const served = await serving(
    world,
    `listen: { port: 0 }\ninbox: "${url}"\nsinks: [{ name: archive, file: { path: archive.jsonl } }]\n`,
  );
  const disturb = rounds === 12 ? endAll(database) : () => serverOf().crash().then(serverOf().start);
  let isOver = false;
  const disturbing = (async () => {
    for (let round = 0; round < rounds; round++) {
      await disturb();
      await sleep(60);
    }
    isOver = true;
  })();
  let sent = 0;
  const sender = async () => {
    while (!isOver || sent < 40) await delivered(served.url, body(`evt_${sent++}`));
  };
  await Promise.all([sender(), sender(), sender(), sender(), disturbing]);
  const ran = await served.end();
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
  const lines = (await readFile(archive, 'utf8')).trimEnd().split('\n');
  const ids = lines.map((line) => JSON.parse(line).id);
  expect(ids.toSorted()).toEqual(Array.from({ length: sent }, (_, n) => `evt_${n}`).toSorted());
  // Cut off while it asks, or while it commits.
  expect(served.said()).toMatch(/The inbox does not answer: (?:The database )?postgres:\/\/\//u);
});

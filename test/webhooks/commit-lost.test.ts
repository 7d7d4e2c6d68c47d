/** A database that goes away between a change and the word that it was made. */
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, expect } from 'vitest';
import { svc } from '../svc.ts';
import { withPostgres } from './own-postgres.ts';
import { body, deliver, newWorld, serving } from './serving.ts';
import { newDatabase, withServer } from './stores.ts';

withServer();

const open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

/** The same database by another way, on which the answer to COMMIT is lost: it is made, and nobody is told. */
async function cuttingAtCommit(url: string): Promise<string> {
  const [, database, folder] = /\/\/\/(\w+)\?host=([^&]+)/u.exec(url) ?? [];
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(`${folder}/.s.PGSQL.5432`);
    let isCommitting = false;
    for (const socket of [client, server]) sockets.add(socket.on('error', () => {}));
    client.on('data', (chunk) => {
      isCommitting ||= chunk.includes('COMMIT\0') && !chunk.includes('synchronous_commit');
      server.write(chunk);
    });
    server.on('data', (chunk) => (isCommitting ? client.resetAndDestroy() : client.write(chunk)));
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
  });
  open.push({ close: () => [...sockets].map((socket) => socket.destroy()) }, proxy);
  await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready));
  const address = proxy.address();
  return `postgres://svc@127.0.0.1:${typeof address === 'object' ? address?.port : ''}/${database}`;
}

withPostgres(
  'a change whose COMMIT was not answered is exit 9, whatever became of it',
  { tags: ['long'] },
  async () => {
    const world = await newWorld();
    const url = newDatabase();
    const config = (inbox: string) =>
      `listen: { port: 0 }\ninbox: "${inbox}"\nsinks: [{ name: archive, file: { path: archive.jsonl } }]\n`;
    const served = await serving(world, config(url));
    await deliver(served.url, body('evt_1'));
    await served.end();
    const listed = async () =>
      JSON.parse((await svc(world, ['webhooks', 'inbox', 'list', '--config', served.file, '--json'])).stdout);
    expect(await listed()).toHaveLength(1);
    const cut = `${served.file}.cut.yaml`;
    writeFileSync(cut, config(await cuttingAtCommit(url)));
    const ran = await svc(world, ['webhooks', 'inbox', 'purge', '--yes', '--config', cut]);
    expect(ran.exitCode, ran.stderr).toBe(9);
    expect(ran.stderr).toContain('did not say whether it made the change, so it may or may not be there');
    expect(ran.stderr).not.toContain('is not lost');
    expect(await listed()).toEqual([]);
  },
);

// @module-tag long
// An inbox in a database in which another role may make schemas and functions.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { svc } from '../../svc.ts';
import { liveWorld } from '../listening.ts';
import { withPostgres } from '../own-postgres.ts';
import { body, deliver, serving } from '../serving.ts';
import { newDatabase, serverOf, withServer } from '../stores.ts';

withServer();

/** A database, and the address of it for a role that is no superuser. */
function planted(sql: (owner: string, evil: string) => string): { url: string; ask: (text: string) => string } {
  const url = newDatabase();
  const database = /\/\/\/(\w+)/u.exec(url)?.[1] ?? '';
  const [owner, evil] = [`${database}_own`, `${database}_evil`];
  const { sql: run } = serverOf();
  run(
    'postgres',
    `CREATE ROLE ${owner} LOGIN; CREATE ROLE ${evil} LOGIN; ALTER DATABASE ${database} OWNER TO ${owner}`,
  );
  run(database, sql(owner, evil));
  return { url: url.replace(/user=\w+/u, `user=${owner}`), ask: (text) => run(database, text) };
}

const sinks = 'sinks: [{ name: archive, file: { path: archive.jsonl } }]\n';

withPostgres('no function of somebody else is called in place of the server’s', async () => {
  const { url, ask } = planted(
    (_, evil) => `GRANT CREATE ON SCHEMA public TO public; SET ROLE ${evil};
CREATE TABLE public.ran (what text); GRANT INSERT ON public.ran TO public;
CREATE FUNCTION public.nextval(text) RETURNS bigint LANGUAGE plpgsql AS $$
  BEGIN INSERT INTO public.ran VALUES ('nextval as ' || current_user); RETURN pg_catalog.nextval($1::regclass); END $$;
CREATE FUNCTION public.unnest(bytea[]) RETURNS SETOF bytea LANGUAGE plpgsql AS $$
  BEGIN INSERT INTO public.ran VALUES ('unnest'); RETURN QUERY SELECT pg_catalog.unnest($1); END $$;`,
  );
  const world = await liveWorld();
  const served = await serving(world, `listen: { port: 0 }\ninbox: "${url}"\n${sinks}`);
  for (const id of ['evt_1', 'evt_2']) expect(await deliver(served.url, body(id))).toBe(204);
  expect((await served.end()).exitCode).toBe(0);
  expect((await readFile(join(world.folder, 'archive.jsonl'), 'utf8')).trimEnd().split('\n')).toHaveLength(2);
  expect(ask('SELECT * FROM public.ran')).toBe('');
});

withPostgres('a schema that somebody else made first is refused before an event is accepted: exit 2', async () => {
  const { url, ask } = planted(
    (owner, evil) => `CREATE SCHEMA svc_webhooks AUTHORIZATION ${evil}; GRANT ALL ON SCHEMA svc_webhooks TO ${owner}`,
  );
  const world = await liveWorld();
  const config = join(world.folder, 'svc-webhooks.yaml');
  await writeFile(config, `listen: { port: 0 }\ninbox: "${url}"\n${sinks}`);
  const ran = await svc({ ...world, env: { ...world.env, SVC_WEBHOOK_SECRET: 'planted' } }, [
    'webhooks',
    'serve',
    '--config',
    config,
  ]);
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('who could run code') });
  expect(ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'svc_webhooks'").trim()).toBe('0');
});

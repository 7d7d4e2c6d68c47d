// @module-tag long
// A copy in PostgreSQL that one member of a team made, and another member pulls.
import { test as always, expect } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { ok } from './engines.ts';
import { sharedPostgres, withPostgres } from './postgres-server.ts';

const test = withPostgres(always);

test('the error says which statements let both write, and with these both do', async () => {
  const server = await sharedPostgres();
  const own = `team_${process.pid}`;
  const [one, other] = [`${own}_one`, `${own}_other`];
  server?.sql('postgres', `CREATE ROLE ${one} LOGIN; CREATE ROLE ${other} LOGIN`);
  server?.sql('postgres', `CREATE DATABASE ${own}`);
  server?.sql(own, `GRANT CREATE, TEMPORARY ON DATABASE ${own} TO ${one}, ${other}`);
  const world = sandboxWorld({ rateLimit: 'off' });
  const as = (role: string) => ({ ...world, env: { ...world.env, SVC_MIRROR_DB: server?.url(own, role) } });
  await ok(as(one), 'mirror pull --only lists');
  server?.sql(
    own,
    `GRANT USAGE ON SCHEMA svc_mirror TO ${other}; GRANT ALL ON ALL TABLES IN SCHEMA svc_mirror TO ${other}`,
  );
  const refused = await svc(as(other), ['mirror', 'pull', '--only', 'lists']);
  expect(refused.exitCode).toBe(2);
  const [, statements = ''] = refused.stderr.split('a superuser types:\n');
  expect(statements).toContain('ALTER TABLE svc_mirror.contacts OWNER TO svc_team;');
  server?.sql(own, statements.replaceAll('svc_team', `${own}_team`));
  await ok(as(other), 'mirror pull --only lists');
  await ok(as(one), 'mirror pull --only lists');
});

test('a role with row_security = off pulls and asks all the same', async () => {
  const server = await sharedPostgres();
  const own = `off_${process.pid}`;
  server?.sql('postgres', `CREATE ROLE ${own} LOGIN; ALTER ROLE ${own} SET row_security = off`);
  server?.sql('postgres', `CREATE DATABASE ${own} OWNER ${own}`);
  const world = sandboxWorld({ rateLimit: 'off' });
  const placed = { ...world, env: { ...world.env, SVC_MIRROR_DB: server?.url(own, own) } };
  await ok(placed, 'mirror pull --only lists');
  await ok(placed, ['mirror', 'sql', 'SELECT count(*) AS n FROM svc_mirror.lists']);
});

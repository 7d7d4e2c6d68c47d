// What a run that was killed has left open is settled by the next run of the same journal.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entriesIn } from '../../src/audit/read.ts';
import { verify } from '../../src/audit/verify.ts';
import { runOrKill } from '../bulk/killing.ts';
import { entriesBelow } from '../locks.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { svc, type World } from '../svc.ts';

const rootOf = ({ folder }: Pick<World, 'folder'>) => join(folder, 'state', 'audit', 'service.test-environment');
const outcomesOf = async (world: World) =>
  (await entriesIn(rootOf(world))).map(({ face, operation, outcome }) => `${face} ${operation} ${outcome}`);

function fileOf(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-rows-')), 'rows.csv');
  writeFileSync(file, text);
  return file;
}

test.each([
  ['that can be looked for', 'subject,description\nA,a\nB,b\n', ['tickets', 'create'], 'createTicket'],
  ['that is sent again, since twice is once', 'id\n1\n2\n', ['tickets', 'close'], 'updateTicket'],
])('a row %s: unknown until the next run, then done', async (_, text, words, operation) => {
  const world = sandboxWorld({ seed: few, rateLimit: 'off' });
  const argv = [...words, '--from', fileOf(text), '--yes', '--concurrency', '1', '--json'];
  let writes = 0;
  const dies: World = {
    ...world,
    async exchange(request) {
      if (request.method !== 'GET') writes++;
      return world.exchange(request);
    },
  };
  // The service has heard of the first row; its answer never came.
  const first = await runOrKill(dies, argv, undefined);
  expect(first.ran?.exitCode).toBe(0);
  const at = world.sent.findIndex((line) => !line.startsWith('GET'));
  expect(writes).toBe(2);

  const again = sandboxWorld({ seed: few, rateLimit: 'off' });
  const { next } = await runOrKill(again, argv, { at, heard: true });
  expect(await outcomesOf(next)).toEqual([`bulk ${operation} unknown`]);
  const listed = await svc(next, ['audit', 'list', '--outcome', 'unknown', '--json']);
  expect(JSON.parse(listed.stdout)).toMatchObject([{ operation, outcome: 'unknown', ended_at: null }]);

  expect((await svc(next, argv)).exitCode).toBe(0);
  const outcomes = await outcomesOf(next);
  expect(outcomes.filter((one) => one.endsWith('unknown'))).toEqual([]);
  expect(outcomes[0]).toBe(`bulk ${operation} done`);
  expect((await verify(rootOf(next))).fault).toBeUndefined();
});

test('a chunk of contacts sync that was on its way is done once the next run has sent it again', async () => {
  const world = sandboxWorld({ seed: few, rateLimit: 'off' });
  const argv = ['contacts', 'sync', fileOf('email,name\na@example.com,Ada\n'), '--json'];
  await svc(world, argv);
  const at = world.sent.findIndex((line) => !line.startsWith('GET'));
  const again = sandboxWorld({ seed: few, rateLimit: 'off' });
  const { next } = await runOrKill(again, argv, { at, heard: true });
  expect(await outcomesOf(next)).toEqual(['bulk syncContacts unknown']);
  // The lock of a process that is gone.
  for (const entry of entriesBelow(join(next.folder, 'state', 'sync'))) rmSync(entry);
  const { exitCode, stderr } = await svc(next, argv);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(await outcomesOf(next)).toEqual(['bulk syncContacts done', 'bulk syncContacts done']);
});

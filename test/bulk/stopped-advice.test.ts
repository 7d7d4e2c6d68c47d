// What a run with --restart that left rows says of the command that sends them: the one that does, and sends no other again.
import { mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atOnce, own, reply, runs } from './restarting.ts';

test.each([
  ['forbids a row', `sends: { deny: '(.body.body // "") | test("Bob")' }\n`],
  ['counts the rows of an hour', 'sends: { max_per_hour: 1 }\n'],
])('where the policy %s it is the command without --restart', async (_, rule) => {
  const { run, world } = runs();
  expect((await run(reply, 't.csv', own)).exitCode).toBe(0);
  const policy = join(world.folder, 'config', 'policy.yaml');
  mkdirSync(join(world.folder, 'config'), { recursive: true });
  writeFileSync(policy, rule);
  const stopped = await run(reply, 't.csv', own, ['--restart']);
  expect([stopped.exitCode, stopped.sent.length]).toEqual([8, 1]);
  expect(stopped.stderr).toContain('Run the command again without --restart once the policy allows these rows.');
  const goesOn = await run(reply, 't.csv', own);
  expect([goesOn.exitCode, goesOn.sent.length]).toEqual([8, 0]);
  expect(goesOn.stderr).not.toContain('again without');
  unlinkSync(policy);
  expect((await run(reply, 't.csv', own)).sent).toEqual(['{"body":"Hello Bob"}']);
});

test('where another login has sent the rows, and nobody knows the account, it is the command with --again', async () => {
  const env: Record<string, string | undefined> = {};
  const { run, control } = runs(env);
  expect((await run(reply, 't.csv', own)).exitCode).toBe(0);
  const grant = (await control(['tickets:write', 'tickets:read'])) as { access_token: string };
  Object.assign(env, { SVC_API_KEY: undefined, SVC_ACCESS_TOKEN: grant.access_token });
  const stopped = await run(reply, 't.csv', own, ['--restart'], ['is done', ...atOnce]);
  expect(stopped.exitCode).toBe(8);
  expect(stopped.stderr).toContain('Run the command again with --again in the place of --restart: it goes on');
  expect((await run(reply, 't.csv', own)).exitCode).toBe(2);
  const again = await run(reply, 't.csv', own, ['--again']);
  expect(again).toMatchObject({ exitCode: 0, sent: ['{"body":"Hello Bob"}'] });
  expect(await run(reply, 't.csv', own)).toMatchObject({ exitCode: 0, sent: [] });
});

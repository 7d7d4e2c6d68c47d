// One value or one text, as it goes into $(…) or a file.
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

test.each([
  ['auth', 'token'],
  ['config', 'get', 'output'],
  ['audit', 'head'],
  ['webhooks', 'sign'],
  ['skill', 'print'],
  ['mirror', 'schema'],
  ['mcp', 'install', 'print'],
  ['completion', 'bash'],
])('svc %s %s is bare whatever the setting output says, and formed by a flag and SVC_OUTPUT', async (...line) => {
  const world = sandboxWorld();
  const run = (words: string[], env = {}) =>
    svc(world, words, { stdin: '{"id":"evt_1"}', env: { SVC_WEBHOOK_SECRET: 'sample', ...env } });
  await run(['tickets', 'note', '1', '--body', 'So that something is recorded']);
  await run(['config', 'set', 'pager', 'cat']);
  await run(['config', 'set', 'output', 'table']);
  const bare = await run(line);
  expect(bare.exitCode).toBe(0);
  expect(bare.stdout).not.toBe('');
  const formed = await run([...line, '--json']);
  for (const output of ['json', 'csv', 'yaml', 'jsonl']) {
    await run(['config', 'set', 'output', output]);
    const ran = await run(line);
    expect(ran.stdout).toBe(line.join(' ') === 'config get output' ? `${output}\n` : bare.stdout);
    if (line.join(' ') === 'config get output') continue;
    expect(await run([...line, '--json'])).toEqual(formed);
    expect(await run(line, { SVC_OUTPUT: 'json' })).toEqual(formed);
  }
  if (line[0] === 'auth') expect((await run([...line, '--fields', 'kind'])).stdout).toContain('api_key');
});

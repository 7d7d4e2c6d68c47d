// Forms of output that a command does not have.
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const endless = [['watch'], ['webhooks', 'listen', '--port', '0'], ['sandbox', 'start', '--port', '0']];

test.each(endless.flatMap((line) => ['csv', 'yaml'].map((form) => [line, form] as const)))(
  '%j -o %s is exit 2 before anything begins',
  async (line, form) => {
    const world = sandboxWorld();
    const ran = await svc(world, [...line, '-o', form], { signal: AbortSignal.timeout(5000) });
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toMatch(new RegExp(`has no -o ${form}; nothing was begun.\nIt has table, json and jsonl.`, 'u'));
    expect(world.sent).toEqual([]);
  },
);

test.each([['--json'], ['-o', 'jsonl'], ['--jq', '.'], ['-o', 'csv']])(
  'sandbox demo %s %s is exit 2',
  async (...form) => {
    const ran = await svc(sandboxWorld(), ['sandbox', 'demo', ...form]);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('svc sandbox demo has no ') });
  },
);

test('from SVC_OUTPUT or the setting it is left aside', async () => {
  const world = sandboxWorld();
  const start = async (env: Record<string, string>) => {
    const end = new AbortController();
    const seen = (stream: string) => stream === 'stdout' && end.abort();
    return svc(world, ['sandbox', 'start', '--port', '0'], { env, seen, signal: end.signal });
  };
  expect((await start({ SVC_OUTPUT: 'yaml' })).stdout).toMatch(/^Base URL /u);
  await svc(world, ['config', 'set', 'output', 'csv']);
  expect((await start({})).stdout).toMatch(/^Base URL /u);
  expect(JSON.parse((await start({ SVC_OUTPUT: 'json' })).stdout)).toHaveProperty('base_url');
});

import { expect, test } from 'vitest';
import type { HttpRequest } from '../../src/context.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const note = /an earlier copy of this request was lost, and it may still arrive\..*Wait 30 s/su;

const lines = [
  ['tickets', 'close', '8'],
  ['contacts', 'update', '8', '--company', 'Example'],
  ['conversations', 'resolve', '3', '--yes'],
  ['lists', 'set', '1', '--contact', '7', '--yes'],
] as const;

test.for(lines)('%j: where a lost copy may still arrive, svc says for how long to wait', async (argv) => {
  const world = sandboxWorld({ rateLimit: 'off' });
  let lost = 0;
  const late: typeof world.exchange = async (request) =>
    request.method !== 'GET' && lost++ === 0 ? { status: 504, headers: {}, body: '' } : world.exchange(request);
  const ran = await svc({ ...world, exchange: late }, argv);
  expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(note) });
});

test.for(lines)('%j: after an answer of the service itself nothing is said', async (argv) => {
  const world = sandboxWorld({ rateLimit: 'off' });
  let failed = 0;
  const own: typeof world.exchange = async (request) =>
    request.method !== 'GET' && failed++ === 0
      ? { status: 500, headers: { 'content-type': 'application/json' }, body: '{"error":"Server error"}' }
      : world.exchange(request);
  const ran = await svc({ ...world, exchange: own }, argv);
  expect(ran).toMatchObject({ exitCode: 0, stderr: expect.not.stringMatching(note) });
});

test('the rows of a file wait themselves, and say nothing of it', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  let lost = 0;
  const late: typeof world.exchange = async (request) =>
    request.method !== 'GET' && lost++ === 0 ? { status: 504, headers: {}, body: '' } : world.exchange(request);
  const ran = await svc({ ...world, exchange: late }, ['tickets', 'close', '--from', '-'], { stdin: '8\n' });
  expect(ran).toMatchObject({ exitCode: 0, stderr: expect.not.stringMatching(note) });
});

test.for([
  ['tickets', 'list'],
  ['tickets', 'create', '--subject', 'Mine'],
  ['lists', 'delete', '2', '--yes'],
])('%j: where a copy that comes late sets nothing, svc says nothing of it', async (argv) => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const isMeant = ({ method }: HttpRequest) => (method === 'GET') === (argv[1] === 'list');
  let lost = 0;
  const late: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    return isMeant(request) && lost++ === 0 ? { status: 504, headers: {}, body: '' } : answer;
  };
  const ran = await svc({ ...world, exchange: late }, argv);
  expect(ran).toMatchObject({ exitCode: 0, stderr: expect.not.stringMatching(note) });
  expect(lost).toBeGreaterThan(0);
});

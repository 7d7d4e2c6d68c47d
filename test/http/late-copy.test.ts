import { expect, test } from 'vitest';
import type { HttpRequest, HttpResponse, Lost } from '../../src/context.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const note = /an earlier copy of this request was lost, and it may still arrive\..*Wait 30 s/su;

const gateway: HttpResponse = { status: 504, headers: {}, body: '' };

type Answer = HttpResponse | Lost | undefined;
type Answering = (world: SandboxWorld, request: HttpRequest, nth: number) => Answer | Promise<Answer>;

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

/** Two rows that set the same contact otherwise. How long after the first one the second one left. */
async function secondRowAfterMs(onPatch: Answering, onRead: Answering = () => undefined) {
  const world = sandboxWorld({ rateLimit: 'off' });
  const at: number[] = [];
  let [patches, reads] = [0, 0];
  const exchange: typeof world.exchange = async (request) => {
    if (request.method === 'GET') return (await onRead(world, request, ++reads)) ?? world.exchange(request);
    if (String(request.body).includes('Second')) at.push(world.clock.ticks());
    if (++patches === 1) at.push(world.clock.ticks());
    return (await onPatch(world, request, patches)) ?? world.exchange(request);
  };
  const argv = ['contacts', 'update', '--from', '-', '--yes', '--concurrency', '1'];
  const ran = await svc({ ...world, exchange }, argv, { stdin: 'id,company\n8,First\n8,Second\n' });
  expect(ran).toMatchObject({ exitCode: 0 });
  return (at[1] ?? Number.NaN) - (at[0] ?? Number.NaN);
}

test('a later row that sets the same record otherwise leaves once no earlier copy can still arrive', async () => {
  const ms = await secondRowAfterMs((_, _request, nth) => (nth === 1 ? gateway : undefined));
  expect(ms).toBeGreaterThanOrEqual(30_000);
});

test('a later row waits for nothing where no copy of an earlier one is on its way', async () => {
  expect(await secondRowAfterMs(() => undefined)).toBeLessThan(5000);
});

test('a later row waits for nothing either where a read alone had no answer', async () => {
  let isUpdated = false;
  let lost = 0;
  const answeredAsBefore: Answering = async (world, request, nth) => {
    if (nth > 1) return undefined;
    const before = await world.exchange({ ...request, method: 'GET', body: undefined });
    await world.exchange(request);
    isUpdated = true;
    return before;
  };
  const ms = await secondRowAfterMs(answeredAsBefore, () => (isUpdated && lost++ === 0 ? gateway : undefined));
  expect(lost).toBeGreaterThan(0);
  expect(ms).toBeLessThan(5000);
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

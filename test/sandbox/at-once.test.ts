// What the sandbox need not wait for is answered in the same turn: a promise would cost more than most reads.
import { expect, test } from 'vitest';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/app.ts';

const read = { method: 'GET', url: '/contacts/1', headers: { authorization: 'Bearer key_acme' } };
const seeded = (options: SandboxOptions = {}) => createSandbox({ seed: 'demo', ...options });

/** What came before it has been kept. */
async function ready(options?: SandboxOptions) {
  const sandbox = seeded(options);
  await sandbox.handle(read);
  return sandbox;
}

test('a read is answered at once', async () => {
  const { handle } = await ready();
  expect(handle(read)).toMatchObject({ status: 200 });
});

test('what is refused is answered at once', async () => {
  const { handle } = await ready();
  expect(handle({ ...read, url: '/nothing' })).toMatchObject({ status: 404 });
  expect(handle({ ...read, headers: { authorization: 'Bearer key_acmE' } })).toMatchObject({ status: 401 });
});

test('with a latency the answer comes after it', async () => {
  const waits: number[] = [];
  const sleep = async (ms: number) => void waits.push(ms);
  const { handle } = await ready({ latencyMs: 40, sleep });
  const answer = handle(read);
  expect(answer).toBeInstanceOf(Promise);
  expect(await answer).toMatchObject({ status: 200 });
  expect(waits).toEqual([40, 40]);
});

test('a failure inside is a 500, whether or not the answer had to be waited for', async () => {
  const serves = {
    match: () => {
      throw new Error('Broken.');
    },
    answer: () => ({}),
  };
  const broken = { status: 500, body: '{"error":"The sandbox failed: Broken."}' };
  expect(seeded({ serves }).handle(read)).toMatchObject(broken);
  expect(await seeded({ serves, latencyMs: 1, sleep: async () => {} }).handle(read)).toMatchObject(broken);
});

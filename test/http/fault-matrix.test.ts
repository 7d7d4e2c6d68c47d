import { beforeAll, describe, expect, test } from 'vitest';
import { type OperationId, operations } from '../../src/api/index.ts';
import type { Operation } from '../../src/api/operation.ts';
import { filledPath, presetPath } from '../../src/api/path.ts';
import type { Exchange } from '../../src/context.ts';
import { createExchange } from '../../src/node/exchange.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { type Ran, svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';
import { hook, lines, type State } from './command-lines.ts';
import { type Fault, faults, faultyService } from './faulty-service.ts';

/** Faults after which an earlier copy may still arrive; the others are answers of the service itself. */
const unsettled: readonly Fault[] = [
  'reset before',
  'reset after processing',
  'time-out after processing',
  'truncated',
  'an HTML page',
  'malformed JSON',
];

/** What the class of an operation promises: the exit code, and how many records there are afterwards. */
function promised(id: OperationId, fault: Fault): { exitCode: number; made: number } {
  const { safety, reaches } = operations[id] as Operation;
  const story = faults[fault];
  if (story === 'answered' || story === 'refused') return { exitCode: 0, made: 1 };
  const isDone = story === 'processed';
  // It is seen, but its secret is lost.
  if (id === 'createWebhook' && isDone) return { exitCode: 9, made: 1 };
  const isUnknown =
    safety === 'once' || (safety === 'verify' && !isDone && (unsettled.includes(fault) || reaches === 'customer'));
  return isUnknown ? { exitCode: 9, made: isDone ? 1 : 0 } : { exitCode: 0, made: 1 };
}

let exchange: Exchange;

beforeAll(async () => {
  exchange = await createExchange({});
});

const credentials = { SVC_API_KEY: 'key_acme', SVC_ACCESS_TOKEN: 'any', SVC_M2M_TOKEN: 'm2m_sandbox' };

async function play(id: OperationId, fault: Fault, times: number, flags: readonly string[] = []) {
  const world = sandboxWorld({ seed: few, rateLimit: 'off' });
  const { method, path } = operations[id];
  const pattern = new RegExp(`^${filledPath(presetPath(path), () => '\\d+')}$`, 'u');
  const tokens = (await world.control('POST', 'tokens', {
    account_id: 1,
    scopes: ['webhooks:manage'],
  })) as { access_token: string };
  const env = { ...credentials, SVC_ACCESS_TOKEN: tokens.access_token };
  if (id === 'deleteWebhook') {
    const body = JSON.stringify(hook);
    const headers = { authorization: `Bearer ${tokens.access_token}`, 'content-type': 'application/json' };
    await world.sandbox.handle({ method: 'POST', url: '/oauth-platform/webhooks', headers, body });
  }
  const service = await faultyService(world.sandbox, { method, path: pattern, fault, times });
  try {
    const { argv, stdin, made } = lines[id];
    // A machine that is busy answers late: only an answer that never comes is not waited for.
    const timeout = fault === 'time-out after processing' ? '0.5' : '15';
    const ran = await svc({ ...world, exchange }, [...argv, '--timeout', timeout, '--json', ...flags], {
      env: { ...env, SVC_BASE_URL: service.url },
      stdin,
    });
    const state = (await world.control('GET', 'state')) as State;
    return { ran, hits: service.hits(), made: made?.(state) };
  } finally {
    await service.close();
  }
}

const ids = Object.keys(operations) as OperationId[];

describe.concurrent.each(Object.keys(faults).map((fault, turn) => [fault as Fault, turn] as const))(
  '%s',
  (fault, turn) => {
    test.each(inTurn(ids, turn, 3))('%s does its work once, or says what is not known', async (id) => {
      const { ran, made } = await play(id, fault, 1);
      const promise = promised(id, fault);
      expect({ exitCode: ran.exitCode, stderr: ran.exitCode === promise.exitCode ? '' : ran.stderr }).toEqual({
        exitCode: promise.exitCode,
        stderr: '',
      });
      if (made !== undefined) expect(made).toBe(promise.made);
      if (ran.exitCode === 0) expect(() => JSON.parse(ran.stdout)).not.toThrow();
      else expectStory(ran);
    });
  },
);

describe.concurrent('for ever', () => {
  test.each(inTurn(ids, 0, 3))('429: %s ends as rate-limited and nothing is made', async (id) => {
    const { ran, made } = await play(id, '429 once', Number.POSITIVE_INFINITY, ['--max-wait', '10']);
    expect(ran.exitCode).toBe(7);
    expect(ran.stderr).toContain('--max-wait');
    if (made !== undefined) expect(made).toBe(0);
  });

  test.each(ids)('reset after processing: %s is never doubled', async (id) => {
    const { ran, made } = await play(id, 'reset after processing', Number.POSITIVE_INFINITY);
    const expected = { read: 10, repeatable: 9, verify: id === 'createWebhook' ? 9 : 0, once: 9 }[
      operations[id].safety
    ];
    expect(ran.exitCode).toBe(id.startsWith('delete') ? 9 : expected);
    if (made !== undefined) expect(made).toBe(1);
  });

  test.each(inTurn(ids, 1, 3))('refused: %s says that nothing happened', async (id) => {
    const world = sandboxWorld();
    const { argv, stdin } = lines[id];
    const ran = await svc({ ...world, exchange }, [...argv, '--json'], {
      env: { ...credentials, SVC_BASE_URL: 'http://127.0.0.1:1' },
      stdin,
    });
    expect(ran.exitCode).toBe(10);
    expect(ran.stderr).toContain('refuses connections');
  });
});

/** The message says in plain words what may have happened, and not to repeat it blindly. */
function expectStory(ran: Ran): void {
  expect(ran.stderr).toMatch(/may or may not have been/u);
  expect(ran.stderr).toMatch(/Do not repeat it blindly|replace it: svc webhooks delete 1 && svc webhooks create/u);
  const last = ran.stderr.trimEnd().split('\n').at(-1) ?? '';
  expect(JSON.parse(last)).toMatchObject({
    error: { kind: 'unknown', exit_code: 9, looked_for_seconds: expect.any(Number), candidates: expect.any(Array) },
  });
}

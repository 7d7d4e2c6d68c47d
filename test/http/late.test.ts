import { describe, expect, test } from 'vitest';
import { type OperationId, operations } from '../../src/api/index.ts';
import type { Operation } from '../../src/api/operation.ts';
import { filledPath, presetPath } from '../../src/api/path.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { type Ran, svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';
import { lines, type State } from './command-lines.ts';
import { lateWorld, ownFailure, unsettledEndings } from './late-service.ts';

const writes = (Object.values(operations) as Operation[]).filter(({ safety }) => safety !== 'read');
const delays = [0, 100, 1000, 3000, 10_000, 29_000, 45_000, undefined] as const;
/** Where twice is once, the moment tells less. */
const fewDelays = [0, 10_000, 45_000, undefined] as const;

type Played = { readonly ran: Ran; readonly left: number; readonly made: number | undefined };

async function play(
  id: string,
  ending: (typeof unsettledEndings)[string],
  afterMs: number | undefined,
): Promise<Played> {
  const world = sandboxWorld({ seed: few, rateLimit: 'off' });
  const { access_token } = (await world.control('POST', 'tokens', {
    account_id: 1,
    scopes: ['webhooks:manage'],
  })) as { access_token: string };
  const { method, path } = operations[id as OperationId];
  const pattern = new RegExp(`${filledPath(presetPath(path), () => '\\d+')}$`, 'u');
  const late = lateWorld(world, {
    isMeant: (request) => request.method === method && pattern.test(request.url),
    ending,
    afterMs,
  });
  const { argv, stdin, made } = lines[id as OperationId];
  const env = { SVC_API_KEY: 'key_acme', SVC_ACCESS_TOKEN: access_token, SVC_M2M_TOKEN: 'm2m_sandbox' };
  const ran = await svc(late, [...argv, '--json'], { env, stdin });
  await late.settle();
  return { ran, left: late.left(), made: made?.((await world.control('GET', 'state')) as State) };
}

const endings = Object.entries(unsettledEndings).map(([name, ending], n) => [name, ending, n] as const);
const candidatesOf = ({ stderr }: Ran): number[] =>
  JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error.candidates;

/** In turn: every third write meets an ending, at one moment. */
const played = writes.map((write, turn) => ({ ...write, turn, met: inTurn(endings, turn, 3) }));

describe.each(played)('$id', ({ id, safety, turn, met }) => {
  test.each(met)('after %s is held once or not at all, and the exit code is true', async (name, ending, n) => {
    const isFinal = name.startsWith('a redirect') || name === 'a 404 of another server';
    const moments = safety === 'repeatable' ? fewDelays : delays;
    for (const afterMs of inTurn<number | undefined>(moments, turn + n, moments.length)) {
      const { ran, left, made } = await play(id, ending, afterMs);
      const where = { afterMs, exitCode: ran.exitCode, stderr: ran.exitCode === 0 ? '' : ran.stderr };
      expect([0, 9], JSON.stringify(where)).toContain(ran.exitCode);
      if (safety === 'once' || safety === 'verify') expect(left, JSON.stringify(where)).toBe(1);
      if (made !== undefined)
        expect(made, JSON.stringify(where)).toBe(ran.exitCode === 0 || afterMs !== undefined ? 1 : 0);
      if (safety !== 'verify') continue;
      // Seen within 30 s it is done; a redirect and another server are worth one look.
      const isSeen = afterMs !== undefined && (isFinal ? afterMs === 0 : afterMs < 30_000);
      // Of a subscription that is seen the secret is lost: it is named, and nothing is done to it.
      if (id === 'createWebhook') expect(candidatesOf(ran)).toHaveLength(isSeen ? 1 : 0);
      else expect(ran.exitCode, JSON.stringify(where)).toBe(isSeen ? 0 : 9);
    }
  });

  test('after a failure that the service itself tells of is sent again only where surely nothing is there', async () => {
    for (const afterMs of [0, undefined]) {
      const { ran, left, made } = await play(id, ownFailure, afterMs);
      const asked = operations[id as OperationId] as Operation;
      const isSecretLost = id === 'createWebhook' && afterMs === 0;
      const isUnknown = safety === 'once' || isSecretLost || (asked.reaches === 'customer' && afterMs === undefined);
      expect(ran.exitCode, ran.stderr).toBe(isUnknown ? 9 : 0);
      if (isUnknown) expect(left).toBe(1);
      if (made !== undefined) expect(made).toBe(isUnknown && afterMs === undefined ? 0 : 1);
    }
  });
});

test('exit 9 says what was sent, what was looked for and for how long', async () => {
  const { ran } = await play('createTicket', unsettledEndings['a time-out'] ?? ownFailure, undefined);
  const [fact, advice, json] = ran.stderr.trimEnd().split('\n');
  expect(fact).toBe(
    'Error: The ticket may or may not have been created (no answer within 1 s). svc looked for 30 s and did not find it.',
  );
  expect(advice).toBe('Do not repeat it blindly. Look with: svc tickets list --search Matrix');
  expect(JSON.parse(json ?? '')).toMatchObject({ error: { looked_for_seconds: 30, candidates: [] } });
});

test('--settle says for how long it is looked for, and --max-wait does not shorten it', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const plan = { isMeant: ({ method }: { method: string }) => method === 'POST', ending: ownFailure, afterMs: 20_000 };
  const lateBy = (flags: readonly string[]) => {
    const ending = unsettledEndings['a time-out'] ?? ownFailure;
    return svc(lateWorld(world, { ...plan, ending }), ['tickets', 'create', '--subject', flags.join(' '), ...flags]);
  };
  expect((await lateBy(['--max-wait', '1'])).exitCode).toBe(0);
  const short = await lateBy(['--settle', '5']);
  expect(short).toMatchObject({ exitCode: 9, stderr: expect.stringContaining('looked for 5 s') });
  expect((await lateBy(['--settle', '0'])).stderr).toContain('looked once');
});

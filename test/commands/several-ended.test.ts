// One of several writes ends the command: what is said of each record is what the service really did.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HttpRequest, HttpResponse, Lost } from '../../src/context.ts';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type RunOptions, svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';

type Fate = 'done' | 'rejected' | 'unknown' | 'unsent';

type Ending = {
  /** What meets the write of the record at which it ends; `gets`: what the service really makes of it. */
  readonly meets: (end: AbortController, gets: () => Promise<HttpResponse | Lost>) => Promise<HttpResponse | Lost>;
  /** Of that record, and of those behind it. */
  readonly fate: Fate;
  readonly behind: Fate;
  /** The exit code with nothing done before it, and with something. */
  readonly exit: readonly [alone: number, behindOthers: number];
  /** What is so before it comes to that record. */
  readonly before?: (world: SandboxWorld) => void;
  readonly policy?: boolean;
};

const lost = (when: Lost['lost'], reason: Lost['reason']): Lost => ({ lost: when, reason, detail: 'It broke.' });

const answered = (status: number, body: string): Ending['meets'] => {
  const answer = { status, headers: {}, body };
  return async () => answer;
};

/** The answer of a write that was done is on its way. */
const onItsWay =
  (signal: string): Ending['meets'] =>
  async (end, gets) => {
    await gets();
    end.abort(signal);
    return lost('after-sending', 'aborted');
  };

const endings: Readonly<Record<string, Ending>> = {
  'Ctrl-C, its answer on the way': { meets: onItsWay('SIGINT'), fate: 'unknown', behind: 'unsent', exit: [130, 130] },
  'SIGTERM, its answer on the way': { meets: onItsWay('SIGTERM'), fate: 'unknown', behind: 'unsent', exit: [143, 143] },
  'SIGHUP, its answer on the way': { meets: onItsWay('SIGHUP'), fate: 'unknown', behind: 'unsent', exit: [129, 129] },
  'Ctrl-C before it leaves': {
    meets: async (end) => {
      end.abort('SIGINT');
      return lost('before-sending', 'aborted');
    },
    fate: 'unsent',
    behind: 'unsent',
    exit: [130, 130],
  },
  'Ctrl-C beside its answer': {
    meets: async (end, gets) => {
      const answer = await gets();
      end.abort('SIGINT');
      return answer;
    },
    fate: 'done',
    behind: 'unsent',
    exit: [130, 130],
  },
  'a gateway that fails after it was done': {
    meets: async (_, gets) => {
      await gets();
      return { status: 502, headers: {}, body: 'bad gateway' };
    },
    fate: 'unknown',
    behind: 'unknown',
    exit: [9, 9],
  },
  'no answer': {
    meets: async () => lost('after-sending', 'timeout'),
    fate: 'unknown',
    behind: 'unknown',
    exit: [9, 9],
  },
  'a login that is lost': {
    meets: answered(401, '{"error":"Unauthenticated."}'),
    fate: 'unsent',
    behind: 'unsent',
    exit: [4, 8],
  },
  'a network that is gone': {
    meets: async () => lost('before-sending', 'refused'),
    fate: 'unsent',
    behind: 'unsent',
    exit: [10, 8],
  },
  'a service that fails': {
    meets: answered(500, '{"error":"Server error"}'),
    fate: 'unknown',
    behind: 'unknown',
    exit: [9, 9],
  },
  'a refusal': { meets: answered(422, '{"error":"No."}'), fate: 'rejected', behind: 'rejected', exit: [6, 8] },
  'a record of writes that takes nothing': {
    meets: (_, gets) => gets(),
    before: ({ folder }) => {
      rmSync(join(folder, 'state', 'audit'), { recursive: true, force: true });
      mkdirSync(join(folder, 'state'), { recursive: true });
      writeFileSync(join(folder, 'state', 'audit'), 'no folder');
    },
    fate: 'unsent',
    behind: 'unsent',
    exit: [1, 1],
  },
  'a policy that forbids it': {
    meets: (_, gets) => gets(),
    policy: true,
    fate: 'unsent',
    behind: 'unsent',
    exit: [5, 8],
  },
};

const commands = {
  'conversations resolve': {
    argv: ['conversations', 'resolve', '3', '1', '2', '--yes'],
    ids: [3, 1, 2] as readonly number[],
  },
  'tickets close': { argv: ['tickets', 'close', '7', '8', '9'], ids: [7, 8, 9] as readonly number[] },
} as const;

const outputs: Readonly<Record<string, { readonly argv: readonly string[]; readonly options: RunOptions }>> = {
  'a pipe': { argv: [], options: {} },
  csv: { argv: ['-o', 'csv'], options: {} },
  json: { argv: ['--json'], options: {} },
  'a terminal': { argv: [], options: { columns: 200 } },
};

const idOf = ({ method, url }: HttpRequest) =>
  method === 'GET' ? undefined : Number(/\/(?:tickets|conversations)\/(\d+)/u.exec(url)?.[1]);

async function play(
  { argv, ids }: (typeof commands)[keyof typeof commands],
  { meets, before, policy }: Ending,
  at: number,
  { argv: form, options }: (typeof outputs)[string],
) {
  const world = sandboxWorld({ seed: few, rateLimit: 'off' });
  const end = new AbortController();
  const really = new Set<number>();
  if (policy) {
    mkdirSync(join(world.folder, 'config'), { recursive: true });
    writeFileSync(join(world.folder, 'config', 'policy.yaml'), `sends:\n  max_per_hour: ${at}\n`);
  }
  if (at === 0) before?.(world);
  const exchange: typeof world.exchange = async (request) => {
    const id = idOf(request);
    if (id === undefined) return end.signal.aborted ? lost('before-sending', 'aborted') : world.exchange(request);
    if (end.signal.aborted) return lost('before-sending', 'aborted');
    const gets = async () => {
      const answer = await world.exchange(request);
      if ('status' in answer && answer.status < 300) really.add(id);
      return answer;
    };
    const turn = ids.indexOf(id);
    const answer = await (turn < at ? gets() : meets(end, gets));
    if (turn === at - 1) before?.(world);
    return answer;
  };
  const line = [...argv, ...form, '--max-wait', '5', '--settle', '1'];
  const ran = await svc({ ...world, exchange }, line, { ...options, signal: end.signal });
  return { ran, really };
}

const restIn = (stderr: string): number[] =>
  (/To do the rest: svc \S+ \S+((?: \d+)+)/u.exec(stderr)?.[1] ?? '').trim().split(' ').filter(Boolean).map(Number);

describe.each(Object.entries(commands))('%s of three', (words, command) => {
  const cases = Object.entries(endings).filter(([, { policy }]) => !policy || words === 'conversations resolve');
  test.each(cases.map(([name, ending], turn) => [name, ending, turn] as const))(
    'ended by %s: each is told as it is, and the rest is what surely was not sent',
    async (_, ending, kind) => {
      const { ids } = command;
      for (const at of ids.keys()) {
        const fates = ids.map((__, turn): Fate => {
          if (turn < at) return 'done';
          return turn === at ? ending.fate : ending.behind;
        });
        const counts = (fate: Fate) => fates.filter((one) => one === fate).length;
        const [done, rejected, unknown, unsent] = [
          counts('done'),
          counts('rejected'),
          counts('unknown'),
          counts('unsent'),
        ];
        for (const [output, form] of inTurn(Object.entries(outputs), kind + at, 2)) {
          const { ran, really } = await play(command, ending, at, form);
          const where = JSON.stringify({ at, output, ...ran, really: [...really] });
          expect(ran.exitCode, where).toBe(done === 3 ? 0 : ending.exit[at > 0 ? 1 : 0]);
          expect(ran.stderr, where).toContain(
            `3 in all: ${done} done, ${rejected} rejected, ${unknown} unknown, ${unsent} not sent.`,
          );
          if (output === 'a pipe')
            expect(ran.stdout, where).toBe(ids.map((id, turn) => `${id}\t${fates[turn]}\n`).join(''));
          if (output === 'json')
            expect(JSON.parse(ran.stdout), where).toMatchObject({ rows: 3, done, rejected, unknown, unsent });
          if (output === 'csv') expect(ran.stdout, where).toContain(`3,${done},${rejected},${unknown},${unsent},`);
          for (const [turn, id] of ids.entries()) {
            if (fates[turn] === 'done') expect(really, where).toContain(id);
            if (fates[turn] !== 'done' && fates[turn] !== 'unknown') expect(really, where).not.toContain(id);
          }
          const left = ids.filter((__, turn) => fates[turn] === 'unsent');
          const rest = ending.policy || done + unknown === 0 ? [] : left;
          expect(restIn(ran.stderr), where).toEqual(rest);
        }
      }
    },
  );
});

test('one of which it is not known before the network goes is to be looked at, and is not among the rest', async () => {
  const world = sandboxWorld({ seed: few, rateLimit: 'off' });
  const exchange: typeof world.exchange = async (request) => {
    const id = idOf(request);
    if (id === undefined || id === 7) return world.exchange(request);
    return id === 8 ? lost('after-sending', 'timeout') : lost('before-sending', 'refused');
  };
  const line = ['tickets', 'close', '7', '8', '9', '10', '--max-wait', '5', '--settle', '1'];
  const ran = await svc({ ...world, exchange }, line);
  expect(ran).toMatchObject({ exitCode: 9, stdout: '7\tdone\n8\tunknown\n9\tunsent\n10\tunsent\n' });
  expect(ran.stderr).toMatch(/^Look at it with: svc tickets get 8$/mu);
  expect(restIn(ran.stderr)).toEqual([9, 10]);
});

test('the advice of one that is not there is not given for one of which it is not known', async () => {
  const world = sandboxWorld({ seed: few, rateLimit: 'off' });
  const exchange: typeof world.exchange = async (request) =>
    idOf(request) === 8 ? lost('after-sending', 'timeout') : world.exchange(request);
  const line = ['tickets', 'close', '9999', '8', '7', '--max-wait', '5', '--settle', '1'];
  const ran = await svc({ ...world, exchange }, line);
  expect(ran.exitCode).toBe(9);
  expect(ran.stderr).toContain('Look at it with: svc tickets get 8');
});

test('webhooks delete: one counts as done where its secret cannot be forgotten, and is not among the rest', async () => {
  const world = sandboxWorld({ seed: few, rateLimit: 'off' });
  const asked = { account_id: 1, scopes: ['webhooks:manage'] };
  const { access_token } = (await world.control('POST', 'tokens', asked)) as { access_token: string };
  const options: RunOptions = { env: { SVC_ACCESS_TOKEN: access_token } };
  const ids = ['1', '2', '3'];
  for (const id of ids) {
    const ran = await svc(world, ['webhooks', 'create', 'ticket.created', `https://example.com/${id}`], options);
    expect(ran.exitCode, ran.stderr).toBe(0);
  }
  const config = join(world.folder, 'config');
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    if (request.method === 'DELETE' && request.url.endsWith(`/${ids[1]}`)) {
      rmSync(config, { recursive: true, force: true });
      writeFileSync(config, 'no folder');
    }
    return answer;
  };
  const ran = await svc({ ...world, exchange }, ['webhooks', 'delete', ...ids, '--yes'], options);
  const fates = ['done', 'done', 'unsent'];
  expect(ran, ran.stderr).toMatchObject({ exitCode: 1, stdout: ids.map((id, at) => `${id}\t${fates[at]}\n`).join('') });
  expect(restIn(ran.stderr)).toEqual([Number(ids[2])]);
});

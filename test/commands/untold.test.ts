// What a command has done and cannot tell: the output is lost, or the filter over it fails.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import type { HttpRequest } from '../../src/context.ts';
import { lines } from '../http/command-lines.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { type Ran, svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';

type Case = { readonly argv: readonly string[]; readonly stdin?: string };

const isWrite = ({ method }: HttpRequest): boolean => method !== 'GET' && method !== 'HEAD';

async function play({ argv, stdin }: Case, more: readonly string[], isFull = false) {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const file = join(world.folder, 'rows.csv');
  writeFileSync(file, 'subject,description\nA,a\nB,b\n');
  let written = 0;
  const exchange: typeof world.exchange = async (request) => {
    const answer = await world.exchange(request);
    if (isWrite(request) && 'status' in answer && answer.status < 300) written++;
    return answer;
  };
  const full = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('write ENOSPC'), { code: 'ENOSPC' })),
  });
  const env = { SVC_API_KEY: 'key_acme', SVC_M2M_TOKEN: 'm2m_sandbox' };
  const typed = argv.map((word) => (word === 'FILE' ? file : word));
  const options = { env, stdin, ...(isFull && { stdout: full }) };
  return { ran: await svc({ ...world, exchange }, [...typed, ...more], options), written };
}

const errorOf = ({ stderr }: Ran) => JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error;

const untold: readonly (readonly [name: string, more: readonly string[], isFull: boolean])[] = [
  ['a full disk', ['--json'], true],
  ['a full disk behind a filter', ['--json', '--jq', '.'], true],
  ['a filter that fails', ['--json', '--jq', 'error("boom")'], false],
];

// Those take a login.
const played = Object.entries(lines)
  .filter(([, { argv }]) => !argv.some((word) => word.includes('webhooks')))
  .map((one, turn) => [...one, turn] as const);

test.each(played)('%s: what was written is told, whatever becomes of the output', async (_, line, turn) => {
  const whole = await play(line, []);
  for (const [name, more, isFull] of inTurn(untold, turn, untold.length)) {
    const { ran, written } = await play(line, more, isFull);
    expect({ name, written }).toEqual({ name, written: whole.written });
    // Nothing is printed where there is nothing to say.
    if (ran.exitCode === 0 && whole.ran.stdout === '') continue;
    expect({ name, exitCode: ran.exitCode }, ran.stderr).toEqual({ name, exitCode: 1 });
    const error = errorOf(ran);
    expect({ name, done: error.done }).toEqual({ name, done: written > 0 ? true : undefined });
    if (written === 0) continue;
    expect(error.message).toMatch(/Before that, .+ (?:was|were) /u);
    expect(error.done_ids).toEqual([...new Set(error.done_ids)]);
    expect(error.hint).toContain('What the command did stays done');
  }
});

test('the id of what was made is in the error', async () => {
  const { ran } = await play(lines.createTicket, ['--json'], true);
  const { ran: made } = await play(lines.createTicket, ['--json']);
  expect(errorOf(ran).done_ids).toEqual([JSON.parse(made.stdout).id]);
});

test.each(untold)('rows of a file: %s', async (_, more, isFull) => {
  const { ran, written } = await play({ argv: ['tickets', 'create', '--from', 'FILE', '--yes'] }, more, isFull);
  expect(written).toBe(2);
  expect(ran.exitCode).toBe(1);
  expect(errorOf(ran)).toMatchObject({ kind: 'failed', done: true });
  expect(ran.stderr).not.toContain('Look at the data');
});

test('a row that failed says more than a filter that fails over the report', async () => {
  const world = sandboxWorld({ rateLimit: 'off', seed: few });
  const file = join(world.folder, 'rows.csv');
  writeFileSync(file, 'id,priority\n7,1\n999999,2\n');
  const argv = ['tickets', 'update', '--from', file, '--jq', 'error("boom")'];
  const ran = await svc(world, argv, { env: { SVC_API_KEY: 'key_acme' } });
  expect(ran.exitCode, ran.stderr).toBe(8);
  expect(ran.stderr).toContain('boom');
});

test('a filter that is no jq sends nothing', async () => {
  const { ran, written } = await play(lines.createTicket, ['--jq', '.nope.[']);
  expect({ exitCode: ran.exitCode, written }).toEqual({ exitCode: 2, written: 0 });
});

test.each(['alias list', 'config list', 'config get output', 'auth list', 'auth token', 'mcp install print', 'whoami'])(
  '%s only reads, so nothing is said to be done',
  async (words) => {
    const { ran } = await play({ argv: words.split(' ') }, ['--json'], true);
    expect(ran.exitCode).toBe(1);
    expect(errorOf(ran)).toMatchObject({ kind: 'failed', hint: null });
    expect(errorOf(ran)).not.toHaveProperty('done');
  },
);

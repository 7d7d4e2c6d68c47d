// Rows that were sent by an earlier run, and cannot be sent as they read now.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type RunOptions, svc, type World } from '../svc.ts';

const fresh = () => sandboxWorld({ rateLimit: 'off', seed: few });
const text = 'subject,description,priority\nD,ddd,P1\nE,eee,P1\n';
/** With it the rows can be read. */
const readable = ['--map-value', 'priority:P1=4'];

async function create(world: World, name: string, rows: string, flags: readonly string[] = [], more: RunOptions = {}) {
  const file = join(world.folder, name);
  writeFileSync(file, rows);
  const ran = await svc(world, ['tickets', 'create', '--from', file, '--json', ...flags], more);
  return { ...ran, report: ran.stdout === '' ? undefined : JSON.parse(ran.stdout) };
}

/** A service in which the rows of `p.csv` are done. */
async function sent(): Promise<SandboxWorld> {
  const world = fresh();
  expect((await create(world, 'p.csv', text, readable)).exitCode).toBe(0);
  world.sent.length = 0;
  return world;
}
const writes = ({ sent: all }: SandboxWorld) => all.filter((one) => !one.startsWith('GET ')).length;

test('with --strict they are no bad rows: what is bad beside them holds the file back, and they stay out of the rejects', async () => {
  const world = await sent();
  const rejects = join(world.folder, 'rejects.csv');
  const flags = ['--strict', '--rejects', rejects];
  const beside = await create(world, 'q.csv', `${text}F,fff,x\nG,ggg,2\n`, flags);
  expect(beside).toMatchObject({ exitCode: 2, report: { done: 2, rejected: 1, unsent: 1 } });
  expect(beside.stderr).toContain('1 row of q.csv is bad');
  const kept = readFileSync(rejects, 'utf8').trimEnd().split('\n').slice(1);
  expect(kept).toEqual([expect.stringMatching(/^F,fff,x,/u)]);
  const dry = await create(world, 'q.csv', `${text}F,fff,x\nG,ggg,2\n`, ['--strict', '--dry-run']);
  expect(dry).toMatchObject({ exitCode: 2, report: { done: 2, rejected: 1 } });
  expect(writes(world)).toBe(0);
  const good = await create(world, 'r.csv', `${text}G,ggg,2\n`, ['--strict']);
  expect(good).toMatchObject({ exitCode: 0, report: { done: 3, rejected: 0 } });
  expect(writes(world)).toBe(1);
});

test('with --strict a file of which a part is done and the rest is bad ends as one of which nothing is', async () => {
  const world = await sent();
  expect((await create(world, 'q.csv', `${text}F,fff,x\n`, ['--strict'])).exitCode).toBe(2);
  expect((await create(world, 'n.csv', 'subject,priority\nF,x\n', ['--strict'])).exitCode).toBe(2);
});

test('with --strict rows that an earlier run has done are done, whatever is bad beside them', async () => {
  const world = fresh();
  const rows = 'subject,description,priority\nA,aaa,1\nB,bbb,x\nC,ccc,2\n';
  expect(await create(world, 's.csv', rows)).toMatchObject({ exitCode: 8, report: { done: 2, rejected: 1 } });
  world.sent.length = 0;
  const results = join(world.folder, 'results.csv');
  for (const flags of [['--results', results], ['--dry-run']]) {
    const again = await create(world, 's.csv', rows, ['--strict', ...flags]);
    expect(again, again.stderr).toMatchObject({
      exitCode: 2,
      report: { done: 2, resumed_rows: 2, rejected: 1, unsent: 0 },
    });
    expect(again.stderr).toContain('This file was done at');
    expect(again.stderr).toContain('Nothing was sent, because of --strict.');
  }
  expect(readFileSync(results, 'utf8').match(/,done,/gu)).toHaveLength(2);
  const more = await create(world, 's.csv', `${rows}D,ddd,2\n`, ['--strict']);
  expect(more).toMatchObject({ exitCode: 2, report: { done: 2, resumed_rows: 2, rejected: 1, unsent: 1 } });
  expect(writes(world)).toBe(0);
});

test.each(['--restart', '--again'])('%s, which cannot send them, says why they are wrong', async (flag) => {
  const world = await sent();
  const name = flag === '--again' ? 'other.csv' : 'p.csv';
  const ran = await create(world, name, text, [flag, '--yes']);
  expect(ran).toMatchObject({ exitCode: 2, report: { done: 0, rejected: 2 } });
  expect(ran.report.errors[0].error).toContain('priority');
  const beside = await create(world, name, `${text}G,ggg,2\n`, [flag, '--yes']);
  expect(beside).toMatchObject({ exitCode: 8, report: { done: 1, rejected: 2 } });
  // And nothing is forgotten that another file has done.
  if (flag === '--again')
    expect(await create(world, 'third.csv', text, readable)).toMatchObject({ report: { done: 2 } });
  expect(writes(world)).toBe(1);
});

test('a key that is refused is an error, and without one a word says that nobody looked', async () => {
  const world = await sent();
  const rejects = join(world.folder, 'rejects.csv');
  const wrong = await create(world, 'p.csv', text, ['--rejects', rejects], { env: { SVC_API_KEY: 'wrong' } });
  expect(wrong.exitCode).toBe(4);
  expect(existsSync(rejects)).toBe(false);
  for (const flags of [[], ['--dry-run']]) {
    const none = await create(world, 'p.csv', text, flags, { env: { SVC_API_KEY: undefined } });
    expect(none.exitCode).toBe(2);
    expect(none.stderr).toContain('svc did not look at what earlier runs have sent');
  }
});

test('of two finished runs no file is called one that goes on', async () => {
  const world = await sent();
  const more = `${text}F,fff,2\n`;
  expect((await create(world, 'b.csv', more, readable)).exitCode).toBe(0);
  for (const flags of [readable, []]) {
    const { stderr } = await create(world, 'b.csv', more, flags);
    expect(stderr).not.toMatch(/Resuming|settled/u);
    expect(stderr).toContain('This file was done at');
    expect(stderr).toContain('2 rows were sent before');
  }
});

test('one that may be done: what lets svc look for it is said, and not to repeat what cannot', async () => {
  const world = fresh();
  const lost: World = {
    ...world,
    async exchange(request) {
      const isLost = request.method === 'POST' && request.url.endsWith('/tickets');
      return isLost ? { lost: 'after-sending', reason: 'reset', detail: 'It broke.' } : world.exchange(request);
    },
  };
  const row = 'subject,priority\nLost,P1\n';
  expect((await create(lost, 'l.csv', row, [...readable, '--settle', '1'])).exitCode).toBe(9);
  const hintOf = async (flags: readonly string[]) => {
    const ran = await create(lost, 'l.csv', row, ['--settle', '1', ...flags]);
    expect(ran).toMatchObject({ exitCode: 9, report: { unknown: 1 } });
    return JSON.parse(ran.stderr.trimEnd().split('\n').at(-1) ?? '').error.hint;
  };
  expect(await hintOf([])).toContain('give the flags of then');
  expect(await hintOf(readable)).toContain('to look for them once more');
});

test('--again on a file that is done but for what was rejected says what it is for, and what --restart would do', async () => {
  const world = fresh();
  const rows = `${text}F,fff,x\n`.replaceAll('P1', '1');
  expect((await create(world, 'g.csv', rows)).exitCode).toBe(8);
  world.sent.length = 0;
  for (const flags of [['--again'], ['--again', '--dry-run'], ['--again', '--strict']]) {
    const { stderr } = await create(world, 'g.csv', rows, flags);
    expect(stderr).toContain('--again is for rows that were sent from another file');
    expect(stderr).toContain('To send it all again, what is done too, add --restart.');
  }
  expect((await create(world, 'g.csv', rows)).stderr).not.toContain('--again');
  expect(writes(world)).toBe(0);
});

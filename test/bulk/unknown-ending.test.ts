// What the last line of standard error says of rows whose outcome is not known: true of the command, and of the look.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lateWorld, ownFailure, unsettledEndings } from '../http/late-service.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc, type World } from '../svc.ts';

const timeOut = unsettledEndings['a time-out'] ?? ownFailure;

async function from(world: World, words: string, text: string, flags: readonly string[] = []) {
  const file = join(world.folder, 'rows.csv');
  writeFileSync(file, text);
  const ran = await svc(world, [...words.split(' '), '--from', file, '--json', '--yes', ...flags]);
  const last = ran.stderr.trimEnd().split('\n').at(-1) ?? '';
  return { exitCode: ran.exitCode, stderr: ran.stderr, report: JSON.parse(ran.stdout), ...JSON.parse(last || '{}') };
}

const lost = (end: string, method = 'POST') =>
  lateWorld(sandboxWorld({ rateLimit: 'off' }), {
    isMeant: (request) => request.method === method && request.url.endsWith(end),
    ending: timeOut,
    times: 100,
  });

test('a ticket that is looked for: for how long, and that the same command looks again', async () => {
  const ran = await from(lost('/tickets'), 'tickets create', 'subject\nLost\n', ['--settle', '6']);
  expect(ran.exitCode).toBe(9);
  expect(ran.report.errors[0].error).toContain('svc looked for 6 s and did not find it');
  expect(ran.error.looked_for_seconds).toBeGreaterThanOrEqual(6);
  expect(ran.error.looked_for_seconds).toBeLessThan(8);
  expect(ran.error.hint).toContain('Run the same command again to look for them once more');
});

test('the same command again says that the file was done but for that row, and for how long it looked', {
  tags: ['long'],
}, async () => {
  const world = lost('/tickets');
  await from(world, 'tickets create', 'subject\nLost\n', ['--settle', '1']);
  const slow: World = {
    ...world,
    async exchange(request) {
      await world.clock.sleep(300);
      return world.exchange(request);
    },
  };
  const ran = await from(slow, 'tickets create', 'subject\nLost\n', ['--settle', '1']);
  expect(ran.exitCode).toBe(9);
  expect(ran.error.looked_for_seconds).toBeGreaterThan(0);
  expect(ran.stderr).toMatch(
    /done at \S+ \S+, but for 1 row that may or may not have been done\. Nothing is sent now\./u,
  );
  expect(ran.stderr).not.toContain('--restart');
  // A dry run speaks of no row that would be rejected.
  const { stderr: dry } = await svc(world, [
    'tickets',
    'create',
    '--from',
    join(world.folder, 'rows.csv'),
    '--dry-run',
  ]);
  expect(dry).toContain('1 row may or may not have been done by an earlier run (exit 9).');
  expect(dry).not.toContain('rejected');
  // And a copy of the file is told nothing else.
  const copy = join(world.folder, 'copy.csv');
  writeFileSync(copy, 'subject\nLost\n');
  const { stderr } = await svc(world, ['tickets', 'create', '--from', copy]);
  expect(stderr).toMatch(
    /1 row was sent before, at \S+ \S+ from rows\.csv, and was not sent again\. Whether all was done is not known of 1\.\n/u,
  );
});

test('with a flag that sends rows again the advice leaves it out', async () => {
  const world = lost('/tickets');
  for (const [flag, text] of [
    ['--restart', 'subject\nLost\n'],
    ['--retry-unknown', 'subject\nLost\n'],
  ] as const) {
    const { exitCode, error } = await from(world, 'tickets create', text, ['--settle', '1', flag]);
    expect(exitCode).toBe(9);
    expect(error.hint).toContain(`Run the command again without ${flag} to look for them once more`);
  }
  const capped = await svc(sandboxWorld(), ['tickets', 'create', '--from', '-', '--restart', '--max-sends', '1'], {
    stdin: 'subject\nA\nB\n',
  });
  expect(capped.stderr).toContain('Run the command again without --restart to send more.');
});

test('a note cannot be looked for: says where to look, and what sends it again', async () => {
  const world = lost('/tickets/8/notes');
  for (const _ of ['first', 'again']) {
    const ran = await from(world, 'tickets note', 'id,body\n8,Lost\n9,Here\n');
    expect(ran).toMatchObject({ exitCode: 9, error: { looked_for_seconds: 0 } });
    expect(ran.error.hint).not.toContain('look for them once more');
    expect(ran.error.hint).toContain('The API shows no notes: look at the ticket in the product.');
    expect(ran.error.hint).toContain('With --retry-unknown it sends every one of them again.');
  }
  expect(world.left()).toBe(1);
});

test('a change that may be repeated is sent again by the same command, as the hint says', async () => {
  const world = lost('/tickets/8', 'PATCH');
  const ran = await from(world, 'tickets update', 'id,priority\n8,3\n', ['--settle', '1']);
  expect(ran.exitCode).toBe(9);
  expect(ran.error.hint).toContain('Run the same command again: it sends them once more');
  const before = world.left();
  await from(world, 'tickets update', 'id,priority\n8,3\n', ['--settle', '1']);
  expect(world.left()).toBeGreaterThan(before);
});

test('a service that fails at one row after another, and then shows that all are there: exit 0, and the run is over', async () => {
  const codes = new Set<number>();
  for (const fails of [4, 22, 23, 24, 25, 200]) {
    const world = sandboxWorld({ rateLimit: 'off' });
    let [posts, gets] = [0, 0];
    const exchange: World['exchange'] = async (request) => {
      if (request.method === 'GET') return posts > 0 && ++gets <= fails ? ownFailure : world.exchange(request);
      posts++;
      await world.exchange(request);
      return timeOut;
    };
    const flags = ['--settle', '1', '--max-wait', '1', '--concurrency', '1'];
    const ran = await from({ ...world, exchange }, 'tickets create', 'subject\nA\nB\nC\n', flags);
    const isDone = ran.report.done === 3 && ran.report.unknown === 0;
    expect([fails, ran.exitCode === 0, ran.stderr.includes('fails at one row')]).toEqual([fails, isDone, !isDone]);
    codes.add(ran.exitCode);
  }
  expect([...codes].sort()).toEqual([0, 9]);
});

// A run with --again that ends early frees no row that it has not sent, and --again goes on with it.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runOrKill } from '../bulk/killing.ts';
import { refusals } from '../refusing.ts';
import { svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';
import { atDesk, desk, writesOf } from './drafting.ts';

const event = (name: string) => `order_create,${name},${name.toLowerCase()}@x.test,r-${name}\n`;

const commands = [
  { words: ['tickets', 'reply'], header: 'id,body\n', rows: ['8,One\n', '9,Two\n', '12,Three\n'] },
  {
    words: ['events', 'send'],
    header: 'trigger,contact.name,contact.email,external_ref\n',
    rows: ['Ann', 'Bob', 'Cy'].map(event),
  },
] as const;

/** Three rows in a file, in a copy of it, in another order, and two of them alone. */
function filesOf({ words, header, rows }: (typeof commands)[number]) {
  const at = desk();
  const [first, second, third] = rows;
  const texts = {
    a: [first, second, third],
    copy: [first, second, third],
    other: [third, second, first],
    two: [third, second],
  };
  const line = (name: keyof typeof texts) => [
    ...words,
    '--from',
    join(at.world.folder, `${name}.csv`),
    '--yes',
    '--json',
  ];
  for (const [name, text] of Object.entries(texts))
    writeFileSync(join(at.world.folder, `${name}.csv`), header + text.join(''));
  return { ...at, line };
}

type Names = Parameters<ReturnType<typeof filesOf>['line']>[0];

const forms = commands.flatMap((one, turn) =>
  inTurn(['copy', 'other'] as const, turn, 2).map((again) => [one.words.join(' '), again, one] as const),
);

test.each(forms)(
  '%s, %s: what was sent goes once more with --again alone, and once',
  { tags: ['long'] },
  async (_, again, one) => {
    const { world, run, ok, line } = filesOf(one);
    await ok(line('a'));
    for (const sent of [4, 5, 6]) {
      const stopped = await run([...line(again), '--again', '--max-sends', '1']);
      expect(writesOf(world)).toHaveLength(sent);
      expect(stopped.stderr).not.toContain('without --again');
      for (const name of ['a', again, 'two', 'a'] as Names[]) {
        expect(JSON.parse((await ok([...line(name), '--dry-run'])).stdout)).toMatchObject({ would_send: 0 });
        const plain = await ok(line(name));
        expect(plain.stderr).not.toContain('rejected');
      }
      expect(writesOf(world)).toHaveLength(sent);
    }
    expect(new Set(world.sent).size).toBeLessThan(world.sent.length);
    await ok([...line(again), '--again']);
    expect(writesOf(world)).toHaveLength(6);
  },
);

test.each(forms)('%s, %s: of drafts that a person rejected the rest stays rejected', async (_, again, one) => {
  const { world, run, ok, json, line } = filesOf(one);
  await ok([...line('a'), '--draft']);
  await ok('drafts reject 1 2 3');
  for (const left of [2, 1, 0]) {
    await run([...line(again), '--again', '--draft', '--max-sends', '1']);
    for (const name of ['a', again] as Names[]) {
      const plain = await run(line(name));
      expect(plain.exitCode).toBe(left === 0 ? 0 : 8);
      expect(JSON.parse(plain.stdout)).toMatchObject({ rejected: left, drafted: 3 - left });
    }
  }
  await ok([...line(again), '--again', '--draft']);
  expect(await json('drafts list')).toHaveLength(3);
  expect(writesOf(world)).toEqual([]);
});

test.each(forms)('%s, %s: a run that Ctrl-C or a kill ended has freed nothing either', async (_, again, one) => {
  // Of events the journal says ahead which ones will go: without its last lines nobody knows whether they went.
  for (const isKilled of one === commands[0] ? [false, true] : [false]) {
    const { world, ok, line } = filesOf(one);
    await ok(line('a'));
    const stop = new AbortController();
    const exchange: typeof world.exchange = async (request) => {
      const answer = await world.exchange(request);
      if (request.method === 'POST') stop.abort('SIGINT');
      return answer;
    };
    const argv = [...line(again), '--again', '--concurrency', '1'];
    expect((await svc({ ...world, exchange }, argv, { signal: stop.signal })).exitCode).toBe(130);
    expect(writesOf(world)).toHaveLength(4);
    // Killed, it has not said that the others come back.
    if (isKilled) cut(world, (text) => text.startsWith('{"back"'));
    for (const name of ['a', again] as Names[]) await ok(line(name));
    expect(writesOf(world)).toHaveLength(4);
    await ok([...line(again), '--again']);
    expect(writesOf(world)).toHaveLength(6);
  }
});

test.each(forms)(
  '%s, %s: what was sent by its draft goes with --again as what was sent at once',
  async (_, again, one) => {
    const { world, run, ok, approve, line } = filesOf(one);
    await ok([...line('a'), '--draft']);
    for (const id of [1, 2]) expect((await approve(id)).exitCode).toBe(0);
    const plain = await ok(line(again));
    expect(plain.stderr).toMatch(/became (?:a draft|drafts) .+ svc drafts list --all/u);
    expect((await ok([...line('a'), '--again'])).stdout).toContain('"drafted": 3');
    expect(writesOf(world)).toHaveLength(2);
    for (const sent of [3, 4, 4]) {
      await run([...line(again), '--again', '--max-sends', '1']);
      await ok(line('a'));
      expect(writesOf(world)).toHaveLength(sent);
    }
  },
);

test('a copy that has another name by then goes on with what --again has left, and sends nothing a third time', async () => {
  for (const one of commands) {
    const { world, run, ok, line } = filesOf(one);
    await ok(line('a'));
    await run([...line('copy'), '--again', '--max-sends', '1']);
    const [was, is] = ['copy', 'later'].map((name) => join(world.folder, `${name}.csv`)) as [string, string];
    renameSync(was, is);
    const later = line('copy').map((word) => (word === was ? is : word));
    await run([...later, '--again', '--max-sends', '1']);
    for (const _ of [1, 2]) await ok([...later, '--again']);
    await ok([...line('a'), '--again']);
    expect(writesOf(world)).toHaveLength(6);
  }
});

test('nothing is sent beside the draft of a row that goes once more, whose run was killed before it said so', async () => {
  const { world, ok, json, line } = filesOf(commands[0]);
  await ok(line('a'));
  // Another form of the rows, which the journal calls by other names.
  writeFileSync(join(world.folder, 'other.csv'), 'id,text\n9,Two\n8,One\n');
  await ok([...line('other'), '--map', 'text=body', '--again', '--draft', '--concurrency', '1']);
  cut(world, (text) => text.startsWith('{"done"') && text.includes('"drafted":2'));
  writeFileSync(join(world.folder, 'two.csv'), 'id,body\n8,One\n');
  for (const argv of [line('two'), [...line('two'), '--again']]) {
    expect(JSON.parse((await ok(argv)).stdout)).toMatchObject({ drafted: 1 });
    expect(writesOf(world)).toHaveLength(3);
  }
  expect(await json('drafts list')).toHaveLength(2);
});

test.each(commands.map((one) => [one.words.join(' '), one] as const))(
  '%s: a --restart that ends early frees no row for other files, and its own goes on without it',
  { tags: ['long'] },
  async (_, one) => {
    const { world, run, ok, line } = filesOf(one);
    await ok(line('a'));
    await run([...line('other'), '--restart', '--max-sends', '1']);
    expect(writesOf(world)).toHaveLength(4);
    for (const name of ['a', 'copy', 'two'] as const)
      for (const flags of [['--dry-run'], []]) await ok([...line(name), ...flags]);
    expect(writesOf(world)).toHaveLength(4);
    const left = await ok([...line('other'), '--dry-run']);
    expect(JSON.parse(left.stdout)).toMatchObject({ would_send: 2 });
    for (const name of ['other', 'other', 'a'] as const) await ok(line(name));
    expect(writesOf(world)).toHaveLength(6);
  },
);

test('a --restart that is killed at any request frees no row for other files, and is gone on with', {
  tags: ['long'],
}, async () => {
  const whole = filesOf(commands[0]);
  await whole.ok(whole.line('a'));
  const before = whole.world.sent.length;
  await whole.ok([...whole.line('other'), '--restart', '--concurrency', '1']);
  for (let at = 0; at < whole.world.sent.length - before; at++) {
    for (const heard of [false, true]) {
      const { world, ok, line } = filesOf(commands[0]);
      await ok(line('a'));
      const argv = [...line('other'), '--restart', '--concurrency', '1'];
      const { next } = await runOrKill(world, argv, { at, heard });
      const sent = writesOf(world).length;
      const killed = atDesk(next);
      const then = (name: Names) => line(name).map((part) => part.replace(world.folder, next.folder));
      const fast = ['--settle', '1'];
      for (const name of ['a', 'copy', 'two'] as const) await killed.run([...then(name), ...fast]);
      expect(writesOf(world)).toHaveLength(sent);
      await killed.run([...then('other'), ...fast]);
      expect((await killed.run([...then('other'), '--retry-unknown', ...fast])).exitCode).toBe(0);
      // Where nothing was begun yet, there is nothing to go on with.
      expect(sent > 3 ? [6] : [3, 6]).toContain(writesOf(world).length);
    }
  }
});

test('what the service refuses to take with --restart was sent before for every other file', async () => {
  const { world, run, ok, line } = filesOf(commands[0]);
  await ok(line('a'));
  const exchange: typeof world.exchange = async (request) =>
    request.method === 'POST' ? (refusals['HTTP 422'] ?? world.exchange(request)) : world.exchange(request);
  expect((await svc({ ...world, exchange }, [...line('other'), '--restart'])).exitCode).toBe(8);
  const sent = writesOf(world).length;
  for (const name of ['a', 'copy', 'two'] as const) await ok(line(name));
  expect(JSON.parse((await run(line('other'))).stdout)).toMatchObject({ done: 0, rejected: 3 });
  expect(writesOf(world)).toHaveLength(sent);
});

test('what a killed --again had sent, and a run of another file found, --again does not send a third time', async () => {
  const { world, run, ok, line } = filesOf(commands[0]);
  await ok(line('a'));
  let sent = 0;
  const exchange: typeof world.exchange = async (request) => {
    if (request.method === 'POST') sent++;
    const answer = await world.exchange(request);
    return sent > 0 ? { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' } : answer;
  };
  const argv = [...line('other'), '--again', '--max-sends', '1', '--settle', '1'];
  expect((await svc({ ...world, exchange }, argv)).exitCode).toBe(9);
  expect(writesOf(world)).toHaveLength(4);
  await ok(line('two'));
  await run([...line('other'), '--again', '--max-sends', '1']);
  await ok([...line('other'), '--again']);
  expect(writesOf(world)).toHaveLength(6);
});

test('what the service refuses to take once more is what it was', async () => {
  for (const again of ['copy', 'other'] as const) {
    const { world, run, ok, line } = filesOf(commands[0]);
    await ok(line('a'));
    await world.control('POST', 'faults', {
      method: 'POST',
      path: '/tickets/',
      action: 'status',
      status: 422,
      times: 9,
    });
    expect((await run([...line(again), '--again'])).exitCode).toBe(8);
    await world.control('DELETE', 'faults');
    const sent = writesOf(world).length;
    for (const name of ['a', again, 'two'] as Names[]) await ok(line(name));
    expect(writesOf(world)).toHaveLength(sent);
  }
});

test('where no draft could be kept of a row that goes once more, it is what it was', async () => {
  for (const again of ['copy', 'other'] as const) {
    const { world, run, ok, line } = filesOf(commands[0]);
    await ok(line('a'));
    const drafts = join(world.folder, 'state/drafts');
    mkdirSync(join(drafts, 'drafts.jsonl'), { recursive: true });
    expect((await run([...line(again), '--again', '--draft'])).exitCode).not.toBe(0);
    rmSync(drafts, { recursive: true });
    for (const name of ['a', again, 'two'] as Names[]) await ok(line(name));
    expect(writesOf(world)).toHaveLength(3);
    await ok([...line(again), '--again']);
    expect(writesOf(world)).toHaveLength(6);
  }
});

/** Takes lines out of all journals. */
function cut(world: { readonly folder: string }, isLost: (text: string) => boolean): void {
  const folder = join(world.folder, 'state/bulk');
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.jsonl'))) {
    const kept = readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter((text) => !isLost(text))
      .join('\n');
    // Its mark says how long it is at least.
    writeFileSync(join(folder, name), kept.replace(/\d{12}/u, '0'.padStart(12, '0')));
  }
}

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lateWorld, ownFailure, unsettledEndings } from '../http/late-service.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { svc, type World } from '../svc.ts';

const fresh = () => sandboxWorld({ rateLimit: 'off', seed: few });
const timeOut = unsettledEndings['a time-out'] ?? ownFailure;

const put = (world: World, name: string, text: string): string => {
  const path = join(world.folder, name);
  writeFileSync(path, text);
  return path;
};
const tickets = ['tickets', 'create', '--from'] as const;
const reportOf = (stdout: string) => JSON.parse(stdout === '' ? '{}' : stdout);
const isCreation = ({ method, url }: { method: string; url: string }) => method === 'POST' && url.endsWith('/tickets');
const subjects = async (world: ReturnType<typeof fresh>) => {
  const state = (await world.control('GET', 'state')) as { tickets: { subject: string; source: string }[] };
  return state.tickets.filter(({ subject }) => /^Row/u.test(subject)).map(({ subject }) => subject);
};

describe('the same command again', () => {
  test('after a run with a rejected row says that it is still to be corrected, and advises no --restart', async () => {
    const world = fresh();
    const file = put(world, 't.csv', 'subject,priority\nRow 1,1\nRow 2,9\n');
    await svc(world, [...tickets, file]);
    const again = await svc(world, [...tickets, file]);
    expect(again.exitCode).toBe(8);
    expect(again.stderr).toMatch(
      /was done at \S+ \S+, except for 1 row that was rejected\. Nothing is sent now\. Correct it and run it again/u,
    );
    expect(again.stderr).not.toContain('--restart');
    expect(await subjects(world)).toEqual(['Row 1']);
  });

  test('sends nothing after a finished run, and says when that was', async () => {
    const world = fresh();
    const file = put(world, 't.csv', 'subject\nRow 1\nRow 2\n');
    await svc(world, [...tickets, file]);
    const again = await svc(world, [...tickets, file, '--json']);
    expect(again.exitCode).toBe(0);
    expect(again.stderr).toMatch(
      /This file was done at \S+ \S+: nothing is sent\. To send it all again, add --restart\./u,
    );
    expect(reportOf(again.stdout)).toMatchObject({ done: 2, resumed_rows: 2 });
    const unasked = await svc(world, [...tickets, file, '--restart']);
    expect(unasked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Refusing to send 2 rows without') });
    expect((await svc(world, [...tickets, file, '--restart', '--yes'])).exitCode).toBe(0);
    expect(await subjects(world)).toEqual(['Row 1', 'Row 2', 'Row 1', 'Row 2']);
  });

  test('after an interrupted --restart is named without it, and sends no row a third time', async () => {
    const world = fresh();
    const file = put(world, 't.csv', `subject\n${[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `Row ${n}\n`).join('')}`);
    await svc(world, [...tickets, file]);
    const stop = new AbortController();
    let left = 0;
    const exchange: typeof world.exchange = (request) => {
      if (isCreation(request) && ++left === 3) stop.abort('SIGINT');
      return world.exchange(request);
    };
    const argv = [...tickets, file, '--restart', '--yes', '--concurrency', '1'];
    const stopped = await svc({ ...world, exchange }, argv, { signal: stop.signal });
    expect(stopped.exitCode).toBe(130);
    expect(stopped.stderr).toContain('Run the command again without --restart: it goes on where this run stopped');
    expect((await svc(world, [...tickets, file])).exitCode).toBe(0);
    expect(await subjects(world)).toHaveLength(16);
  });

  test('with --retry-unknown calls no row new that was in the file', async () => {
    const world = fresh();
    const file = put(world, 'n.csv', 'ticket,body\n8,One\n9,Two\n');
    const exchange: typeof world.exchange = async (request) => {
      const answer = await world.exchange(request);
      return request.url.endsWith('/tickets/8/notes') ? timeOut : answer;
    };
    const argv = ['tickets', 'note', '--from', file];
    expect((await svc({ ...world, exchange }, argv)).exitCode).toBe(9);
    const retried = await svc(world, [...argv, '--retry-unknown', '--yes']);
    expect(retried.exitCode).toBe(0);
    expect(retried.stderr).toMatch(/This file was done at \S+ \S+, but for 1 row\./u);
  });

  test('with a better way to read it calls a row that was rejected then no new one', async () => {
    const world = fresh();
    const file = put(world, 't.csv', 'subject,priority\nRow 1,1\nRow 2,P9\n');
    expect((await svc(world, [...tickets, file])).exitCode).toBe(8);
    const ran = await svc(world, [...tickets, file, '--map-value', 'priority:P9=0']);
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toMatch(/This file was done at \S+ \S+, but for 1 row that was rejected then\.\n/u);
    expect(await subjects(world)).toEqual(['Row 1', 'Row 2']);
  });

  test('begins again where twice is once', async () => {
    const world = fresh();
    const file = put(world, 'ids', '7\n8\n');
    await svc(world, ['tickets', 'close', '--from', file]);
    await svc(world, ['tickets', 'close', '--from', file]);
    expect(world.sent.filter((line) => line.startsWith('PATCH'))).toHaveLength(4);
  });

  test('sends what is new in an edited file, counts rows that are alike, and knows the order of columns for nothing', async () => {
    const world = fresh();
    const file = put(world, 't.csv', 'subject,priority\nRow 1,1\nRow 1,1\n');
    await svc(world, [...tickets, file]);
    put(world, 't.csv', 'note,priority,subject\nx,1,Row 1\ny,1,Row 1\nz,1,Row 1\n,2,Row 2\n');
    const ran = await svc(world, [...tickets, file, '--json']);
    expect(ran.stderr).toContain('2 rows that were not in it then');
    expect(reportOf(ran.stdout)).toMatchObject({ rows: 4, done: 4, resumed_rows: 2 });
    expect((await subjects(world)).sort()).toEqual(['Row 1', 'Row 1', 'Row 1', 'Row 2']);
  });

  test('stops where rows that were done are gone, and names them; --yes goes on', async () => {
    const world = fresh();
    const file = put(world, 't.csv', 'subject\nRow 1\nRow 2\n');
    await svc(world, [...tickets, file]);
    put(world, 't.csv', 'subject\nRow 1\nRow two\n');
    const ran = await svc(world, [...tickets, file]);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toMatch(/1 row of t\.csv that was sent is no longer in it, or changed: line 3 \(id \d+\)\./u);
    expect(await subjects(world)).toEqual(['Row 1', 'Row 2']);
    expect((await svc(world, [...tickets, file, '--yes'])).exitCode).toBe(0);
    expect(await subjects(world)).toEqual(['Row 1', 'Row 2', 'Row two']);
  });

  test('takes a file with other rows for another file, once the first is finished', async () => {
    const world = fresh();
    const file = put(world, 't.csv', 'subject\nRow 1\n');
    await svc(world, [...tickets, file]);
    put(world, 't.csv', 'subject\nRow 2\n');
    expect((await svc(world, [...tickets, file])).exitCode).toBe(0);
    put(world, 't.csv', 'subject\nRow 1\n');
    expect((await svc(world, [...tickets, file])).stderr).toContain('nothing is sent');
  });

  test('knows the rows of standard input too', async () => {
    const world = fresh();
    const stdin = 'subject\nRow 1\n';
    await svc(world, [...tickets, '-'], { stdin });
    expect((await svc(world, [...tickets, '-'], { stdin })).stderr).toContain('This file was done at');
    expect(await subjects(world)).toEqual(['Row 1']);
  });
});

describe('an unfinished run', () => {
  const capped = async () => {
    const world = fresh();
    const file = put(world, 't.csv', 'subject\nRow 1\nRow 2\n');
    expect((await svc(world, [...tickets, file, '--max-sends', '1'])).exitCode).toBe(8);
    return { world, file };
  };

  test('is not gone on with by other flags, for then each row would be sent again', async () => {
    const { world, file } = await capped();
    const ran = await svc(world, [...tickets, file, '--description', 'New', '--yes']);
    expect(ran).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/is not finished.*other flags.*--restart/su),
    });
    expect(await subjects(world)).toEqual(['Row 1']);
    expect((await svc(world, [...tickets, file, '--description', 'New', '--restart'])).exitCode).toBe(0);
  });

  test('is no business of another account, which has its own', async () => {
    const { world, file } = await capped();
    const other = await svc(world, [...tickets, file, '--json'], { env: { SVC_API_KEY: 'key_globex' } });
    expect(reportOf(other.stdout)).toMatchObject({ done: 2, resumed_rows: 0 });
    const own = await svc(world, [...tickets, file, '--json']);
    expect(reportOf(own.stdout)).toMatchObject({ done: 2, resumed_rows: 1 });
  });

  test('whose journal is damaged is refused and left as it is', async () => {
    const { world, file } = await capped();
    const folder = join(world.folder, 'state', 'bulk');
    const path = join(folder, readdirSync(folder).find((name) => name.endsWith('.jsonl')) ?? '');
    const text = readFileSync(path, 'utf8').replace('"sent"', '"s\u0000nt"');
    writeFileSync(path, text);
    const ran = await svc(world, [...tickets, file]);
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is damaged in line') });
    expect(readFileSync(path, 'utf8')).toBe(text);
    // Rows of another file may have been sent by it too; those of another command were not.
    const other = put(world, 'u.csv', 'subject\nRow 3\n');
    expect((await svc(world, [...tickets, other])).exitCode).toBe(1);
    const notes = put(world, 'n.csv', 'id,body\n7,One\n');
    expect((await svc(world, ['tickets', 'note', '--from', notes])).exitCode).toBe(0);
  });

  test('of two at once the second refuses', async () => {
    const world = fresh();
    const file = put(world, 't.csv', 'subject\nRow 1\n');
    let second: Promise<{ exitCode: number; stderr: string }> | undefined;
    const both: World = {
      ...world,
      async exchange(request) {
        if (isCreation(request)) second ??= svc(world, [...tickets, file]);
        await second;
        return world.exchange(request);
      },
    };
    expect((await svc(both, [...tickets, file])).exitCode).toBe(0);
    expect(await second).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Another svc is sending rows of this file'),
    });
    expect(await subjects(world)).toEqual(['Row 1']);
  });
});

describe('a row whose answer is lost', () => {
  test.each([
    ['arrives late', 3_000, 0, 2],
    ['never arrives', undefined, 9, 1],
  ])('and that %s is found or unknown, never sent again', async (_, afterMs, exitCode, made) => {
    const world = fresh();
    const file = put(world, 't.csv', 'subject\nRow 1\nRow 2\n');
    const late = lateWorld(world, { isMeant: isCreation, ending: timeOut, afterMs });
    const ran = await svc(late, [...tickets, file, '--json', '--concurrency', '1']);
    expect(ran.exitCode).toBe(exitCode);
    expect(await subjects(world)).toHaveLength(made);
    const { done, unknown, rows } = reportOf(ran.stdout);
    expect([done, unknown, rows]).toEqual([made, 2 - made, 2]);
  });

  test('and that arrives while the other rows go out is found at the end', async () => {
    const world = fresh();
    const rows = Array.from({ length: 30 }, (_, i) => `Row ${i}`).join('\n');
    const file = put(world, 't.csv', `subject\n${rows}\n`);
    const late = lateWorld(world, { isMeant: isCreation, ending: timeOut, afterMs: 31_000 });
    // Each of the others takes a while.
    const slow: World = {
      ...late,
      async exchange(request) {
        await world.clock.sleep(200);
        return late.exchange(request);
      },
    };
    const ran = await svc(slow, [...tickets, file, '--json', '--concurrency', '1']);
    expect(reportOf(ran.stdout)).toMatchObject({ done: 30, unknown: 0 });
    expect(ran.exitCode).toBe(0);
    expect(await subjects(world)).toHaveLength(30);
  });

  test('is looked for by the next run, and sent again by --retry-unknown alone', async () => {
    const world = fresh();
    const file = put(world, 't.csv', 'subject\nRow 1\n');
    const late = lateWorld(world, { isMeant: isCreation, ending: timeOut });
    expect((await svc(late, [...tickets, file])).exitCode).toBe(9);
    const again = await svc(world, [...tickets, file, '--json']);
    expect(again.exitCode).toBe(9);
    expect(await subjects(world)).toEqual([]);
    const retried = await svc(world, [...tickets, file, '--json', '--retry-unknown']);
    expect(retried.exitCode, retried.stderr).toBe(0);
    expect(await subjects(world)).toEqual(['Row 1']);
    expect((await svc(world, [...tickets, file, '--retry-unknown'])).exitCode).toBe(0);
    expect(await subjects(world)).toEqual(['Row 1']);
  });

  test('is not sent again by --retry-unknown where the service cannot be looked at', async () => {
    const world = fresh();
    const file = put(world, 't.csv', 'subject\nRow 1\n');
    const late = lateWorld(world, { isMeant: isCreation, ending: timeOut, afterMs: 300_000 });
    expect((await svc(late, [...tickets, file])).exitCode).toBe(9);
    await late.settle();
    const exchange: typeof world.exchange = (request) =>
      request.method === 'GET' && request.url.includes('/tickets')
        ? Promise.resolve({ status: 500, headers: {}, body: '' })
        : world.exchange(request);
    const blind = await svc({ ...world, exchange }, [...tickets, file, '--json', '--retry-unknown']);
    expect(blind.exitCode, blind.stderr).toBe(9);
    expect(await subjects(world)).toEqual(['Row 1']);
    expect((await svc(world, [...tickets, file, '--retry-unknown'])).exitCode).toBe(0);
    expect(await subjects(world)).toEqual(['Row 1']);
  });

  test('and that arrived after the run is found by the next one, and by --retry-unknown too', async () => {
    for (const flags of [[], ['--retry-unknown']]) {
      const world = fresh();
      const file = put(world, 't.csv', 'subject\nRow 1\n');
      const late = lateWorld(world, { isMeant: isCreation, ending: timeOut, afterMs: 300_000 });
      expect((await svc(late, [...tickets, file])).exitCode).toBe(9);
      await late.settle();
      const ran = await svc(world, [...tickets, file, '--json', ...flags]);
      expect(reportOf(ran.stdout)).toMatchObject({ done: 1, unknown: 0 });
      expect(await subjects(world)).toEqual(['Row 1']);
    }
  });

  test('and that was not waited for, since Ctrl-C came, is waited for by the next run', async () => {
    const world = fresh();
    const file = put(world, 't.csv', 'subject\nRow 1\n');
    const late = lateWorld(world, { isMeant: isCreation, ending: timeOut, afterMs: 20_000 });
    const stoppedAt = async (isIt: typeof isCreation, argv: readonly string[] = []) => {
      const stop = new AbortController();
      const exchange: World['exchange'] = async (request) => {
        const answer = await late.exchange(request);
        if (isIt(request)) stop.abort('SIGINT');
        return answer;
      };
      return svc({ ...late, exchange }, [...tickets, file, '--json', ...argv], { signal: stop.signal });
    };
    const isLook = ({ method, url }: { method: string; url: string }) => method === 'GET' && url.includes('/tickets');
    for (const stopped of [
      await stoppedAt(isCreation),
      await stoppedAt(isLook),
      await stoppedAt(isLook, ['--retry-unknown']),
    ]) {
      expect(stopped.exitCode, stopped.stderr).toBe(9);
      expect(reportOf(stopped.stdout)).toMatchObject({ done: 0, unknown: 1 });
    }
    const ran = await svc(late, [...tickets, file, '--json']);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(reportOf(ran.stdout)).toMatchObject({ done: 1, unknown: 0 });
    expect(await subjects(world)).toEqual(['Row 1']);
  });

  test('is never taken for one that looks the same', async () => {
    const world = fresh();
    const file = put(world, 't.csv', 'subject\nRow 1\nRow  1\nRow 1 \n');
    const late = lateWorld(world, { isMeant: isCreation, ending: timeOut, afterMs: 40_000 });
    const ran = await svc(late, [...tickets, file, '--json']);
    await late.settle();
    const { done, unknown } = reportOf(ran.stdout);
    expect(done + unknown).toBe(3);
    const held = (await subjects(world)).length;
    expect(held).toBeGreaterThanOrEqual(done);
    expect(held).toBeLessThanOrEqual(3);
  });

  test('of a note or an event is unknown at once, and never sent again', async () => {
    const world = fresh();
    const file = put(world, 'n.csv', 'id,body\n7,One\n8,Two\n');
    const isNote = ({ url, method }: { url: string; method: string }) => method === 'POST' && url.endsWith('/notes');
    const late = lateWorld(world, { isMeant: isNote, ending: timeOut, afterMs: 0 });
    const ran = await svc(late, ['tickets', 'note', '--from', file, '--json']);
    await late.settle();
    expect(ran.exitCode).toBe(9);
    expect(reportOf(ran.stdout)).toMatchObject({ done: 1, unknown: 1 });
    expect((await svc(world, ['tickets', 'note', '--from', file])).exitCode).toBe(9);
    expect(world.sent.filter((line) => line.endsWith('/notes'))).toHaveLength(2);
  });
});

test('behind a row that may still take effect no row for that record is sent, for it would be overwritten', async () => {
  const world = fresh();
  const file = put(world, 'c.csv', 'contact_id,company\n7,First\n8,Other\n7,Second\n');
  const isFirst = ({ url, method }: { url: string; method: string }) => method === 'PATCH' && url.endsWith('/7');
  const late = lateWorld(world, {
    isMeant: isFirst,
    ending: timeOut,
    afterMs: 60_000,
    times: Number.POSITIVE_INFINITY,
  });
  const argv = ['contacts', 'update', '--from', file, '--json'];
  const ran = await svc(late, [...argv, '--max-wait', '1', '--concurrency', '1']);
  expect(ran.exitCode).toBe(9);
  expect(reportOf(ran.stdout)).toMatchObject({ done: 1, unknown: 1, unsent: 1 });
  expect(reportOf(ran.stdout).errors).toContainEqual({
    line: 4,
    error: 'not sent: it is not known yet whether an earlier row for the same record was done',
  });
  await late.settle();
  // Once it has settled, the same command sends all of them, in their order.
  expect((await svc(world, argv)).exitCode).toBe(0);
  const { contacts } = (await world.control('GET', 'state')) as { contacts: { contact_id: number; company: string }[] };
  expect(contacts.find(({ contact_id }) => contact_id === 7)?.company).toBe('Second');
});

describe('a service in trouble', () => {
  test('ends the run after a few rows; the next one sends the rest', async () => {
    const world = fresh();
    const rows = Array.from({ length: 20 }, (_, i) => `Row ${i}`).join('\n');
    const file = put(world, 't.csv', `subject\n${rows}\n`);
    const late = lateWorld(world, { isMeant: isCreation, ending: ownFailure, times: Number.POSITIVE_INFINITY });
    const ran = await svc(late, [...tickets, file, '--json', '--concurrency', '1', '--max-wait', '1']);
    expect(ran.exitCode).toBe(1);
    expect(reportOf(ran.stdout)).toMatchObject({ done: 0, rejected: 0, unknown: 0, unsent: 20 });
    expect(late.left()).toBeLessThan(20);
    expect((await svc(world, [...tickets, file])).exitCode).toBe(0);
    expect((await subjects(world)).sort()).toHaveLength(20);
  });

  test('that asks for a wait is waited for without end; a refusal of the scope ends the run with its code', async () => {
    const world = sandboxWorld();
    const rows = Array.from({ length: 150 }, (_, i) => `Row ${i}`).join('\n');
    const file = put(world, 't.csv', `subject\n${rows}\n`);
    expect((await svc(world, [...tickets, file])).exitCode).toBe(0);
    expect(await subjects(world)).toHaveLength(150);
    await world.control('POST', 'modules', { account_id: 1, support: false });
    const other = put(world, 'u.csv', 'subject\nRow x\n');
    const refused = await svc(world, [...tickets, other, '--json']);
    expect(refused.exitCode).toBe(5);
    expect(reportOf(refused.stdout)).toMatchObject({ unsent: 1, rejected: 0 });
  });
});

test('Ctrl-C lets what is in flight be answered, and the next run goes on', async () => {
  const world = fresh();
  const rows = Array.from({ length: 12 }, (_, i) => `Row ${i}`).join('\n');
  const file = put(world, 't.csv', `subject\n${rows}\n`);
  const stop = new AbortController();
  let left = 0;
  const watched: World = {
    ...world,
    async exchange(request) {
      if (isCreation(request) && ++left === 5) stop.abort('SIGINT');
      return world.exchange(request);
    },
  };
  const ran = await svc(watched, [...tickets, file, '--json'], { signal: stop.signal });
  expect(ran.exitCode).toBe(130);
  expect(ran.stderr).toMatch(
    /^Stopping once \d requests? in flight (?:is|are) answered\. Ctrl-C again stops at once\.$/mu,
  );
  expect(ran.stderr).toMatch(/Interrupted: \d of 12 rows are done\.\nRun the same command again/u);
  const { done, unsent, unknown } = reportOf(ran.stdout);
  expect([done + unsent, unknown]).toEqual([12, 0]);
  const again = await svc(world, [...tickets, file, '--json']);
  expect(reportOf(again.stdout)).toMatchObject({ done: 12, resumed_rows: done });
  expect((await subjects(world)).sort()).toHaveLength(12);
  expect(again.stderr).toContain('Resuming the run of');
});

test('a file that changes while it is read ends the run', async () => {
  const world = fresh();
  const rows = Array.from({ length: 6 }, (_, i) => `Row ${i}`).join('\n');
  const file = put(world, 't.csv', `subject\n${rows}\n`);
  let changed = false;
  const changing: World = {
    ...world,
    async exchange(request) {
      if (!changed) put(world, 't.csv', `subject\n${rows}\nRow 7\n`);
      changed = true;
      return world.exchange(request);
    },
  };
  mkdirSync(join(world.folder, 'x'), { recursive: true });
  const { exitCode } = await svc(changing, [...tickets, file]);
  expect([0, 1]).toContain(exitCode);
  expect((await svc(world, [...tickets, file])).exitCode).toBe(0);
  expect((await subjects(world)).sort()).toHaveLength(7);
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { enter, svc } from '../svc.ts';

type Report = {
  readonly rows: number;
  readonly done: number;
  readonly rejected: number;
  readonly unknown: number;
  readonly unsent: number;
  readonly errors: readonly { readonly id: number }[];
  readonly records: readonly { readonly id: number; readonly status: string }[];
};

const writesOf = ({ sent }: { readonly sent: readonly string[] }) => sent.filter((line) => !line.startsWith('GET'));

describe('several ids', () => {
  test('are done one after the other, by id and number, each once', async () => {
    const world = sandboxWorld();
    const ran = await svc(world, ['tickets', 'close', '7', 'T-1008', '8', '7', '--json']);
    const report: Report = JSON.parse(ran.stdout);
    expect(report).toMatchObject({ rows: 2, done: 2, rejected: 0, unknown: 0, unsent: 0 });
    expect(report.records.map(({ id, status }) => [id, status])).toEqual([
      [7, 'closed'],
      [8, 'closed'],
    ]);
    expect(writesOf(world)).toEqual(['PATCH /tickets/7', 'PATCH /tickets/8']);
    expect(ran.exitCode).toBe(0);
  });

  test('with one that is not there: the others are done, exit 8 names it', async () => {
    const world = sandboxWorld();
    const ran = await svc(world, ['tickets', 'resolve', '7', '9999', '8', '--json']);
    expect(JSON.parse(ran.stdout)).toMatchObject({ rows: 3, done: 2, rejected: 1, unsent: 0, errors: [{ id: 9999 }] });
    expect(ran.stderr).toContain('9999: ');
    expect(ran.exitCode).toBe(8);
  });

  test('of which none is there end as one that is not there', async () => {
    const ran = await svc(sandboxWorld(), ['tickets', 'reopen', '9998', '9999']);
    expect(ran.exitCode).toBe(3);
  });

  test('where nothing answers any more: the rest is not sent and named to be typed', async () => {
    const world = sandboxWorld();
    let writes = 0;
    const exchange: typeof world.exchange = async (request) => {
      if (request.method === 'PATCH' && ++writes > 1) {
        return { lost: 'before-sending', reason: 'refused', detail: 'Nobody listens.' };
      }
      return world.exchange(request);
    };
    const ran = await svc({ ...world, exchange }, ['tickets', 'close', '7', '8', '9', '--max-wait', '5', '--json']);
    const report: Report = JSON.parse(ran.stdout);
    expect(report).toMatchObject({ rows: 3, done: 1, rejected: 0, unknown: 0, unsent: 2 });
    expect(ran.stderr).toContain('svc tickets close 8 9');
    expect(ran.exitCode).toBe(8);
  });

  test('where an answer is lost for good: the others are done, exit 9', async () => {
    const world = sandboxWorld();
    const exchange: typeof world.exchange = async (request) =>
      request.url.endsWith('/conversations/3/resolve')
        ? { status: 502, headers: {}, body: 'bad gateway' }
        : world.exchange(request);
    const line = ['conversations', 'resolve', '3', '1', '--yes', '--max-wait', '5', '--settle', '1', '--json'];
    const ran = await svc({ ...world, exchange }, line);
    expect(JSON.parse(ran.stdout)).toMatchObject({ rows: 2, done: 1, unknown: 1, unsent: 0, errors: [{ id: 3 }] });
    expect(ran.exitCode).toBe(9);
  });

  test('are asked for once where one would be, or where a file would', async () => {
    const world = sandboxWorld();
    expect((await svc(world, ['lists', 'delete', '1', '2'])).exitCode).toBe(2);
    expect(writesOf(world)).toEqual([]);
    const ran = await svc(world, ['lists', 'delete', '1', '2'], { columns: 80, answers: [true] });
    expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
    expect(writesOf(world)).toHaveLength(2);
  });

  test('of more than 20 changes are asked for once, on a terminal alone', async () => {
    const ids = Array.from({ length: 21 }, (_, at) => String(at + 1));
    const world = sandboxWorld();
    const declined = await svc(world, ['tickets', 'close', ...ids], { columns: 80, answers: [false] });
    expect(declined.exitCode).toBe(1);
    expect(writesOf(world)).toEqual([]);
    const few = await svc(world, ['tickets', 'close', ...ids.slice(0, 20)], { columns: 80 });
    expect(few.stderr).toContain('20 in all: ');
    const piped = await svc(world, ['tickets', 'close', ...ids]);
    expect(piped.stderr).toContain('21 in all: ');
  });

  test('show every request with --dry-run', async () => {
    const world = sandboxWorld();
    const ran = await svc(world, ['changelog', 'publish', '1', '2', '--dry-run', '--json']);
    expect(JSON.parse(ran.stdout).map(({ path }: { path: string }) => path)).toEqual([
      expect.stringMatching(/\/1$/u),
      expect.stringMatching(/\/2$/u),
    ]);
    expect(writesOf(world)).toEqual([]);
  });

  test('with --dry-run: those that need nothing are named, and so is one that is not there', async () => {
    const world = sandboxWorld();
    await svc(world, ['tickets', 'close', '8', '9']);
    const closing = writesOf(world).length;
    const ran = await svc(world, ['tickets', 'close', '7', '8', 'T-1009', '--dry-run', '--json']);
    expect(ran.exitCode).toBe(0);
    expect(JSON.parse(ran.stdout)).toEqual([{ method: 'PATCH', path: '/tickets/7', body: { status: 'closed' } }]);
    expect(ran.stderr).toContain('Ticket T-1008 is closed already.\n');
    expect(ran.stderr).toContain('Ticket T-1009 is closed already.\n');
    expect(ran.stderr.match(/Nothing was sent/gu)).toHaveLength(1);
    expect(ran.stderr).not.toContain(' in all: ');
    const gone = await svc(world, ['tickets', 'close', '7', '8', '99999', '--dry-run', '--json']);
    expect(gone.exitCode).toBe(8);
    expect(gone.stdout).toContain('/tickets/7');
    expect(gone.stderr).toContain('99999: ');
    expect(gone.stderr).toContain('1 of 3 would not be done.');
    const none = await svc(world, ['tickets', 'close', '8', '9', '--dry-run']);
    expect(none).toMatchObject({ exitCode: 0, stdout: '' });
    expect(none.stderr).toContain('Ticket T-1008 is closed already.');
    expect(writesOf(world)).toHaveLength(closing);
  });

  test('of one that needs nothing the dry run says so, too', async () => {
    const world = sandboxWorld();
    await svc(world, ['tickets', 'close', '8']);
    const ran = await svc(world, ['tickets', 'close', '8', '--dry-run']);
    expect(ran).toMatchObject({ exitCode: 0, stdout: '' });
    expect(ran.stderr).toContain('Ticket T-1008 is closed already.');
  });

  test('are not taken beside --from, nor one by a command that needs nothing else', async () => {
    const world = sandboxWorld();
    const ids = join(world.folder, 'ids.txt');
    writeFileSync(ids, '8\n9\n');
    const ran = await svc(world, ['tickets', 'close', '7', '--from', ids]);
    expect(ran).toMatchObject({ exitCode: 2 });
    expect(world.sent).toEqual([]);
  });

  test('take no text that is for one of them', async () => {
    const ran = await svc(sandboxWorld(), ['changelog', 'publish', '1', '2', '--content', 'Same', '--yes']);
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--content is for one ID') });
  });

  test('of a get come in their order', async () => {
    const ran = await svc(sandboxWorld(), ['tickets', 'get', '8', '7', '--jq', '.[].id']);
    expect(ran.stdout).toBe('8\n7\n');
  });
});

test.each([[[]], [['--dry-run']]])('a record that is not there is named once %j', async (flags) => {
  const ran = await svc(sandboxWorld(), ['tickets', 'close', '8', '99999', ...flags]);
  expect(ran.stderr).toMatch(/^Ticket 99999: No such record/mu);
});

test('of what is missing one is asked for, and none that is so already is offered', async () => {
  const world = sandboxWorld();
  const tickets: { id: number; ticket_number: string; status: string }[] = JSON.parse(
    (await svc(world, ['tickets', 'list', '--json'])).stdout,
  );
  const [first, second] = tickets.filter(({ status }) => status !== 'closed');
  await svc(world, ['tickets', 'close', `${first?.id}`]);
  const asked = svc(world, ['tickets', 'close'], { columns: 200 }).then(({ stderr }) => stderr, String);
  expect(await asked).toContain('no answer to: Id or number of the ticket (ID)');
  const ran = await svc(world, ['tickets', 'close'], { columns: 80, answers: [enter] });
  expect(ran.stdout).toContain(`Ticket ${second?.ticket_number} is closed.`);
});

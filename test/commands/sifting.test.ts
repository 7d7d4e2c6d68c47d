import { describe, expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Row = Readonly<Record<string, unknown>>;

async function rows(line: readonly string[], world = sandboxWorld()): Promise<readonly Row[]> {
  const ran = await svc(world, [...line, '--json']);
  if (ran.exitCode !== 0) throw new Error(ran.stderr);
  return JSON.parse(ran.stdout);
}

const sorted = (all: readonly unknown[]) => [...all].sort((a, b) => Number(a) - Number(b));

describe('a list that svc itself sorts and filters', () => {
  test('--sort FIELD goes up, -FIELD down, and what has no value comes last either way', async () => {
    const all = await rows(['tickets', 'list', '--all']);
    const up = (await rows(['tickets', 'list', '--all', '--sort', 'priority'])).map((row) => row.priority);
    const down = (await rows(['tickets', 'list', '--all', '--sort', '-priority'])).map((row) => row.priority);
    expect(up).toEqual(sorted(all.map((row) => row.priority)));
    expect(down).toEqual([...up].reverse());
    const resolved = (await rows(['tickets', 'list', '--all', '--sort=-resolved_at'])).map((row) => row.resolved_at);
    expect(resolved.slice(resolved.indexOf(null)).every((one) => one === null)).toBe(true);
    expect(resolved[0]).not.toBeNull();
  });

  test('a note says that it is sorted within what was read, where there is more', async () => {
    const ran = await svc(sandboxWorld(), ['tickets', 'list', '--limit', '3', '--sort', '-created_at']);
    expect(ran.stderr).toContain('Sorted within what was read. Showing 3 of ');
    const filtered = ['tickets', 'list', '--created-before', 'now', '--sort', '-priority', '--limit', '3'];
    const { stderr } = await svc(sandboxWorld(), filtered);
    expect(stderr).toBe('Sorted within the first 3 that fit. To sort all that fit, add --all.\n');
    const whole = await svc(sandboxWorld(), ['tickets', 'list', '--all', '--sort', '-created-at']);
    expect(whole.stderr).toBe('');
  });

  test('--all --limit N shows the first N of all that is sorted', async () => {
    const world = sandboxWorld();
    const sorted = ['tickets', 'list', '--sort', '-priority', '--all'];
    const all = await rows(sorted, world);
    expect(await rows([...sorted, '--limit', '3'], world)).toEqual(all.slice(0, 3));
    const ran = await svc(world, [...sorted, '--limit', '3']);
    expect(ran.stderr).toBe(`Showing the first 3 of ${all.length}.\n`);
    const unsorted = await svc(world, ['tickets', 'list', '--all', '--limit', '3']);
    expect(unsorted).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--limit and --all') });
  });

  test('a field that is not there is refused before anything is sent', async () => {
    const world = sandboxWorld();
    const ran = await svc(world, ['conversations', 'list', '--sort', 'stauts']);
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('status') });
    expect(world.sent).toEqual([]);
  });

  test.each(['tickets', 'conversations'])('%s list takes --created-since and --created-before', async (kind) => {
    const all = await rows([kind, 'list', '--all']);
    const times = all.map((row) => String(row.created_at)).sort();
    const middle = times[Math.floor(times.length / 2)] ?? '';
    const since = await rows([kind, 'list', '--all', '--created-since', middle]);
    const before = await rows([kind, 'list', '--all', '--created-before', middle]);
    const ids = (some: readonly Row[]) => some.map((row) => row.id);
    expect(ids(since)).toEqual(ids(all.filter((row) => Date.parse(String(row.created_at)) >= Date.parse(middle))));
    expect(ids(before)).toEqual(ids(all.filter((row) => Date.parse(String(row.created_at)) < Date.parse(middle))));
    expect(since.length * before.length).toBeGreaterThan(0);
  });

  test('a filter reads on until as many fit as are wanted, and says that there may be more', async () => {
    const world = sandboxWorld();
    const all = await rows(['tickets', 'list', '--all'], world);
    const oldest = all.map((row) => String(row.created_at)).sort()[2] ?? '';
    const ran = await svc(world, ['tickets', 'list', '--created-before', oldest, '--limit', '1', '--json']);
    expect(JSON.parse(ran.stdout)).toHaveLength(1);
    expect(ran.stderr).toContain('Showing the first that fits.');
  });

  test('calls list --contact shows the calls of that contact alone', async () => {
    const all = await rows(['calls', 'list', '--all']);
    const contact = all[0]?.contact_id;
    const own = await rows(['calls', 'list', '--contact', String(contact)]);
    expect(own).toEqual(all.filter((row) => row.contact_id === contact));
    expect(own.length).toBeLessThan(all.length);
  });
});

describe('feedback get', () => {
  test('shows one post with its text, from the list', async () => {
    const [post] = await rows(['feedback', 'list']);
    const ran = await svc(sandboxWorld(), ['feedback', 'get', String(post?.id), '--json']);
    expect(JSON.parse(ran.stdout)).toEqual(post);
    const seen = await svc(sandboxWorld(), ['feedback', 'get', String(post?.id)], { columns: 100 });
    expect(seen.stdout).toContain(String(post?.title));
    expect(seen.stdout.replaceAll(/\s+/gu, ' ')).toContain(String(post?.content).slice(0, 60));
  });

  test('of one that is not there is exit 3', async () => {
    expect((await svc(sandboxWorld(), ['feedback', 'get', '999'])).exitCode).toBe(3);
  });
});

describe('rehearse', () => {
  test('is sandbox exec over the copy: without a copy it says how to make one, and runs nothing', async () => {
    const world = sandboxWorld();
    const ran = await svc(world, ['rehearse', '--', 'svc', 'tickets', 'close', '8']);
    const long = await svc(world, ['sandbox', 'exec', '--seed', 'mirror', '--diff', '--', 'svc', 'whoami']);
    expect(ran.stderr).toContain('svc mirror pull');
    expect(ran).toEqual(long);
  });

  test('has help of its own, and needs a command', async () => {
    expect((await svc(sandboxWorld(), ['rehearse', '--help'])).stdout).toContain('Usage: svc rehearse');
    expect((await svc(sandboxWorld(), ['rehearse'])).exitCode).toBe(2);
  });
});

test.each([30, 40, 60, 80])('at %i columns the field that a list is sorted by is shown', async (columns) => {
  const terminal = { columns, env: { NO_COLOR: '1' } };
  const headerOf = async (argv: string[]) => (await svc(sandboxWorld(), argv, terminal)).stdout.split('\n')[0];
  expect(await headerOf(['tickets', 'list', '--sort', '-priority'])).toContain('Priority');
  expect(await headerOf(['tickets', 'list', '--sort', 'updated_at'])).toContain('Updated');
  expect(await headerOf(['tickets', 'list', '--sort', 'id'])).toMatch(/\bID\b/u);
  expect(await headerOf(['tickets', 'list', '--sort', '-due-at'])).toContain('Due at');
});

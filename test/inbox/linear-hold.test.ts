// @module-tag long
/** What is held while a line of --linear is awaited: it leaves in time, or is taken back in time, and answers nothing unseen. */
import { expect, test } from 'vitest';
import { json } from '../mirror/engines.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { desk, linear, through } from './desk.ts';

const edit = (initial: string) => `It is fixed.\n${initial}`;
const posts = ({ sent }: SandboxWorld) => sent.filter((one) => one.startsWith('POST'));

/** A desk where a reply is held for a minute: whatever else waits meanwhile, for a lock, takes less of the virtual time. */
async function holding(): Promise<SandboxWorld> {
  const world = await desk();
  await svc(world, ['config', 'set', 'hold', '60']);
  return world;
}

/** Does it once, while the line after so many others is awaited. */
function atLine(wanted: number, work: () => Promise<void>) {
  let at = 0;
  return async () => {
    at += 1;
    if (at === wanted) await work();
  };
}

test.each(['j', 'u', 'q'])(
  'a reply that is held leaves while a line is awaited, and %s comes too late',
  async (key) => {
    const world = await holding();
    const whileAsked = atLine(3, () => expect.poll(() => posts(world)).toHaveLength(1));
    const { stdout, exitCode } = await linear(world, ['1', 'r', key, 'q'], { edit, whileAsked });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/leaves in \d+ s\. u takes it back\n/u);
    expect(stdout.match(/Sent: a reply to T-1005/gu)).toHaveLength(1);
    expect(posts(world)).toEqual(['POST /tickets/5/replies']);
  },
);

test('u within the time takes it back', async () => {
  const world = await holding();
  const whileAsked = atLine(3, () => world.clock.sleep(4_000));
  const { stdout } = await linear(world, ['1', 'r', 'u', 'q'], { edit, whileAsked });
  expect(stdout).toContain('Taken back. Nothing was sent; the text is draft 1.');
  expect(posts(world)).toEqual([]);
});

test.each([
  ['is not answered by that line', ['y', '', 'q']],
  ['is declined where the input ends', []],
])('a question that comes while a line is awaited %s', async (_, more) => {
  const world = await holding();
  const rows: { kind: string; id: number }[] = await json(world, 'inbox');
  const at = rows.findIndex(({ kind }) => kind === 'conversation');
  const id = rows[at]?.id;
  const reads = () => world.sent.filter((one) => one.startsWith(`GET /conversations/${id}`)).length;
  const whileAsked = atLine(3, async () => {
    const body = 'And one more thing!';
    await world.control('POST', 'act', { account_id: 1, kind: 'customer_message', conversation_id: id, body });
    const before = reads();
    await expect.poll(reads).toBeGreaterThan(before);
    await new Promise((resolve) => setTimeout(resolve, 200));
  });
  const { stdout, exitCode } = await linear(world, [String(at + 1), 'r', ...more], { edit, whileAsked });
  if (more.length > 0) expect(stdout).toContain('And one more thing!');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('Nothing was sent. Draft 1 waits.');
  expect(posts(world)).toEqual([]);
});

test('what became of a reply that was on its way at q is said before svc ends', async () => {
  const world = await holding();
  const slow = through(world, async (request, go) => {
    if (request.method === 'POST') await new Promise((resolve) => setTimeout(resolve, 500));
    return request.method === 'POST' ? { lost: 'before-sending', reason: 'refused', detail: 'No connection.' } : go();
  });
  const whileAsked = atLine(3, async () => {
    for (let second = 0; second < 61; second++) await world.clock.sleep(1_000);
  });
  const { stdout } = await linear(slow, ['1', 'r', 'q', 'y', 'q'], { edit, whileAsked });
  expect(stdout).toContain('Draft 1 was not sent.');
});

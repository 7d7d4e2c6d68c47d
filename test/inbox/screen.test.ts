/** The inbox on a screen, drawn into a terminal that exists in memory: what is seen, and what the keys do. */
import { expect, test } from 'vitest';
import { createEmulator } from '../emulator.ts';
import { json } from '../mirror/engines.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { fakeTerminal } from '../screen/terminal.ts';
import { type Ran, type RunOptions, svc } from '../svc.ts';
import { desk, through } from './desk.ts';
import { sizes } from './models.ts';

type Shown = {
  readonly lines: () => Promise<string[]>;
  readonly shows: (what: string | RegExp) => Promise<string[]>;
  readonly type: (text: string) => void;
  readonly terminal: ReturnType<typeof fakeTerminal>;
  readonly ended: Promise<Ran>;
};

/** What is shown is read before the next key is pressed. */
const readMs = 700;

/** `svc inbox` on a screen of that size. */
function open(world: SandboxWorld, columns: number, rows: number, options: RunOptions = {}): Shown {
  const terminal = fakeTerminal({ columns, rows });
  const emulator = createEmulator({ columns, rows });
  const ended = svc(world, ['inbox'], { columns, terminal: terminal.port, ...options });
  const lines = async () => {
    await emulator.write(terminal.written());
    return emulator.lines();
  };
  const shows = async (what: string | RegExp) => {
    let seen: string[] = [];
    const look = async () => {
      seen = await lines();
      return seen;
    };
    const wanted = typeof what === 'string' ? expect.stringContaining(what) : expect.stringMatching(what);
    await expect.poll(look, { interval: 1 }).toContainEqual(wanted);
    world.clock.advance(readMs);
    return seen;
  };
  return { lines, shows, type: (text) => terminal.type(text), terminal, ended };
}

test.each(sizes)(
  'at %i×%i the list, the first line and the keys are there, and nothing is too wide',
  { tags: ['long'] },
  async (columns, rows) => {
    const screen = open(await desk(), columns, rows);
    const lines = await screen.shows('Ben Castro');
    expect(lines[0]).toMatch(/^ waiting {2}23/u);
    expect(lines[1]).toMatch(/^> {1}/u);
    expect(lines.at(-1)).toContain('? keys');
    expect(lines.length).toBe(rows);
    if (columns >= 100) await screen.shows(/│ T-1005 {2}Import refuses our CSV/u);
    screen.type('q');
    expect(await screen.ended).toMatchObject({ exitCode: 0, stderr: '' });
  },
);

test('a reply goes from the key through the editor to the service, and its row is marked until the copy knows', async () => {
  const world = await desk();
  const screen = open(world, 120, 30, { edit: (initial) => `It is fixed.\n${initial}` });
  await screen.shows('Ben Castro');
  screen.type('r');
  await screen.shows('Sent: a reply to T-1005');
  expect(screen.terminal.calls).toContain('lend');
  screen.type('q');
  await screen.ended;
  expect(world.sent.filter((one) => one.startsWith('POST'))).toEqual(['POST /tickets/5/replies']);
});

test('what a customer wrote moves nothing on the screen', { tags: ['long'] }, async () => {
  const world = await desk();
  const hostile = '\u001b]0;owned\u0007\u001b[2J\u202Eevil';
  const body = { description: hostile, subject: hostile, contact_id: 1 };
  await world.sandbox.handle({
    ...{ method: 'POST', url: '/tickets', body: JSON.stringify(body) },
    headers: { host: 'service.test', authorization: 'Bearer key_acme', 'content-type': 'application/json' },
  });
  await json(world, 'mirror pull');
  const screen = open(world, 100, 40);
  await screen.shows('Ben Castro');
  screen.type('G');
  const lines = await screen.shows('^[[2J');
  expect(lines[0]).toMatch(/^ waiting {2}24/u);
  screen.type('q');
  await screen.ended;
});

test('help lies over the list and goes again; a search shows what was found', { tags: ['long'] }, async () => {
  const screen = open(await desk(), 80, 24);
  await screen.shows('Ben Castro');
  screen.type('?');
  await screen.shows('between the list and the thread');
  screen.type('?');
  await screen.shows('Ben Castro');
  screen.type('/');
  await screen.shows('Search the copy for');
  screen.type('invoice\r');
  await screen.shows(/^ search: invoice {2}\d/u);
  screen.type('q');
  expect((await screen.ended).exitCode).toBe(0);
});

test('Ctrl-C ends, and says what waits', async () => {
  const world = await desk();
  const screen = open(world, 80, 24, { edit: (initial) => `Later.\n${initial}` });
  await screen.shows('Ben Castro');
  screen.type('d');
  await screen.shows('Draft 1: a reply to T-1005');
  screen.type('\u0003');
  const { exitCode, stderr } = await screen.ended;
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('Draft 1: a reply to T-1005')]);
});

/** A reply that is held for five seconds. */
async function holdingReply() {
  const world = await desk();
  await svc(world, ['config', 'set', 'hold', '5']);
  const screen = open(world, 120, 24, { edit: (initial) => `It is fixed.\n${initial}` });
  await screen.shows('Ben Castro');
  screen.type('r');
  await screen.shows('leaves in 5 s');
  return { world, screen };
}

async function passSeconds(world: SandboxWorld, { terminal }: Shown, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    await world.clock.sleep(1000);
    terminal.pass(1000);
  }
}

test.each([60_000, 3_600_000, -3_600_000])(
  'what is held leaves no sooner and no later where %d ms were no time that svc ran: Ctrl-Z, or a clock that was set',
  async (ms) => {
    const { world, screen } = await holdingReply();
    world.clock.advance(ms);
    screen.terminal.pass(1000);
    await screen.shows('leaves in 5 s');
    await passSeconds(world, screen, 5);
    await screen.shows('Sent: a reply');
    screen.type('q');
    await screen.ended;
  },
);

test.each(['draft', 'ask'])('sends %s that is set while a reply is held keeps it as a draft', async (mode) => {
  const { world, screen } = await holdingReply();
  await svc(world, ['config', 'set', 'sends', mode]);
  await passSeconds(world, screen, 6);
  await screen.shows(`Draft 1 was not sent: sends is ${mode} now. It waits in the view drafts (v).`);
  screen.type('q');
  await screen.ended;
  expect(world.sent.filter((one) => one.startsWith('POST'))).toEqual([]);
});

test('what was agreed to at a question still goes under ask, and under draft no more', { tags: ['long'] }, async () => {
  for (const [mode, sent] of [
    ['ask', 1],
    ['draft', 0],
  ] as const) {
    const world = await desk();
    await svc(world, ['config', 'set', 'hold', '5']);
    await svc(world, ['config', 'set', 'sends', 'ask']);
    const screen = open(world, 120, 24, { edit: (initial) => `It is fixed.\n${initial}` });
    await screen.shows('Ben Castro');
    screen.type('r');
    await screen.shows('Send this?');
    // Somebody reads it.
    await world.clock.sleep(700);
    screen.type('y');
    await screen.shows('leaves in 5 s');
    await svc(world, ['config', 'set', 'sends', mode]);
    await passSeconds(world, screen, 6);
    await screen.shows(sent === 1 ? 'Sent: a reply' : 'Draft 1 was not sent');
    screen.type('q');
    await screen.ended;
    expect(world.sent.filter((one) => one.startsWith('POST'))).toHaveLength(sent);
  }
});

test('what is put away is shown until when it is, as clocks here show it', { tags: ['long'] }, async () => {
  const world = await desk();
  const screen = open(world, 120, 24);
  await screen.shows('Ben Castro');
  screen.type('z');
  await screen.shows('Until a time');
  screen.type(`${'\u001b[B'.repeat(4)}\r`);
  await screen.shows('away until');
  screen.type('2027-01-01\r');
  await screen.shows('Put away until 2027-01-01 00:00.');
  screen.type('v');
  await screen.shows('put away for a while');
  screen.type(`${'\u001b[B'.repeat(3)}\r`);
  await screen.shows('until 2027-01-01 00:00 · I');
  screen.type('q');
  await screen.ended;
  const piped = await svc(world, ['inbox', 'snoozed', '--json']);
  expect(JSON.parse(piped.stdout)).toMatchObject([{ why: 'until 2027-01-01T00:00:00.000Z' }]);
});

test('an end while nobody knows what became of a write is exit 9', { tags: ['long'] }, async () => {
  const world = await desk();
  const lost = { lost: 'after-sending', reason: 'reset', detail: 'the connection was cut' } as const;
  const silent = through(world, (request, go) =>
    request.method === 'POST' && request.url.endsWith('/replies') ? Promise.resolve(lost) : go(),
  );
  const screen = open(silent, 120, 24, { edit: (initial) => `It is fixed.\n${initial}` });
  await screen.shows('Ben Castro');
  screen.type('r');
  await screen.shows('Draft 1 may have been sent: look in the thread.');
  screen.type('q');
  const { exitCode, stderr } = await screen.ended;
  expect([exitCode, stderr]).toEqual([9, expect.stringContaining('It is not known whether 1 write was done.')]);
});

test('keys that came in one piece with the one that asks answer nothing', async () => {
  const world = await desk();
  const screen = open(world, 100, 30);
  await screen.shows('Ben Castro');
  const writes = () => world.sent.filter((one) => !one.startsWith('GET'));
  screen.type('xxxey');
  await screen.shows('Resolve 3 that are marked?');
  expect(writes()).toEqual([]);
  screen.type('y');
  await screen.shows(/✓.*and 2 others/u);
  screen.type('q');
  await screen.ended;
  expect(writes()).toHaveLength(3);
});

test('nothing is drawn and nothing is asked where nothing happens', async () => {
  const world = await desk();
  const screen = open(world, 80, 24);
  await screen.shows('Ben Castro');
  await screen.shows(/copy/u);
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
  await screen.lines();
  const asked = world.sent.length;
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect([screen.terminal.written(), world.sent.length - asked]).toEqual(['', 0]);
  screen.terminal.pass(29_000);
  expect(screen.terminal.written()).toBe('');
  screen.type('q');
  await screen.ended;
});

test('ages go on while somebody works: no key puts off the next look at the clock', async () => {
  const world = await desk();
  const screen = open(world, 80, 24);
  await screen.shows('Ben Castro');
  await screen.shows(/copy <1 min old/u);
  screen.terminal.pass(20_000);
  screen.type('j');
  world.clock.advance(120_000);
  screen.terminal.pass(10_000);
  await screen.shows(/copy 2 min old/u);
  screen.type('q');
  await screen.ended;
});

test('the whole screen stays, with the last key, at the width of 80', async () => {
  const screen = open(await desk(), 80, 24);
  const lines = await screen.shows('Ben Castro');
  expect(lines.at(-1)).toContain('q end');
  screen.type('q');
  await screen.ended;
});

test('drafts that wait are told from the start, whoever wrote them', async () => {
  const world = await desk();
  await json(world, 'tickets reply 5 --body Hello --draft');
  const screen = open(world, 120, 24);
  await screen.shows(/^ waiting .* 1 draft waits/u);
  screen.type('q');
  await screen.ended;
});

test('R answers once it has looked', { tags: ['long'] }, async () => {
  const screen = open(await desk(), 80, 24);
  await screen.shows('Ben Castro');
  screen.type('R');
  await screen.shows('The copy is up to date.');
  screen.type('q');
  await screen.ended;
});

test('who is not logged in is told at once, and no screen opens', async () => {
  const world = await desk();
  for (const argv of [['inbox'], ['inbox', '--linear']]) {
    const terminal = fakeTerminal({ columns: 80, rows: 24 });
    const options = { columns: 80, terminal: terminal.port, env: { SVC_API_KEY: undefined }, answers: [] };
    const ran = await svc(world, argv, options);
    expect(ran).toMatchObject({ exitCode: 4, stdout: '', stderr: expect.stringContaining('is not logged in') });
    expect(ran.stderr).toContain('svc login');
    expect(terminal.written()).toBe('');
  }
});

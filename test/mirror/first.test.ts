import { expect, test } from 'vitest';
import { costOf } from '../../src/mirror/pull/progress.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { ok, sql } from './engines.ts';

test('a first pull says what it costs before it begins, and reads the unresolved before everything else', {
  tags: ['long'],
}, async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const { stderr } = await ok(world, 'mirror pull');
  // 264 contacts, 44 tickets and 22 conversations with their threads, 32 entries, and the rest.
  expect(stderr).toMatch(
    /^The first pull needs about 1\d\d requests, which takes about \d min at 60 a minute\. You can end it at any time; the next one goes on\.$/mu,
  );
  const [, cost] = /about (\d+) requests/u.exec(stderr) ?? [];
  // How many lists there are, whose members are read one by one, nobody knows before.
  expect(Math.abs(world.sent.length - Number(cost))).toBeLessThan(5);
  const counting = world.sent.filter((line) => line.endsWith('per_page=1'));
  expect(counting).toHaveLength(6);
  const after = world.sent.slice(world.sent.indexOf(counting.at(-1) ?? '') + 1);
  expect(after[0]).toBe('GET /tickets?page=1&per_page=100&status=unresolved');
  const chats = after.indexOf('GET /conversations?page=1&per_page=100&status=unresolved');
  expect(chats).toBeGreaterThan(1);
  expect(after.indexOf('GET /contacts?page=1&per_page=100')).toBeGreaterThan(chats);
  // No thread is read twice.
  const threads = world.sent.filter((line) => /^GET \/(?:tickets|conversations)\/\d+$/u.test(line));
  expect(new Set(threads).size).toBe(threads.length);
  world.sent.length = 0;
  const next = await ok(world, 'mirror pull');
  expect(next.stderr).not.toContain('first pull');
  expect(world.sent.some((line) => line.includes('per_page=1&') || line.endsWith('per_page=1'))).toBe(false);
});

test('a first pull that is stopped has read the unresolved, which every command can use already', {
  tags: ['long'],
}, async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const unresolved = await ok(world, 'tickets list --status unresolved --all --json');
  const count = JSON.parse(unresolved.stdout).length as number;
  const ran = await svc(world, ['mirror', 'pull', '--max-requests', String(count + 9)]);
  expect(ran.exitCode).toBe(8);
  expect(await sql(world, "SELECT count(*) AS n FROM tickets WHERE status NOT IN ('resolved', 'closed')")).toEqual([
    { n: count },
  ]);
});

test('progress has one total, and tells the wait of the limit and the minutes that are left', {
  tags: ['long'],
}, async () => {
  const world = sandboxWorld({ rateLimit: 'on' });
  const said: string[] = [];
  await ok(world, 'mirror pull', {
    progress: (text) => text && !text.startsWith('Waiting for service') && said.push(text),
  });
  const line =
    /^([\d,]+) of about ([\d,]+) requests(?: · \d+ s left in this minute)? · (?:about \d+ min|less than a minute)$/u;
  expect(said.filter((text) => !line.test(text))).toEqual([]);
  const waits = said.filter((text) => text.includes('left in'));
  expect(waits[0]).toMatch(/ · 60 s left in this minute · about [12] min$/u);
  expect(waits.at(-1)).toMatch(/ · 1 s left in this minute · about 1 min$/u);
  const totals = said.map((text) => Number(line.exec(text)?.[2]));
  expect(Math.max(...totals) - Math.min(...totals)).toBeLessThan(60);
  const [, done, total] = line.exec(said.at(-1) ?? '') ?? [];
  expect(done).toBe(total);
});

test.each(['on', 'off'] as const)(
  'no number of the progress ever goes down, with the limit %s',
  { tags: ['long'] },
  async (rateLimit) => {
    const world = sandboxWorld({ rateLimit });
    for (const line of ['mirror pull', 'mirror pull', 'mirror pull --full']) {
      const told: number[][] = [];
      await ok(world, line, {
        progress(text = '') {
          const numbers = /^([\d,]+) of about ([\d,]+) requests/u.exec(text)?.slice(1);
          if (numbers) told.push(numbers.map((each) => Number(each.replaceAll(',', ''))));
        },
      });
      expect(told.length).toBeGreaterThan(5);
      for (const at of [0, 1]) {
        const column = told.map((numbers) => numbers[at] ?? Number.NaN);
        expect(column).toEqual(column.toSorted((a, b) => a - b));
      }
      expect(told.at(-1)?.[0]).toBe(told.at(-1)?.[1]);
    }
  },
);

test('sql and search say of which kinds the copy is not whole, and nothing of those that are refused', {
  tags: ['long'],
}, async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  await world.control('POST', 'modules', { account_id: 1, feedback_board: false });
  await ok(world, 'mirror pull --only contacts,feedback');
  const of = async (...words: string[]) => (await ok(world, ['mirror', ...words])).stderr;
  expect(await of('sql', 'SELECT count(*) FROM contacts')).not.toContain('not whole');
  const partial = await of('sql', 'SELECT count(*) FROM ticket_messages JOIN feedback');
  expect(partial).toContain(
    'The copy is not whole, so records may be missing: tickets. To read the rest: svc mirror pull',
  );
  expect(await of('search', 'export')).toContain(
    'records may be missing: lists, calls, tickets, conversations, changelog.',
  );
  await ok(world, 'mirror pull');
  expect(await of('search', 'export')).not.toContain('not whole');
});

test.each([
  [54, 'less than a minute'],
  [60, 'less than a minute'],
  [61, 'about 1 min'],
  [108, 'about 1 min'],
  // 54 at once, as many a minute later, and the rest as the second one is over.
  [117, 'about 2 min'],
  [4_300, 'about 79 min'],
])('%d requests take %s', (requests, time) => {
  expect(costOf(requests)).toBe(`about ${requests.toLocaleString('en')} requests, which takes ${time} at 60 a minute`);
});

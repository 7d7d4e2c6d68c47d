// A machine that dies while it sends: the customer gets it once, or nobody knows.
import { expect, test } from 'vitest';
import { runOrKill } from '../bulk/killing.ts';
import { atDesk, desk, writesOf } from './drafting.ts';

const event = 'events send order_create --contact-name Ada --email ada@lovelace.test';
const reply = 'tickets reply 8 --body Fixed';
/** A title that is there already: only the text would tell whether it arrived, and the service shows that as HTML. */
const title = 'changelog update 30 --title Webhooks';
const update = `${title} --content Corrected`;

/** Requests of an approval, in order: the account, the thread where there is one, and what is sent. */
const atPost = { event: 1, reply: 2 };

test.each([
  { what: 'an event that arrived', line: event, at: atPost.event, heard: true, state: 'unknown' },
  { what: 'an event that did not', line: event, at: atPost.event, heard: false, state: 'unknown' },
  { what: 'a reply that arrived', line: reply, at: atPost.reply, heard: true, state: 'sent' },
  { what: 'a reply that did not', line: reply, at: atPost.reply, heard: false, state: 'unknown' },
  { what: 'a change of a public text that did not', first: title, line: update, at: 3, heard: false, state: 'unknown' },
  { what: 'a reply of which only the thread was read', line: reply, at: 1, heard: true, state: 'waiting' },
])('$what: $state once the claim has lapsed, and nothing is sent again', async ({ first, line, at, heard, state }) => {
  const { world, draft, ok } = desk();
  if (first !== undefined) await ok(first);
  const { digest } = await draft(line);
  const { next, ran } = await runOrKill(world, ['drafts', 'approve', '1', '--digest', digest], { at, heard });
  expect(ran).toBeUndefined();
  const after = atDesk(next);
  const sent = writesOf(world).length;
  expect(await after.shown(1)).toMatchObject({ state: 'sending' });
  expect(await after.run(`drafts approve 1 --digest ${digest}`)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('is being sent'),
  });
  world.clock.advance(91_000);
  expect(await after.shown(1)).toMatchObject({ state });
  if (state === 'waiting') {
    expect((await after.approve(1)).exitCode).toBe(0);
    expect(writesOf(world)).toHaveLength(1);
    return;
  }
  expect((await after.run(`drafts approve 1 --digest ${digest}`)).exitCode).not.toBe(0);
  expect(writesOf(world)).toHaveLength(sent);
});

test('two approvers at once send it once, and the second is told', async () => {
  const { world, draft, run } = desk();
  const { digest } = await draft(reply);
  const line = `drafts approve 1 --digest ${digest}`;
  const codes = (await Promise.all([run(line), run(line), run(line)])).map(({ exitCode }) => exitCode);
  expect(codes.filter((code) => code === 0)).toHaveLength(1);
  expect(writesOf(world)).toHaveLength(1);
});

// A token that has to be refreshed first may take its time: what was judged before it is judged again before it leaves.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loggedIn } from '../auth/auth-world.ts';

/** A send whose token is refreshed for so long, and what has been set meanwhile. */
async function sentAfter(refreshMs: number, rules: string) {
  const world = await loggedIn({ left: 30, scopes: ['identity', 'sequences:trigger'] });
  world.watch = async ({ url }) => {
    if (!url.endsWith('/token')) return;
    world.clock.advance(refreshMs);
    await mkdir(join(world.folder, 'config'), { recursive: true });
    await writeFile(join(world.folder, 'config', 'policy.yaml'), `sends: { ${rules} }\n`);
  };
  const ran = await world.svc(['events', 'send', 'shipped', '--contact-name', 'Eva', '--email', 'e@x.test', '--yes']);
  const sent = world.sent.map(({ what }) => what).filter((what) => !what.startsWith('GET'));
  expect(sent[0]).toBe('POST /oauth/platform/token');
  return { ran, sent: sent.slice(1) };
}

test('a rule that is set while a token is refreshed holds what waits for it', async () => {
  const { ran, sent } = await sentAfter(10_000, 'deny: "true"');
  expect(ran).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('sends.deny') });
  expect(sent).toEqual([]);
});

test('mode draft as well, and where nothing is set it is sent', async () => {
  const drafted = await sentAfter(10_000, 'mode: draft');
  expect(drafted.ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Draft 1') });
  expect(drafted.sent).toEqual([]);
  expect((await sentAfter(10_000, 'mode: allow')).sent).toHaveLength(1);
});

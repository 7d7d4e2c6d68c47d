// A run of `webhooks create --from` that was killed before an answer: what is there is named.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { runOrKill } from './killing.ts';

const url = 'https://a.test/2';

async function killed(heard: boolean) {
  const world = sandboxWorld({ rateLimit: 'off' });
  const { access_token } = (await world.control('POST', 'tokens', {
    account_id: 1,
    scopes: ['webhooks:manage', 'identity'],
  })) as { access_token: string };
  const options = { env: { SVC_API_KEY: undefined, SVC_ACCESS_TOKEN: access_token } };
  const file = join(world.folder, 'h.csv');
  writeFileSync(file, `event,url\ncontact.created,https://a.test/1\nticket.created,${url}\n`);
  const argv = ['webhooks', 'create', '--from', file, '--json', '--settle', '1', '--concurrency', '1'];
  const results = (folder: string) => ['--results', join(folder, 'r.csv')];
  // The account, the list of what is there, the first subscription; then the second one.
  const { ran, next } = await runOrKill(world, [...argv, ...results(world.folder)], { at: 3, heard }, options);
  expect(ran).toBeUndefined();
  return svc(next, [...argv, ...results(next.folder)], options);
}

test('a subscription that the list shows is named, with the two commands that replace it', async () => {
  const ran = await killed(true);
  expect(ran.exitCode, ran.stderr).toBe(9);
  const report = JSON.parse(ran.stdout);
  expect(report).toMatchObject({ done: 1, unknown: 1 });
  expect(report.errors[0].error).toBe(
    `It was sent when svc was killed: 2 is there, but its signing secret is lost. If nobody else made it, replace it: svc webhooks delete 2 && svc webhooks create ticket.created ${url}`,
  );
  const told = JSON.parse(ran.stderr.trim().split('\n').at(-1) ?? '');
  expect(told.error.candidates).toEqual([2]);
});

test('one that never came is not', async () => {
  const ran = await killed(false);
  expect(ran.exitCode, ran.stderr).toBe(9);
  expect(JSON.parse(ran.stdout).errors[0].error).toBe('It was sent when svc was killed, and svc did not find it');
});

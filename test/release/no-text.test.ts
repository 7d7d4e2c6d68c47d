// A service that leaves the text of an entry out of its answers, or answers null there.
import { expect, test } from 'vitest';
import type { HttpResponse } from '../../src/context.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const stdin = '# Changelog\n\n## 1.2.0\n\n- Fixed.\n';
const argv = ['changelog', 'release', '1.2.0', '--from', '-', '--json'];

/** `isLeftOut`: by the method of the request. */
function withoutText(by: string, isLeftOut: (method: string) => boolean) {
  const world = sandboxWorld({ seed: 'empty', rateLimit: 'off' });
  const exchange: typeof world.exchange = async (request) => {
    const answer = (await world.exchange(request)) as HttpResponse;
    if (!isLeftOut(request.method)) return answer;
    return { ...answer, body: answer.body.replace(/"content_html":"(?:[^"\\]|\\.)*"(,?)/u, by) };
  };
  return { world, ran: () => svc({ ...world, exchange }, argv, { stdin }) };
}

const ways = ['', '"content_html":null$1'];

test.each(ways)('answers to writes with %j: released once, and up to date by what is read', async (by) => {
  const { world, ran } = withoutText(by === '' ? '"x":1$1' : by, (method) => method !== 'GET');
  expect(await ran()).toMatchObject({ exitCode: 0 });
  const sent = world.sent.length;
  const again = await ran();
  expect(JSON.parse(again.stdout)).toMatchObject({ action: 'unchanged' });
  expect(world.sent.slice(sent).every((one) => one.startsWith('GET'))).toBe(true);
});

test.each(ways)('all answers with %j: never unchanged, for svc cannot see it', async (by) => {
  const { ran } = withoutText(by === '' ? '"x":1$1' : by, () => true);
  for (const action of ['created', 'updated']) {
    const { exitCode, stdout, stderr } = await ran();
    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ action });
  }
});

test('changelog get shows an entry without its text', async () => {
  const { world, ran } = withoutText('"content_html":null$1', () => false);
  await ran();
  const exchange: typeof world.exchange = async (request) => {
    const answer = (await world.exchange(request)) as HttpResponse;
    return { ...answer, body: answer.body.replace(/"content_html":"(?:[^"\\]|\\.)*"/u, '"content_html":null') };
  };
  const shown = await svc({ ...world, exchange }, ['changelog', 'get', '1'], { columns: 80 });
  expect(shown.exitCode, shown.stderr).toBe(0);
  expect(shown.stdout).toContain('Release 1.2.0');
});

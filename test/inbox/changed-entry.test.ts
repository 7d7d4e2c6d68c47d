// What was changed once it was agreed to is shown as it would leave now, before it is asked for again.
import { expect, test } from 'vitest';
import { svc } from '../svc.ts';
import { desk, linear, through } from './desk.ts';

/** Approves the one draft in the inbox while `change` is done between what is shown and what leaves. */
async function approvedWhile(
  line: readonly string[],
  path: string,
  change: (world: Awaited<ReturnType<typeof desk>>) => Promise<unknown>,
) {
  const world = await desk();
  await svc(world, [...line, '--draft']);
  let hasChanged = false;
  let isAsked = false;
  const changing = through(world, async (request, go) => {
    // The first look is for the question.
    if (request.url.endsWith(path) && isAsked && !hasChanged) {
      hasChanged = true;
      await change(world);
    }
    isAsked ||= request.url.endsWith(path);
    return go();
  });
  const { stdout } = await linear(changing, ['v', 'drafts', '1', 'a', 'y', 'n', 'q'], { columns: 100 });
  const sent = world.sent.filter((one) => !one.startsWith('GET'));
  return { stdout, sent, question: stdout.slice(stdout.indexOf('was not sent.')) };
}

test('an entry that is another one by the time it is published is shown as it is now', { tags: ['long'] }, async () => {
  const { question, sent } = await approvedWhile(['changelog', 'publish', '31'], '/changelog/31', (world) =>
    svc(world, ['changelog', 'update', '31', '--content', 'Other words by then', '--title', 'Other title']),
  );
  expect(sent).toEqual(['PATCH /changelog/31']);
  expect(question).toContain('What would be published is other than it was.');
  expect(question).toContain('Other words by then');
  expect(question).toContain('Other title');
});

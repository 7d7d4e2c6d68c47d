// What was changed once it was agreed to is shown as it would leave now, before it is asked for again.
import { expect, test } from 'vitest';
import { svc } from '../svc.ts';
import { desk, linear, through } from './desk.ts';

/** Approves the one draft in the inbox; once its record was looked at so often for what is shown, `change` is done. */
async function approvedWhile(
  line: readonly string[],
  { path, looks }: { readonly path: string; readonly looks: number },
  change: (world: Awaited<ReturnType<typeof desk>>) => Promise<unknown>,
) {
  const world = await desk();
  await svc(world, [...line, '--draft']);
  let left = looks;
  const changing = through(world, async (request, go) => {
    if (request.url.endsWith(path) && left-- === 0) await change(world);
    return go();
  });
  const { stdout } = await linear(changing, ['v', 'drafts', '1', 'a', 'y', 'n', 'q'], { columns: 100 });
  const sent = world.sent.filter((one) => !one.startsWith('GET'));
  return { sent, question: stdout.slice(stdout.indexOf('was not sent.')) };
}

test('an entry that is another one by the time it is published is shown as it is now', { tags: ['long'] }, async () => {
  const { question, sent } = await approvedWhile(
    ['changelog', 'publish', '31'],
    { path: '/changelog/31', looks: 1 },
    (world) => svc(world, ['changelog', 'update', '31', '--content', 'Other words by then', '--title', 'Other title']),
  );
  expect(sent).toEqual(['PATCH /changelog/31']);
  expect(question).toContain('What would be published is other than it was.');
  expect(question).toContain('Other words by then');
  expect(question).toContain('Other title');
});

test('what a customer has written meanwhile is shown with the text and all that leaves with it', {
  tags: ['long'],
}, async () => {
  const line = ['conversations', 'reply', '7', '--body', 'It is fixed.', '--resolve'];
  const says = { kind: 'customer_message', account_id: 1, conversation_id: 7, body: 'Wait, there is more.' };
  const { question, sent } = await approvedWhile(line, { path: '/conversations/7', looks: 0 }, (world) =>
    world.control('POST', 'act', says),
  );
  expect(sent).toEqual([]);
  expect(question).toContain('The customer has written again.');
  expect(question).toContain('Wait, there is more.');
  expect(question).toMatch(/It is fixed\.\s+then resolve the conversation/u);
});

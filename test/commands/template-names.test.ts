// Names in a template that no record has: told when it is written, not when a customer waits for the reply.
import { expect, test } from 'vitest';
import { unknownNames } from '../../src/command/template-names.ts';
import { createWorld, svc } from '../svc.ts';

test.each([
  [['contact.name', 'contact.last_name', 'contact.email', 'subject', 'status', 'ticket_number']],
  [['metadata.plan', 'metadata.any.depth']],
  [['title', 'slug']],
  [[]],
])('%j are fields of a record', (names) => {
  expect(unknownNames(names)).toBeUndefined();
});

test('a name that no record has is told with the near one', () => {
  expect(unknownNames(['contact.nme', 'subject'])).toBe(
    'No record has {{contact.nme}}: it is filled in by a column of that name, or by --set. Did you mean {{contact.name}}?',
  );
  expect(unknownNames(['wish_list_of_xy', 'contact.zzzzzz'])).toBe(
    'No record has {{wish_list_of_xy}}, {{contact.zzzzzz}}: they are filled in by a column of that name, or by --set.',
  );
});

test('templates edit writes the template all the same, and says so', async () => {
  const world = createWorld(async () => ({ status: 500, headers: {}, body: '' }));
  const ran = await svc(world, ['templates', 'edit', 'thanks', '--text', 'Hi {{contact.nme}}']);
  expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Did you mean {{contact.name}}?') });
  const fine = await svc(world, ['templates', 'edit', 'thanks', '--text', 'Hi {{contact.name}}']);
  expect(fine.stderr).not.toContain('No record');
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

async function preview(text: string, ...flags: string[]) {
  const world = sandboxWorld();
  const file = join(world.folder, 'rows.csv');
  writeFileSync(file, text);
  const ran = await svc(world, ['tickets', 'create', '--from', file, '--dry-run', ...flags]);
  return { ...ran, posted: world.sent.filter((one) => one.startsWith('POST')) };
}

test('names without an email: the preview says that these tickets have no requester', async () => {
  const ran = await preview('subject,contact.name,Requester phone\nA,Ann,+12025550123\nB,Bob,\n');
  expect(ran).toMatchObject({ exitCode: 0, posted: [] });
  expect(ran.stderr).toContain('these tickets get no requester');
  expect(ran.stderr).toContain('contact.email');
  expect(ran.stderr).not.toContain('=FIELD');
});

test.each([[[]], [['--create-contacts']]])(
  'rows without an email beside rows with one are counted (%j)',
  async (flags) => {
    const email = 'viktor.nakamura@saltmarsh.test';
    const ran = await preview(`subject,contact\nA,${email}\nB,\nC,\n`, ...flags);
    expect(ran).toMatchObject({ exitCode: 0, posted: [] });
    expect(ran.stderr).toContain('2 of 3 tickets would have no requester');
  },
);

test('a file that names nobody is asked nothing', async () => {
  expect(await preview('subject,description\nA,B\n')).toMatchObject({ exitCode: 0, stderr: '' });
});

test('a column with the name of the field needs no --map', async () => {
  const ran = await preview('subject,contact.email,contact.name\nA,ann@example.org,Ann\n');
  expect(ran.stderr).toContain('To send what fits, add:\n  --create-contacts\n');
  expect(ran.stderr).toMatch(/^Where each of them is a contact already: --map ".+=contact"$/mu);
});

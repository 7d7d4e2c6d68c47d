// Where svc cannot write in a folder of its own, the message names the variable that names another one.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const rows = { 'rows.csv': 'subject,description\nA,a\n', 'people.csv': 'email,name\na@example.com,A\n' };
const news = { 'CHANGELOG.md': '# Changelog\n\n## 9.9.0\n\nNews.\n' };

test.each<[string, string[], Readonly<Record<string, string>>]>([
  ['a write', ['tickets', 'close', '7'], {}],
  ['a draft', ['tickets', 'reply', '8', '--body', 'Hi', '--draft'], {}],
  ['a file', ['tickets', 'create', '--from', 'rows.csv'], rows],
  ['a sync', ['contacts', 'sync', 'people.csv', '--yes'], rows],
  ['a copy', ['mirror', 'pull'], {}],
  ['a release', ['changelog', 'release', '9.9.0', '--from', 'CHANGELOG.md'], news],
])('%s, where the state folder cannot be made: SVC_STATE_DIR, and nothing was sent', async (_, line, files) => {
  const world = sandboxWorld({ seed: few });
  writeFileSync(join(world.folder, 'state'), 'a file where the folder should be');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(world.folder, name), text);
  const argv = line.map((word) => (word in files ? join(world.folder, word) : word));
  const ran = await svc(world, argv);
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toMatch(
    /^(?:Its folder is .*\. )?Fix that\. SVC_STATE_DIR names another folder, but that one knows nothing of what was sent before\.$/mu,
  );
  // In no word of the system.
  expect(ran.stderr).not.toMatch(/\bE[A-Z]{4,}\b/u);
  expect(world.sent.filter((one) => !one.startsWith('GET '))).toEqual([]);
});

test.each([
  [{ SVC_MIRROR_DB: 'state/copy.db' }, ['mirror', 'pull'], '--db or SVC_MIRROR_DB'],
  [{ SVC_DRAFTS_DB: 'state/drafts' }, ['tickets', 'reply', '8', '--body', 'Hi', '--draft'], 'SVC_DRAFTS_DB'],
])('what has a place of its own names that: %j', async (named, argv, told) => {
  const world = sandboxWorld({ seed: few });
  writeFileSync(join(world.folder, 'state'), 'a file where the folder should be');
  const env = Object.fromEntries(Object.entries(named).map(([name, place]) => [name, join(world.folder, place)]));
  const ran = await svc(world, argv, { env });
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain(told);
  expect(ran.stderr).not.toContain('SVC_STATE_DIR');
});

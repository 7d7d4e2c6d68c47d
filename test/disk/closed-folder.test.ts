// What svc cannot write in a folder of its own, or in one that was named: the message says what names another.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openFolder } from '../../src/webhooks/store/folder/folder-store.ts';
import { closeFolder, withClosed } from '../closed-folder.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

function closedWorld() {
  const world = sandboxWorld();
  const [config, other] = [join(world.folder, 'config'), join(world.folder, 'other')];
  for (const folder of [config, other]) {
    mkdirSync(folder, { recursive: true });
    closeFolder(folder);
  }
  return { world, other };
}

const words = /(?:the disk is read-only|permission denied)\./u;

withClosed.each([
  ['templates edit thanks --text Thanks', 'SVC_CONFIG_DIR'],
  ['views edit urgent --text SELECT', 'SVC_CONFIG_DIR'],
  ['alias set mine whoami', 'SVC_CONFIG_DIR'],
  ['config set output json', 'SVC_CONFIG_DIR'],
  ['sandbox start --port 0 --state OTHER/sandbox.state', '--state'],
])('%s in a folder that cannot be written is exit 1 and names %s', async (line, way) => {
  const { world, other } = closedWorld();
  const ran = await svc(world, line.replace('OTHER', other).split(' '));
  expect(ran).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringMatching(words) });
  expect(ran.stderr).toContain(way);
});

withClosed('so does an inbox', async () => {
  const { other } = closedWorld();
  const opening = openFolder({ folder: join(other, 'inbox'), limit: 10, now: () => new Date() });
  await expect(opening).rejects.toMatchObject({
    message: expect.stringMatching(words),
    hint: 'Fix that, or name another folder with inbox: in the configuration.',
  });
});
